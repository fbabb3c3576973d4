# SPDX-License-Identifier: Apache-2.0
"""The place where a YAML parser gave up, and the lines around."""

from __future__ import annotations

import re
from collections.abc import Callable

import yaml

from runner.model.places import Source
from runner.model.records import Record
from runner.support.files.text import clipped, line_to_show

# a line and column (from 1) of the text -> the place as written
Written = Callable[[int, int], Source]


class Mistake(Record):
    """A message, its place (both count from 1), and the cure."""

    message: str
    line: int
    column: int
    hint: str | None


class ParserSpot:
    """The spot where the parser gave up, and the lines around."""

    def __init__(self, error: yaml.MarkedYAMLError, text: str, written: Written) -> None:
        mark = error.problem_mark or error.context_mark
        assert mark is not None
        self.problem = str(error.problem or error.context)
        self.context = str(error.context or "")
        self.lines = text.split("\n")
        self.line, self.column = mark.line, mark.column
        began = error.context_mark
        self.began = (began.line, began.column) if began else (mark.line, mark.column)
        self.row = self.at(mark.line)
        self._written = written

    def at(self, line: int) -> str:
        return self.lines[line].rstrip("\r") if 0 <= line < len(self.lines) else ""

    @property
    def rest(self) -> str:
        """The rest of the line from the place on."""
        return self.row[self.column :]

    def above(self, line: int | None = None) -> int:
        """The nearest line above that says something; -1 if there is none."""
        number = (self.line if line is None else line) - 1
        while number >= 0 and (
            not self.at(number).strip(" \t") or self.at(number).lstrip().startswith("#")
        ):
            number -= 1
        return number

    def typed(self, line: int, column: int) -> Source:
        """The place where a character of the text was typed."""
        return self._written(line + 1, column + 1)

    def named(self, line: int) -> str:
        """The name of another line in a message: as it was written, not as it was rendered."""
        source = self.typed(line, margin(self.at(line)))
        here = self.typed(self.line, self.column)
        return (
            f"line {source.line}"
            if source.file == here.file
            else f"line {source.line} of {source.file}"
        )

    def mistake(self, message: str, line: int, column: int, hint: str | None) -> Mistake:
        return Mistake(message, line + 1, column + 1, hint)

    def here(self, message: str, hint: str | None) -> Mistake:
        return self.mistake(message, self.line, self.column, hint)


def margin(row: str) -> int:
    return len(row) - len(row.lstrip())


def short(text: str) -> str:
    return clipped(text.strip())


QUOTES = "“”„‘’‚"
PLAIN_QUOTES = "write the plain quotes ' or \""


_COMMENT = re.compile(r"(?:^\s*-|:)\s+(#\S.*)$")


def comment_hint(source: Source) -> str | None:
    """The cure for a value that is empty, as what was meant begins with #."""
    typed = _COMMENT.search(line_to_show(source.file, source.line))
    return f"# begins a comment: put it in quotes: {in_quotes(typed[1])}" if typed else None


def several_lines_hint(source: Source) -> str | None:
    """The cure for a line that a value of a template has written: only the first of its lines has
    the indentation of the template. None of other lines.
    """
    name = next((name for name, value in source.values if "\\n" in value), None)
    if name is None:
        return None
    row = line_to_show(source.file, source.line)
    if row.lstrip().startswith("{{"):  # of a text below `|`
        cure = f"`{{{{ {name} | indent({margin(row)}) }}}}` indents them all"
    else:
        cure = f"`{{{{ {name} | yaml_dquote }}}}` is safe whatever the value is"
    return f"the value of `{name}` has several lines; {cure}"


def in_quotes(text: str) -> str:
    """A text as YAML reads it in quotes."""
    if "'" in text and not {'"', "\\"} & {*text}:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"
