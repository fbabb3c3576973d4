# SPDX-License-Identifier: Apache-2.0
"""Rendered text that knows where each of its lines was typed.

While a template renders, every piece of output carries its template and line; the pieces are put
together to a line map only when somebody asks for a place.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

from runner.model.places import Source
from runner.model.records import Record
from runner.model.stdlib import pattern
from runner.support.files.text import text_to_show
from runner.support.yaml import template_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Piece(str):
    """A piece of output: its place in the template, and whether it is literal text."""

    __slots__ = ("file", "line", "literal")
    file: str
    line: int
    literal: bool

    @classmethod
    def make(cls, text: str, file: str, line: int, literal: bool) -> Piece:
        piece = cls(text)
        piece.file, piece.line, piece.literal = file, line, literal
        return piece


class Pieces(str):
    """The output of a macro, a captured block or a template: a string that keeps its pieces."""

    __slots__ = ("pieces",)
    pieces: tuple[str, ...]

    def __str__(self) -> str:
        return self

    def __html__(self) -> str:
        return self


class Called(str):
    """Pieces that came out of an expression (a macro call), with the line of the call."""

    __slots__ = ("file", "inner", "line")
    file: str
    line: int
    inner: Pieces


def concat(parts: Iterable[str]) -> Pieces:
    """Join output, as Jinja's `concat`."""
    listed = tuple(parts)
    text = Pieces("".join(listed))
    text.pieces = listed
    return text


def mark(value: object, file: str, line: int, literal: bool = False) -> str:
    """A value that is put out, with the place that put it out."""
    text = template_output.printed(value)
    if isinstance(text, Pieces):
        called = Called(text)
        called.file, called.line, called.inner = file, line, text
        return called
    return Piece.make(text, file, line, literal)


def marked(value: object, file: str, line: int) -> object:
    """What a filter or call block puts out: what is no text fails where it is joined."""
    return mark(value, file, line) if isinstance(value, str) else value


def included(event: str, file: str, line: int) -> str:
    """A piece of an included template, with the line of the include."""
    called = Called(event)
    called.file, called.line, called.inner = file, line, concat((event,))
    return called


class Origin(Record):
    """The place where the text from `offset` on was typed."""

    offset: int
    file: str
    line: int
    column: int  # of literal text; 0 where it is not known
    via: tuple[Source, ...]
    text: str = ""  # literal text whose column is not known
    literal: bool = True


_EXPRESSION = pattern(r"\{\{[-+]?\s*(.*?)\s*[-+]?\}\}")


def brief(value: object) -> str:
    """A value as a message shows it."""
    text = repr(str(value)) if isinstance(value, str) else template_output.printed(value)
    # whole, so that secrets in it are found; what shows it makes it short
    return text if len(text) <= 2000 else f"{type(value).__name__} of {len(text)} characters"


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())


