# SPDX-License-Identifier: Apache-2.0
"""Mistakes for people: what, where, the lines around it with a caret, what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from runner.model.diagnostics import Diagnostic
from runner.model.places import Source
from runner.model.stdlib import pattern
from runner.output.text import paint, safe, terminal_width, wrapped
from runner.support.files.text import clipped, line_to_show, rows_to_show, text_to_show
from runner.support.redaction import HIDDEN, without_logins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

MOST_ALIKE = 3  # mistakes that are alike and shown whole
MOST_PLACES = 10  # where else they are, each on a line
MOST_OF_A_KIND = 20  # that differ in a path, a number or what is quoted
WIDEST = 160  # columns of a line of source
_NAMED = pattern(r"'[^']*'|\S*[/\d]\S*")
_COLOUR = {"error": "red", "warning": "yellow", "info": "cyan"}
_SECRET = r"(?i:password|passwd|passphrase|secret|token|api_?key|secret_key)['\"]?"
# no block, nothing that a template writes, no switch
_EXPRESSION = r"(?P<quote>['\"])\{\{(?:(?!\}\}).)*\}\}(?P=quote)\s*$"
_TYPED = rf"(?![|>{{]|(?i:true|false|yes|no|null)\s*$|{_EXPRESSION})\S.*"
NAMED_SECRET = rf"({_SECRET}\s*[:=]\s*){_TYPED}"
_HEAD = pattern(rf"{_SECRET}\s*:\s*[|>]?[-+\d]*\s*$")  # of lines that are one
_BESIDE = pattern(rf"\s*(?:- )?(?:key|name)\s*:\s*\S*{_SECRET}\s*$")
_KEY = pattern(r"(\s*(?:- +)?[\w./-]+:)(?:\s+(.*))?$")
_VALUE = pattern(rf"(\s*(?:- )?value\s*:\s*){_TYPED}")


def show(problems: Iterable[Diagnostic], stream: TextIO, colour: bool = False) -> None:
    """Print all of them; of a mistake that was made in many places the first ones, and where else
    it is.
    """
    kinds: dict[object, list[Diagnostic]] = {}
    for alike in _alike(problems):
        kind = alike[0].severity, _NAMED.sub("", alike[0].message)
        kinds.setdefault(kind, []).append(alike[0])
        if len(kinds[kind]) > MOST_OF_A_KIND:
            continue
        for problem in alike[:MOST_ALIKE]:
            stream.write(format_one(problem, stream, colour) + "\n")
        others = [problem.source for problem in alike[MOST_ALIKE:] if problem.source]
        for source in others[:MOST_PLACES]:
            stream.write(f"  and at {_place(source, stream)}\n")
        if elsewhere := others[MOST_PLACES:]:
            stream.write(f"  and at {len(elsewhere):,} more places (all: --out json)\n")
    for more in (of_kind[MOST_OF_A_KIND:] for of_kind in kinds.values()):
        if more:
            said = f"{len(more):,} more like this (all: --out json): {more[0].message}"
            stream.write(format_one(more[0]._replace(message=said), stream, colour) + "\n")
    stream.flush()


def _alike(problems: Iterable[Diagnostic]) -> Iterable[list[Diagnostic]]:
    """Problems that say the same, or have the same cure in lines that say the same."""
    groups: dict[object, list[Diagnostic]] = {}
    rows_of = cache(rows_to_show)  # many are in one file
    for problem in problems:
        source = problem.source
        if not (source and source.line):
            groups[id(problem)] = [problem]
            continue
        row = line_to_show(source.file, source.line, rows_of).strip() if problem.hint else ""
        keys = [(*problem[2:5], words) for words in (problem.message, row) if words]
        group = next((groups[key] for key in keys if key in groups), [])
        group.append(problem)
        for key in keys:
            groups.setdefault(key, group)
    return {id(group): group for group in groups.values()}.values()


def format_one(problem: Diagnostic, stream: TextIO | None = None, colour: bool = False) -> str:
    """One mistake as a block of lines."""
    word = paint(problem.severity, _COLOUR.get(problem.severity, "red"), colour)
    # the code is what `# runner: ignore[code]` takes
    code = (
        f" [{problem.code}]"
        if problem.severity == "warning" and problem.source and problem.source.line
        else ""
    )
    message, hint = f"{safe(problem.message, stream)}{code}", safe(problem.hint or "", stream)
    if stream is not None and stream.isatty():
        message, hint = (
            _wrapped(message, len(problem.severity) + 2),
            _wrapped(hint, len("  hint: ")),
        )
    lines = [f"{word}: {message}"]
    source = problem.source
    if source:
        lines.append(f"  at {_place(source, stream)}")
        lines += [safe(line, stream) for line in _excerpt(source)]
        if source.rendered and source.rendered.strip():
            lines.append(f"    rendered: {safe(source.rendered.strip(), stream)}")
        if source.values:
            values = ", ".join(f"{name} = {clipped(value)}" for name, value in source.values)
            lines.append(f"    with {safe(values, stream)}")
        lines += [f"  called from {_place(via, stream)}" for via in source.via]
    if problem.hint:
        lines.append(f"  {paint('hint', 'cyan', colour)}: {hint}")
    return "\n".join(lines)


def _place(source: Source, stream: TextIO | None) -> str:
    """A place on one line, whatever the name of its file: CI takes a line that begins with `::` for
    a command.
    """
    return safe(str(source), stream).replace("\n", "\\n")


def _wrapped(text: str, lead: int) -> str:
    """Text for a terminal, which would end its lines inside of words. lead: how much stands before
    the first line.
    """
    parts = [wrapped(f"{'':{lead}}{line}", terminal_width(), 4) for line in text.split("\n")]
    return "\n".join(line for lines in parts for line in lines)[lead:]


def _excerpt(source: Source) -> list[str]:
    """The line before, the line itself and a caret below."""
    if source.hidden:
        return []
    lines = text_to_show(source.file).splitlines()
    if not 0 < source.line <= len(lines):
        return []
    first = max(0, source.column - WIDEST // 2) if len(lines[source.line - 1]) > WIDEST else 0
    shown = []
    for number in (source.line - 1, source.line):
        if number > 0:
            part = _part(_hidden(lines, number - 1), first * (number == source.line))
            shown.append(f"    {number:>4} | {part}".rstrip())
    if source.column:
        lead = lines[source.line - 1][first : source.column - 1]
        shown.append(f"         | {''.join(char if char == chr(9) else ' ' for char in lead)}^")
    return shown


def _hidden(lines: list[str], at: int) -> str:
    """A line without the secret that other lines say it is: by the key above it or beside it."""
    line = lines[at]
    margin = len(line) - len(line.lstrip())
    above = (other for other in reversed(lines[max(0, at - 60) : at]) if other.strip())
    head = next((other for other in above if len(other) - len(other.lstrip()) < margin), "")
    if _HEAD.search(head):
        key = _KEY.match(line) if head.rstrip().endswith(":") else None  # else a text in lines
        return f"{key[1]} {HIDDEN if key[2] else ''}".rstrip() if key else line[:margin] + HIDDEN
    if any(_BESIDE.match(other) for other in lines[max(0, at - 5) : at + 6]):
        return _VALUE.sub(rf"\1{HIDDEN}", line)
    return line


def _part(line: str, first: int) -> str:
    """The part of a line to show: it may be very long, or name a password."""
    line = pattern(NAMED_SECRET).sub(rf"\1{HIDDEN}", without_logins(line))
    part = f"...{line[first + 3 :]}" if 0 < first < len(line) else line[first:]
    return clipped(part, WIDEST)
