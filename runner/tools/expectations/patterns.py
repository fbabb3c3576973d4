# SPDX-License-Identifier: Apache-2.0
"""Patterns: what lines of a text shall contain, or shall not.

`word` (some line contains it), `!word` (no line does), `/regex/` and `!/regex/`; a backslash before
the first ! or / takes its meaning away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.model.records import Record


class Pattern(Record):
    """A pattern: the text of a line, or a regular expression that it matches."""

    text: str
    regex: re.Pattern[str] | None
    negated: bool

    def __str__(self) -> str:
        return f"matches /{self.text}/" if self.regex else f"contains {self.text!r}"

    def fits(self, line: str) -> bool:
        """Return whether a line has it."""
        return bool(self.regex.search(line)) if self.regex else self.text in line


def pattern(written: str) -> Pattern:
    """The pattern that a text means. Raises re.error.

    >>> [str(pattern(text)) for text in ("a", "!/b+/", "\\\\!c")]
    ["contains 'a'", 'matches /b+/', "contains '!c'"]
    """
    negated = written.startswith("!")
    text = written[1:] if negated else written
    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        return Pattern(text[1:-1], re.compile(text[1:-1]), negated)
    return Pattern(text[1:] if text.startswith(("\\!", "\\/")) else text, None, negated)


def problem(expected: str | Sequence[str], text: str) -> str:
    """Return what is wrong with a text; empty where it is as expected: equal to a text but for a
    final newline, or with lines as the patterns of a list say.
    """
    lines = text.split("\n")
    if isinstance(expected, str):
        return _difference(expected.removesuffix("\n").split("\n"), lines)
    wrong = (_problem(pattern(written), lines) for written in expected)
    return "; ".join(filter(None, wrong))


def _problem(wanted: Pattern, lines: Sequence[str]) -> str:
    number = next((number for number, line in enumerate(lines, 1) if wanted.fits(line)), None)
    if wanted.negated:
        return f"line {number} {wanted}" if number else ""
    return "" if number else f"no line {wanted}"


def _difference(wanted: Sequence[str], lines: Sequence[str]) -> str:
    """The first line that differs."""
    if lines[-1:] == [""] and len(lines) > 1:
        lines = lines[:-1]
    for number, (line, other) in enumerate(zip(wanted, lines, strict=False), 1):
        if line != other:
            return f"line {number} is {_short(other)}, not {_short(line)}"
    if len(wanted) > len(lines):
        return f"it ends before line {len(lines) + 1}: {_short(wanted[len(lines)])}"
    if len(lines) > len(wanted):
        return f"it goes on with line {len(wanted) + 1}: {_short(lines[len(wanted)])}"
    return ""


def _short(line: str) -> str:
    return repr(line if len(line) <= LONGEST else f"{line[:LONGEST]}...")


LONGEST = 100  # characters of a line that a message shows
