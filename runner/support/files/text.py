# SPDX-License-Identifier: Apache-2.0
"""Text files of bounded size: what is compiled, and what messages show of it; texts for SQLite.

All texts of a tree are read here (SLS files, templates, imports, top files), so that an editor's
unsaved texts can stand in for them.
"""

from __future__ import annotations

import os
import stat

from runner.model.errors import RunnerError
from runner.model.places import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, TypeVar

    T = TypeVar("T")

MEBIBYTE = 1024 * 1024
PAGE = 4096
LARGEST = 16  # MiB of one file that is compiled (`sls_size_limit` of the configuration)

# how a file begins that git-crypt has not decrypted; what is wrong, and the cure
LOCKED = b"\0GITCRYPT\0"
IS_LOCKED, UNLOCK = "encrypted by git-crypt", "`git-crypt unlock` in its repository decrypts it"

# path without links -> contents that take the place of the file's, which need not exist; only
# `runner lsp` has any
UNSAVED: dict[str, bytes] = {}


def unsaved(path: str) -> bytes | None:
    """The contents that an editor has not saved yet; None for a file that is as it is on disk."""
    return UNSAVED.get(os.path.realpath(path)) if UNSAVED else None


def unsaved_below(folder: str) -> list[str]:
    """The paths from a folder of the unsaved files in it."""
    start = os.path.realpath(folder) + "/" if UNSAVED else ""
    return [path.removeprefix(start) for path in UNSAVED if path.startswith(start)]


def size_limit(opts: Mapping[str, Any]) -> int:
    """The largest size in bytes of a file that is compiled; 0 for no limit."""
    configured = opts.get("sls_size_limit")
    return (LARGEST if configured is None else int(configured)) * MEBIBYTE


def read_bounded(path: str, largest: int = LARGEST * MEBIBYTE) -> bytes:
    """The contents of a regular file. Raises OSError, and RunnerError for one that is larger or no
    regular file.
    """
    data = unsaved(path)
    if data is not None:
        if largest and len(data) > largest:
            raise _too_large(path, largest)
        return data
    # a pipe without a writer does not stop it
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise RunnerError(f"{path} is not a regular file", Source(path))
        if largest and status.st_size > largest:
            raise _too_large(path, largest)
        # of /proc/sys only the first read gives something
        data = os.read(file, max(status.st_size + 1, PAGE))
        while more := os.read(file, 65536) if len(data) != status.st_size else b"":
            data += more
            if largest and len(data) > largest:
                raise _too_large(path, largest)
        return data
    finally:
        os.close(file)


def refuse_large(path: str, largest: int = LARGEST * MEBIBYTE) -> None:
    """Raise RunnerError for a file that is larger; OSError."""
    if os.stat(path).st_size > largest:
        raise _too_large(path, largest)


def _too_large(path: str, largest: int) -> RunnerError:
    hint = "is it the file that was meant?"
    if not path.endswith((".py", ".pyc")):
        hint += " `sls_size_limit` (MiB) in the configuration allows more"
    return RunnerError(
        f"{path} is larger than {largest // MEBIBYTE} MiB", Source(path), hint, "limit"
    )


def text_to_show(path: str) -> str:
    """The text of a file for a message or a suggestion; empty where it cannot be read or is too
    large.
    """
    try:
        return read_bounded(path).decode("utf-8-sig", "replace")
    except (OSError, ValueError, RunnerError):
        return ""


def rows_to_show(path: str) -> list[str]:
    """The lines of a file for messages."""
    return text_to_show(path).split("\n")


def line_to_show(path: str, number: int, rows_of: Callable[[str], list[str]] = rows_to_show) -> str:
    """A line of a file for a message; empty where it has no such line. rows_of: reads a file; who
    asks for many lines keeps what it read.
    """
    rows = rows_of(path)
    return rows[number - 1].removesuffix("\r") if 0 < number <= len(rows) else ""


def clipped(text: str, most: int = 60) -> str:
    """A text, or as much of its beginning as there is room for."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends. Only a line feed ends one: str.splitlines knows nine
    more that do.

    >>> split_lines("a\\n\\nb\\n")
    ['a', '', 'b']
    """
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def storable(value: T) -> T:
    """A text as SQLite can keep it: names of files need not be UTF-8. Other values as they are."""
    if isinstance(value, str) and not value.isascii():
        return value.encode(errors="backslashreplace").decode()  # type: ignore[return-value]
    return value


def storable_row(row: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a row as SQLite can keep them."""
    return tuple(
        [value if type(value) is not str or value.isascii() else storable(value) for value in row]
    )
