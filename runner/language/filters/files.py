# SPDX-License-Identifier: Apache-2.0
"""Filters of paths, files and what programs print."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
from collections.abc import Iterable
from typing import Any


def path_join(*parts: str, use_posixpath: bool = False) -> str:
    """Parts of a path, joined below the first and without detours. Raises TypeError for a part that
    is no text.
    """
    for part in parts:
        if not isinstance(part, str):
            raise TypeError(f"a text is required, not {type(part).__name__}")
    first, *rest = parts
    return os.path.normpath(os.path.join(first, *(part.lstrip("/") for part in rest)))


def which(name: str | None) -> str | None:
    """The path of a program, or None."""
    return shutil.which(name) if name else None


def get_uid(user: str | None = None) -> int | None:
    """The number of a user (without a name: the one that runs this), or None."""
    if user is None:
        return os.geteuid()
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def _path(value: Any) -> str:
    """A path; a number would be somebody's open file."""
    if not isinstance(value, str):
        raise TypeError(f"a path is required, not {type(value).__name__}")
    return value


_TEXT = bytes(range(32, 127)) + b"\n\r\t\f\b"


def is_text_file(path: str, blocksize: int = 512) -> bool:
    """Return whether a file begins like a text."""
    try:
        with open(_path(path), "rb") as file:
            block = file.read(blocksize)
    except OSError:
        return False
    if b"\0" in block:
        return False
    try:
        rest = block.decode().encode("ascii", "ignore")  # letters of all scripts are text
    except UnicodeDecodeError:
        rest = block
    return not block or len(rest.translate(None, _TEXT)) / len(block) <= 0.30


def is_bin_file(path: str) -> bool:
    """Return whether a file is not text."""
    try:
        with open(_path(path), "rb") as file:
            return b"\0" in file.read(2048)
    except OSError:
        return False


def is_empty(path: str) -> bool:
    """Return whether a file is empty."""
    try:
        return os.stat(_path(path)).st_size == 0
    except OSError:
        return False


def list_files(folder: str) -> list[str]:
    """All files and folders below a folder, itself included."""
    paths = {folder}
    for root, folders, files in os.walk(folder):
        paths |= {os.path.join(root, name) for name in [*folders, *files]}
    return sorted(paths)


def file_hashsum(path: str, form: str = "sha256", chunk_size: int = 65536) -> str:
    """The digest of a file."""
    with open(_path(path), "rb") as file:
        return hashlib.file_digest(file, form).hexdigest()


def mysql_to_dict(data: str | Iterable[str], key: str) -> dict[Any, Any]:
    """The table that mysql prints, by one column."""
    lines = data.splitlines() if isinstance(data, str) else data
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ]
    if not rows:
        return {}
    entries = (
        {name: _number(cell) for name, cell in zip(rows[0], row, strict=False)} for row in rows[1:]
    )
    return {entry[key]: entry for entry in entries}


def _number(cell: str) -> int | str:
    return int(cell) if cell.isdigit() else cell
