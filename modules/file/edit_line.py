# SPDX-License-Identifier: Apache-2.0
"""One line of a text: put in, replaced, taken out (what file.line does, as a state and as a
function).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import dropwhile, islice

from modules.file.bounded_regex import matching
from modules.file.edits import compiled
from modules.file.large_texts import Gap
from runner.api import Record, StateFailed


class LinePlace(Record):
    """The place where the line goes. beside: the lines that others put at the same end of the
    file, without the spaces around them.
    """

    location: str | None
    before: str | None
    after: str | None
    indent: bool
    beside: Collection[str] = ()

    def sought(self, match: str | None, content: str | None) -> str:
        """The expression of the lines to replace or to delete; empty for none."""
        return match or ("" if self.before or self.after else content) or ""


def edited_line(
    body: list[str], content: str, match: str, doing: str, place: LinePlace
) -> list[str]:
    """The lines of the file (the last one is empty where the text ends with a newline), one of them
    edited.
    """
    if doing in ("delete", "replace") and not match:
        return body
    if doing == "delete":
        end = [""] if body and not body[-1] else []
        lines = body[:-1] if end else body
        fitting = _fitting(lines, match)
        return [*(line for line, fits in zip(lines, fitting, strict=True) if not fits), *end]
    if doing == "replace":
        at = _first_match(body, match)
        return (
            body
            if at is None
            else [*body[:at], _replacement(body[at], content, place), *body[at + 1 :]]
        )
    return _inserted(body, content, place) if doing == "insert" else _ensured(body, content, place)


def _first_match(body: list[str], match: str) -> int | None:
    """The first line that matches."""
    fitting = _fitting(body, match)
    return fitting.index(True) if True in fitting else None


def _fitting(body: list[str], expression: str) -> list[bool]:
    """Return which lines match; the end of each belongs to it, as in what YAML's `|` makes."""
    return matching(compiled(expression, 0), [f"{line}\n" for line in body])


def _indented(model: str, content: str, place: LinePlace) -> str:
    """The content as a line, with the indentation of another one."""
    content = content.rstrip(" \t").removesuffix("\n")
    return _indentation(model) + content.lstrip() if place.indent else content


