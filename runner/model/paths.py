# SPDX-License-Identifier: Apache-2.0
"""Paths, by their names alone."""

from __future__ import annotations

import re

from runner.model.places import SEEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_standing: list[str] = []  # where the caller stood on the host


def leave_host(folder: str) -> None:
    """Take paths that the command line names for those of the host. folder: where it was typed."""
    _standing[:] = [folder]


def is_away() -> bool:
    """Return whether the machine of this process is an image."""
    return bool(_standing)


def on_host(path: str) -> str:
    """A path that the command line names, where this process has it."""
    if not is_away() or path.startswith(SEEN):
        return path
    return f"{SEEN}{path}" if path.startswith("/") else f"{SEEN}{_standing[0]}/{path}"


def unescaped(text: str) -> str:
    """A field of mountinfo or fstab, in which a backslash and three octal digits are a sign.

    >>> unescaped("/my\\\\040data")
    '/my data'
    """
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first, without the root.

    >>> list(folders_above("/srv/a/b/"))
    ['/srv/a', '/srv']
    """
    while path := path.rstrip("/").rpartition("/")[0]:
        yield path


def lies_in(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it.

    >>> lies_in("/srv/a", "/srv"), lies_in("/srv", "/srv"), lies_in("/srv2", "/srv")
    (True, True, False)
    >>> lies_in("/srv", "/")
    True
    """
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")
