# SPDX-License-Identifier: Apache-2.0
"""Old values in the place of present secrets: the old sides of changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.model.records import Record
from runner.model.stdlib import pattern

Span = tuple[int, int]
_KEY = pattern(r"\s*([\w.-]+)\s*[:=]")


class DiffLine(Record):
    """A line of one side. start: where it begins in the text; hidden: from the first secret in it
    to the last.
    """

    start: int
    text: str
    hidden: Span | None


def in_diff(text: str, secrets: Sequence[Span]) -> Iterator[Span]:
    """The spans to hide in the removed lines of a diff. secrets: the spans of its secrets."""
    old: list[DiffLine] = []
    new: list[DiffLine] = []
    for line in _lines(text, secrets):
        sign = line.text[:1]
        if sign in ("-", "+"):
            (old if sign == "-" else new).append(
                line._replace(start=line.start + 1, text=line.text[1:])
            )
        elif sign != "?" and sign != "\\":
            yield from _replaced(old, new)
            old, new = [], []
    yield from _replaced(old, new)


def between(old: str, new: str, secrets: Sequence[Span]) -> Iterator[Span]:
    """The spans to hide in an old text. secrets: those hidden in the new one."""
    gone, come = list(_lines(old, ())), list(_lines(new, secrets))
    common = {line.text for line in gone} & {line.text for line in come}
    yield from _replaced(
        [line for line in gone if line.text not in common],
        [x for x in come if x.text not in common],
    )


def _lines(text: str, secrets: Sequence[Span]) -> Iterator[DiffLine]:
    """The lines of a text, with what is hidden in them."""
    position, following = 0, 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        while following < len(secrets) and secrets[following][1] <= position:
            following += 1
        at, hidden = following, None
        while at < len(secrets) and secrets[at][0] < end:
            start = hidden[0] if hidden else max(secrets[at][0], position)
            hidden = (start, min(secrets[at][1], end))
            at += 1
        yield DiffLine(position, line.rstrip("\r\n"), hidden)
        position = end


def _replaced(old: Sequence[DiffLine], new: Sequence[DiffLine]) -> Iterator[Span]:
    """The spans to hide in lines that others replaced, in one place."""
    frames = _frames(line for line in new if line.hidden)
    if not frames or not old:
        return
    lengths = sorted({len(ahead) for ahead in frames}, reverse=True)
    loose, met = [], set()
    for line in old:
        if line.hidden:
            continue  # the secret of now
        ahead = next(
            (line.text[:length] for length in lengths if length and line.text[:length] in frames),
            None,
        )
        if ahead is None:
            loose.append(line)
            continue
        met.add(ahead)
        behind = next(
            (tail for tail in frames[ahead] if tail and line.text[len(ahead) :].endswith(tail)), ""
        )
        yield line.start + len(ahead), line.start + len(line.text) - len(behind)
    # a secret stands where no line began alike: any of these may have had the old one
    if met != frames.keys():
        plain = {_key(line.text) for line in new if not line.hidden}
        for line in loose:
            indent = len(line.text) - len(line.text.lstrip())
            if _key(line.text) is None or _key(line.text) not in plain:
                yield line.start + indent, line.start + len(line.text)


def _frames(lines: Iterable[DiffLine]) -> dict[str, set[str]]:
    """The texts before secrets in their lines, each with the texts behind."""
    frames: dict[str, set[str]] = {}
    for line in lines:
        assert line.hidden is not None
        start, end = line.hidden[0] - line.start, line.hidden[1] - line.start
        ahead = line.text[: max(0, start)]
        frames.setdefault(ahead if ahead.strip() else "", set()).add(line.text[end:])
    return frames


def _key(line: str) -> str | None:
    match = _KEY.match(line)
    return match[1] if match else None