class Rendered:
    """A rendered template: a Document."""

    def __init__(self, text: str, file: str, pieces: Pieces | None = None) -> None:
        self.text, self.file, self.pieces = text, file, pieces
        self.written: dict[str, list[str]] = {}

    def source(self, line: int, column: int) -> Source:
        """The place as written of a line and column (from 1) of the rendered text, with what the
        line had become where that differs.
        """
        source = self.position(line, column)
        if self._is_as_written or line < 1:
            return source
        line = min(line, len(self._line_starts))
        origin, shown = self._origin_of(line, column), self._rendered_line(line)
        if origin is None or source.line != origin.line:  # below a tag: as it is written
            return source
        written = self._written_line(origin.file, origin.line)
        if shown == written:
            return source
        values = self._values(line, origin, written or "")
        named = tuple(
            (name, value) for _, _, name, value in values if name.strip("'\"") != value.strip("'\"")
        )
        return source._replace(rendered=shown, values=named)

    def position(self, line: int, column: int) -> Source:
        """The place as written of a line and column, without what the line had become."""
        if self._is_as_written or line < 1:
            return Source(self.file, line, column)
        line = min(line, len(self._line_starts))  # YAML may complain of the line after the last one
        origin = self._origin_of(line, column)
        if origin is None:
            return Source(self.file, line, column)
        offset = self._line_starts[line - 1] + max(column, 1) - 1 - origin.offset
        written = self._written_line(origin.file, origin.line)
        if written is not None and written.lstrip().startswith("{%"):
            shown = self._rendered_line(line)
            inside = self._inside(origin, shown.strip()) if shown.strip() else None
            if inside:
                return Source(
                    origin.file, inside[0], inside[1] + column - 1 - _margin(shown), via=origin.via
                )
        if origin.literal:
            began = origin.column
            if not began and origin.text and written and written.count(origin.text) == 1:
                began = written.index(origin.text) + 1
            typed = began + offset if began else 0
        else:
            values = self._values(line, origin, written or "")
            typed = next((column for at, column, *_ in values if at == origin.offset), 0)
        return Source(origin.file, origin.line, typed, via=origin.via)

    @cached_property
    def _is_as_written(self) -> bool:
        """Return whether each line is the one that was typed."""
        whole: str | None = self.pieces
        while isinstance(whole, Pieces):  # the last newline is a piece of its own
            whole = whole.pieces[0] if whole.pieces and whole.pieces[1:] in ((), ("\n",)) else None
        return self.pieces is None or (
            isinstance(whole, Piece)
            and whole.literal
            and whole.line == 1
            and whole.file == self.file
        )

    def _origin_of(self, line: int, column: int) -> Origin | None:
        return self._origin(self._line_starts[line - 1] + max(column, 1) - 1)

    def _inside(self, origin: Origin, text: str) -> tuple[int, int] | None:
        """The only line below a tag that says this: what a filter block did to the whole hides
        where each part was.
        """
        below = enumerate(self.written.get(origin.file, ())[origin.line :], origin.line + 1)
        rows = [(number, _margin(row) + 1) for number, row in below if row.strip() == text]
        return rows[0] if len(rows) == 1 else None

    def _values(self, line: int, origin: Origin, written: str) -> list[tuple[int, int, str, str]]:
        """The results of the expressions of a written line: (offset, column as written, expression,
        value).
        """
        starts, offsets = self._line_starts, self._offsets
        end = starts[line] if line < len(starts) else len(self.text) + 1
        typed = list(_EXPRESSION.finditer(written))
        became = []
        # a value of several lines began above
        first = max(bisect_right(offsets, starts[line - 1]) - 1, 0)
        for number in range(first, bisect_left(offsets, end)):
            other = self._origins[number]
            if not other.literal and other[1:3] == origin[1:3]:
                stop = offsets[number + 1] if number + 1 < len(offsets) else len(self.text)
                became.append((other.offset, self.text[other.offset : stop]))
        if len(typed) != len(became):
            return []
        return [
            (at, match.start() + 1, match[1], brief(value))
            for match, (at, value) in zip(typed, became, strict=True)
        ]

    def _origin(self, offset: int) -> Origin | None:
        origins = self._origins
        index = bisect_right(self._offsets, offset) - 1
        return origins[index] if index >= 0 else None

    def _rendered_line(self, line: int) -> str:
        lines = self._rendered_lines
        return lines[line - 1].removesuffix("\r") if line <= len(lines) else ""

    def _written_line(self, file: str, line: int) -> str | None:
        if file not in self.written:
            self.written[file] = text_to_show(file).splitlines()
        lines = self.written[file]
        return lines[line - 1] if line <= len(lines) else None

    @cached_property
    def _rendered_lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts += [index + 1 for index, character in enumerate(self.text) if character == "\n"]
        return starts

    @cached_property
    def _origins(self) -> list[Origin]:
        origins: list[Origin] = []
        _collect(self.pieces, 0, (), origins)
        return origins

    @cached_property
    def _offsets(self) -> list[int]:
        return [origin.offset for origin in self._origins]


def _collect(text: str | None, offset: int, via: tuple[Source, ...], origins: list[Origin]) -> int:
    """Add the origins of a text that begins at an offset; returns the offset after it."""
    if text is None:
        return offset
    if isinstance(text, Pieces):
        for part in text.pieces:
            offset = _collect(part, offset, via, origins)
        return offset
    if isinstance(text, Called):
        return _collect(text.inner, offset, (Source(text.file, text.line), *via), origins)
    if isinstance(text, Piece):
        _literal(text, offset, via, origins)
    return offset + len(text)


def _literal(piece: Piece, offset: int, via: tuple[Source, ...], origins: list[Origin]) -> None:
    if not piece.literal:
        origins.append(Origin(offset, piece.file, piece.line, 0, via, literal=False))
        return
    column = 0  # where the first line of the piece begins is not known to Jinja
    for number, line in enumerate(piece.split("\n")):
        origins.append(
            Origin(offset, piece.file, piece.line + number, column, via, "" if column else line)
        )
        offset += len(line) + 1
        column = 1
