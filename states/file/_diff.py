# SPDX-License-Identifier: Apache-2.0
"""The difference of a file's contents, as results show it."""

from __future__ import annotations

import codecs

from modules import file
from modules.file import differences

HIDDEN = "<show_changes=False>"
_ASCII = bytes([7, 8, 9, 10, 12, 13, 27, *range(0x20, 0x7F)])
_TEXT = bytes([*_ASCII, *range(0x7F, 0x100)])


def is_binary(data: bytes) -> bool:
    """Return whether data is not text: it has a NUL, or too much of it is control characters or
    broken UTF-8.
    """
    start = data[:4096]
    if not start:
        return False
    if b"\0" in start:
        return True
    text = _TEXT if _is_utf8(start) else _ASCII
    return len(start.translate(None, text)) / len(start) > 0.3


def _is_utf8(start: bytes) -> bool:
    """Return whether data begins as UTF-8; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return True


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
    kinds = is_binary(file.head_of(old)), is_binary(file.head_of(new))
    if kinds == (True, True):
        return "Replace binary file"
    if kinds == (False, True):
        return "Replace text file with binary file"
    if kinds == (True, False):
        return "Replace binary file with text file"
    return differences.not_shown(file.size_of(old), file.size_of(new)) or unified(
        file.whole(old), file.whole(new)
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
