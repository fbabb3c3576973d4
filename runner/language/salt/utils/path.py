# SPDX-License-Identifier: Apache-2.0
"""salt.utils.path: programs and paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from runner.language.filters.files import path_join as join
from runner.language.filters.files import which as _which
from runner.language.salt import exceptions


def which(exe: str | None = None) -> str | None:
    """The path of a program."""
    return _which(exe)


def which_bin(exes: Iterable[str]) -> str | None:
    """The path of the first of some programs that is there."""
    return next((program for name in exes or () if (program := _which(name))), None)


def check_or_die(command: str | None) -> None:
    """Raises CommandNotFoundError where a program is not there."""
    if command is None:
        raise exceptions.CommandNotFoundError("'None' is not a valid command.")
    if not _which(command):
        raise exceptions.CommandNotFoundError(f"'{command}' is not in the path")


def islink(path: str) -> bool:
    """Return whether a path is a symlink."""
    return os.path.islink(path)


def readlink(path: str) -> str:
    """The target of a symlink."""
    return os.readlink(path)


def os_walk(top: str, *args: Any, **options: Any) -> Iterator[Any]:
    """os.walk."""
    yield from os.walk(top, *args, **options)


def expand(path: str) -> str:
    """A path with `~` and variables of the environment replaced."""
    return os.path.expandvars(os.path.expanduser(path))


def safe_path(path: str, allow_path: str | None = None) -> bool:
    """Return whether a path stays below a folder (that of the file itself when none is
    given).
    """
    allowed = os.path.realpath(allow_path or os.path.dirname(os.path.abspath(path)))
    return os.path.realpath(path).startswith(allowed)


def sanitize_win_path(winpath: str) -> str:
    """A path without the characters that Windows refuses."""
    return "".join("_" if char in '<>:|?*"' else char for char in winpath)
