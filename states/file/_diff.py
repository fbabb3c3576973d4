# SPDX-License-Identifier: Apache-2.0
"""The difference of a file's contents, as results show it."""

from __future__ import annotations

from modules import file
from modules.file import differences

HIDDEN = "<show_changes=False>"


def diff(
    old: file.Contents | None, new: file.Contents, show: bool = True, new_file: bool = False
) -> str:
    """The difference for people. old: None for a file that is not there yet; new_file: show its
    contents too.
    """
    if old is None and not (new_file and show):
        return "New file"
    if not show:
        return HIDDEN
    old = old or b""
    return (
        differences.of_binaries(file.head_of(old), file.head_of(new))
        or differences.not_shown(file.size_of(old), file.size_of(new))
        or unified(file.whole(old), file.whole(new))
    )


def unified(old: bytes, new: bytes) -> str:
    """The unified diff of two texts, with empty names in its heading."""
    return "".join(differences.unified(old, new, _lines, b"\n"))


def _lines(data: bytes) -> list[str]:
    return [_text(line) for line in data.splitlines(True)]


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")
