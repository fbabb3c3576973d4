# SPDX-License-Identifier: Apache-2.0
"""What a formula is called: as formulas.yml says, or as its own FORMULA file does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from runner.model.errors import CompileError, RunnerError
from runner.sources.formulas.declared import DeclaredFormula, wrong_name
from runner.support.files.text import read_bounded
from runner.support.yaml import limits

_LARGEST = 65536  # bytes of a FORMULA file


def name_of(entry: DeclaredFormula, read: Callable[[str], bytes | None]) -> str:
    """The name of a formula: of its entry, or of its FORMULA file. read: the contents of a file of
    it. Raises CompileError where neither says it.
    """
    if entry.name:
        return entry.name
    paths = [os.path.join(folder, "FORMULA") for folder in dict.fromkeys(("", entry.root))]
    data = next((found for path in paths if (found := read(path)) is not None), None)
    if data is None:
        hint = f"write `name: {likely_name(entry.src or entry.folder)}`"
        raise CompileError([entry.problem("it has no FORMULA file that says its name", hint)])
    name = _said_name(data)
    if not isinstance(name, str) or wrong_name(name):
        message = f"its FORMULA file says that its name is {str(name)[:60]!r}"
        hint = f"write `name: {likely_name(entry.src or entry.folder)}`"
        raise CompileError([entry.problem(message, hint)])
    return name


def _said_name(data: bytes) -> Any:
    import yaml

    try:
        said = limits.plain(data[:_LARGEST].decode("utf-8"))
    except (yaml.YAMLError, ValueError):
        return None
    return said.get("name") if isinstance(said, dict) else None


def likely_name(source: str) -> str:
    """The name that a URL or a folder suggests.

    >>> likely_name("https://github.com/saltstack-formulas/nginx-formula.git")
    'nginx'
    """
    last = re.split(r"[/:]", source.rstrip("/"))[-1]
    name = last.removesuffix(".git").removesuffix("-formula")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "NAME"


def in_folder(folder: str) -> Callable[[str], bytes | None]:
    """A reader of the files of a folder."""

    def read(path: str) -> bytes | None:
        try:
            return read_bounded(os.path.join(folder, path), _LARGEST)
        except (OSError, RunnerError):
            return None

    return read