def _indentation(line: str) -> str:
    """The spaces and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _replacement(line: str, content: str, place: LinePlace) -> str:
    """The content in the place of a line, ending as that did."""
    return _indented(line, content, place) + ("\r" if line.endswith("\r") else "")


def _only_match(body: list[str], pattern: str | None, name: str, content: str) -> int | None:
    """The line that a neighbour's expression means; None for none. Of several that one which is not
    the content: the expression may mean that, too.
    """
    if pattern is None:
        return None
    fitting = [number for number, fits in enumerate(_fitting(body, pattern)) if fits]
    if len(fitting) > 1:
        fitting = [n for n in fitting if body[n].strip() != content.strip()] or fitting
    if len(fitting) > 1:
        numbers = ", ".join(str(_number(body, at)) for at in fitting[:5])
        raise StateFailed(
            f'Found more than expected occurrences in "{name}" expression: {pattern!r} matches'
            f" lines {numbers}; write more of the one that is meant, with ^ and $"
        )
    return fitting[0] if fitting else None


def _number(body: list[str], at: int) -> int:
    """The number of a line in its file."""
    return 1 + sum(line.lines if isinstance(line, Gap) else 1 for line in body[:at])


def _stands_at_end(lines: Iterable[str], content: str, beside: Collection[str]) -> bool:
    """Return whether a line is the first of some, empty ones and those that others put beside it
    left out.
    """
    rest = (line.strip() for line in lines)
    return (
        next((line for line in rest if line and (line == content or line not in beside)), None)
        == content
    )


def _are_at_end(lines: Iterable[str], content: str, end: str) -> bool:
    """Return whether the several lines of a content are the first or the last of a file. lines: of
    the file, from that end on.
    """
    wanted = [line.strip() for line in content.strip().split("\n")]
    stripped: Iterator[str] = map(str.strip, lines)
    if end == "end":
        wanted.reverse()
        stripped = dropwhile(lambda line: not line, stripped)
    return [*islice(stripped, len(wanted))] == wanted


def _inserted(body: list[str], content: str, place: LinePlace) -> list[str]:
    edges = {"start": body, "end": body[::-1]}
    if place.location in edges and (
        _stands_at_end(edges[place.location], content.strip(), place.beside)
        or _are_at_end(edges[place.location], content, place.location)
    ):
        return body
    if place.location == "start":
        end = "\r" if body and body[0].endswith("\r") else ""
        return [content.rstrip() + end, *(body or [""])]
    if place.location == "end":
        last = body[-1] if body else ""
        line = _indentation(last) + content.lstrip() if place.indent else content
        return [*_ended(body), line]
    if place.before is None and place.after is None:
        raise StateFailed('On insert either "location" or "before/after" conditions are required.')
    at_after = _only_match(body, place.after, "after", content)
    at_before = _only_match(body, place.before, "before", content)
    if _is_neighbour(body, content, at_after, at_before):
        return body
    if at_before is not None:
        return _with_line(
            body, at_before, at_before - 1, content, _indented(body[at_before], content, place)
        )
    if at_after is None:
        raise StateFailed(f"Neither before or after was found in file: {_none_matches(place)}")
    return _with_line(
        body, at_after + 1, at_after + 1, content, _indented(body[at_after], content, place)
    )


def _with_line(body: list[str], at: int, neighbour: int, content: str, line: str) -> list[str]:
    """The lines with one more, unless the neighbour that would be it is it. neighbour: its
    number; of a content of several lines that of the first, or of the last above it.
    """
    more = line.count("\n")
    first = neighbour if neighbour >= at else neighbour - more
    if neighbour >= 0 <= first and _joined(body[first : first + more + 1]) in (content, line):
        return body
    if at == len(body):
        return [*_ended(body), line]
    end = "\r" if body[max(at - 1, 0)].endswith("\r") else ""
    return [*body[:at], line + end, *body[at:]]


def _joined(lines: list[str]) -> str | None:
    """The text of some lines; None for none."""
    return "\n".join(line.removesuffix("\r") for line in lines) if lines else None


def _ended(body: list[str]) -> list[str]:
    """The lines, the last of which, which has no end, ends as the one above it."""
    above, last = ["", "", *body][-2:]
    return [*body[:-1], last + "\r"] if above.endswith("\r") > last.endswith("\r") else body


def _is_neighbour(body: list[str], content: str, *places: int | None) -> bool:
    """Return whether the neighbour that an expression means is the content, which has no other
    neighbour then, and is there.
    """
    return content.strip() in (body[at].strip() for at in places if at is not None)


def _ensured(body: list[str], content: str, place: LinePlace) -> list[str]:
    at_after = _only_match(body, place.after, "after", content)
    at_before = _only_match(body, place.before, "before", content)
    if _is_neighbour(body, content, at_after, at_before):
        return body
    if at_after is not None and at_before is not None:
        wanted = _indented(body[at_after], content, place)
        if _joined(body[at_after + 1 : at_before]) in (content, wanted):
            return body
        if not 1 <= at_before - at_after <= 2:
            raise StateFailed('Found more than one line between boundaries "before" and "after".')
        if at_before - at_after == 1:
            return _with_line(body, at_before, -1, content, wanted)
        end = "\r" if body[at_after + 1].endswith("\r") else ""
        return [*body[: at_after + 1], wanted + end, *body[at_before:]]
    if at_after is not None:
        return _with_line(
            body, at_after + 1, at_after + 1, content, _indented(body[at_after], content, place)
        )
    if at_before is not None:
        model = body[at_before - 1] if at_before else ""
        return _with_line(body, at_before, at_before - 1, content, _indented(model, content, place))
    raise StateFailed(
        "Wrong conditions? Unable to ensure line without knowing where to put it before and/or"
        f" after: {_none_matches(place)}"
    )


def _none_matches(place: LinePlace) -> str:
    """What is wrong with the neighbours of a line, none of which is there."""
    asked = [repr(each) for each in (place.before, place.after) if each is not None]
    if asked:
        return f"no line matches {' or '.join(asked)}"
    return "say `before` or `after`, or `mode: insert` with `location: start` or `end`"
