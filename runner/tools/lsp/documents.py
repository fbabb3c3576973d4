# SPDX-License-Identifier: Apache-2.0
"""Texts of an editor and of the disk, and places in them: the protocol counts UTF-16 units from 0,
a check counts characters from 1.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from functools import cached_property
from urllib.parse import quote, unquote, urlsplit

from lsprotocol.types import Position, Range

from runner.model.errors import RunnerError
from runner.support.files.text import read_bounded
from runner.tools.lsp.outline import Outline, outline

_LINE_END = re.compile(r"\r\n|\n|\r")
BOM = "\ufeff"


class OpenDocument:
    """A text at one moment. version: the editor's; None for a file as it is on disk."""

    def __init__(self, path: str, text: str, version: int | None = None) -> None:
        self.path, self.text, self.version = path, text, version
        self.starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    @cached_property
    def outline(self) -> Outline:
        return outline(self.text)

    def line(self, number: int) -> str:
        """A line (from 0) without its end; empty where there is none."""
        if not 0 <= number < len(self.starts):
            return ""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end].rstrip("\r\n")

    def offset(self, position: Position) -> int:
        """The character of a position, at most the end of its line."""
        number, wanted = int(position.line), int(position.character)
        if number >= len(self.starts):
            return len(self.text)
        units = 0
        for count, character in enumerate(line := self.line(number)):
            if units >= wanted:
                return self.starts[number] + count
            units += _units(character)
        return self.starts[number] + len(line)

    def line_of(self, offset: int) -> int:
        """The number of the line (from 0) of a character."""
        return bisect_right(self.starts, offset) - 1

    def position(self, offset: int) -> Position:
        """The position of a character."""
        number = self.line_of(offset)
        before = self.text[self.starts[number] : offset]
        return Position(number, sum(map(_units, before)))

    def range(self, start: int, end: int) -> Range:
        """The range of some characters."""
        return Range(self.position(start), self.position(end))

    @property
    def whole(self) -> Range:
        """The range of all."""
        return self.range(0, len(self.text))

    def offset_of(self, line: int, column: int) -> int:
        """The character of a place as a check names it (0: unknown)."""
        number = min(max(line - 1, 0), len(self.starts) - 1)
        bom = number == 0 and self.text.startswith(BOM)
        return self.starts[number] + min(max(column - 1, 0) + bom, len(self.line(number)))

    @property
    def line_end(self) -> str:
        """What ends the lines of this text."""
        end = _LINE_END.search(self.text)
        return end[0] if end else "\n"


def _units(character: str) -> int:
    return 2 if character > "\uffff" else 1


def on_disk(path: str) -> OpenDocument | None:
    """A file as it is saved; None for one that cannot be read."""
    try:
        return OpenDocument(path, read_bounded(path).decode("utf-8", "replace"))
    except (OSError, ValueError, RunnerError):
        return None


def path_of(uri: str) -> str | None:
    """The path that a URI names; None for one that names no file."""
    parts = urlsplit(uri)
    path = unquote(parts.path)
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return os.path.normpath(path) if local and path.startswith("/") and "\0" not in path else None


def uri_of(path: str) -> str:
    """The URI of a path."""
    return "file://" + quote(path)
