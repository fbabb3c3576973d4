# SPDX-License-Identifier: Apache-2.0
"""Versions of formulas: tags such as v2.9.1 or 2.9.1, and ranges of them such as `>=2.9,<3`.

The `packaging` library reads Python's versions, not those of tags: it refuses `v1.2.3-beta-4`, and
takes `1.0-1` for a later release than 1.0. What is needed here is a comparison of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from runner.api.versions import OPERATORS, holds
from runner.model.records import Record

EXPLAINED = "the operators are >=, >, <=, <, ==, != and ~= (~=2.9 is >=2.9,<3), between commas"
_TAG = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)(.*)", re.ASCII | re.DOTALL)
_NUMBERS = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)(\.\*)?", re.ASCII)
MOST_NAMED = 3  # tags in a hint


class InvalidRange(ValueError):
    """A text that begins like a range and is none."""


class Release(Record):
    """What a tag says of the version: its numbers, and whether it comes before the release."""

    numbers: tuple[int, ...]
    preliminary: bool
    tag: str


class VersionBound(Record):
    """One condition of a range. series: `2.9.*`, all versions that begin so."""

    operator: str
    numbers: tuple[int, ...]
    series: bool = False

    def holds(self, version: tuple[int, ...]) -> bool:
        """Return whether a version meets it."""
        if self.series:
            begins = _padded(version, len(self.numbers))[: len(self.numbers)] == self.numbers
            return begins == (self.operator != "!=")
        size = max(len(version), len(self.numbers))
        one, other = _padded(version, size), _padded(self.numbers, size)
        if self.operator == "~=":
            series = len(self.numbers) - 1
            return one >= other and one[:series] == other[:series]
        return holds((one > other) - (one < other), self.operator)


def _padded(numbers: tuple[int, ...], size: int) -> tuple[int, ...]:
    return numbers + (0,) * (size - len(numbers))


def is_range(version: str) -> bool:
    """Return whether a version is a range of tags, and not the name of a tag, branch or commit.

    >>> is_range(">=2.9,<3"), is_range("*"), is_range("2.9.*"), is_range("v2.9.0")
    (True, True, True, False)
    """
    return version[:1] in ("<", ">", "=", "!", "~", "^") or "," in version or "*" in version


def bounds(version: str) -> tuple[VersionBound, ...]:
    """The conditions of a range; none for `*`. Raises InvalidRange.

    >>> [bound.operator for bound in bounds(">=2.9, <3")]
    ['>=', '<']
    """
    parts = [part.strip() for part in version.split(",")]
    return tuple(bound for part in parts for bound in _bound(part))


def _bound(part: str) -> Iterable[VersionBound]:
    if part == "*":
        return
    operator = next((name for name in ("~=", *OPERATORS) if part.startswith(name)), "")
    match = _NUMBERS.fullmatch(part[len(operator) :].strip())
    if not part or not match:
        raise InvalidRange(f"{part!r} is no condition of a range")
    numbers, series = tuple(map(int, match[1].split("."))), bool(match[2])
    if not operator and not series:
        raise InvalidRange(f"{part!r} is no condition of a range: it has no operator")
    operator = "==" if operator in ("", "=") else operator
    if series and operator not in ("==", "!="):
        raise InvalidRange(f"{part!r}: * goes with == and != alone")
    if operator == "~=" and len(numbers) < 2:
        raise InvalidRange(f"{part!r}: ~= needs two numbers, such as ~={match[1]}.0")
    yield VersionBound(operator, numbers, series)


def release(tag: str) -> Release | None:
    """The version that a tag names; None for a tag that names none.

    >>> release("v2.9.1").numbers, release("2.10.0-rc1").preliminary, release("stable")
    ((2, 9, 1), True, None)
    """
    match = _TAG.fullmatch(tag)
    if match is None:
        return None
    numbers = tuple(map(int, match[1].split(".")))
    rest = match[2]
    if rest and not re.match(r"[-+._a-zA-Z]", rest):
        return None
    return Release(numbers, bool(rest) and not rest.startswith("+"), tag)


def newest(version: str, tags: Collection[str]) -> list[str]:
    """The tags of the newest version in a range: none, one, or several that name the same version
    (v2.9 and 2.9.0). Pre-releases are none of them. Raises InvalidRange.
    """
    conditions = bounds(version)
    fitting = [
        item
        for item in _releases(tags)
        if not item.preliminary and all(bound.holds(item.numbers) for bound in conditions)
    ]
    if not fitting:
        return []
    best = _order(fitting[-1])
    return [item.tag for item in fitting if _order(item) == best]


def satisfies(version: str, tag: str) -> bool:
    """Return whether a tag is in a range."""
    return newest(version, [tag]) == [tag]


def nearest_tags(version: str, tags: Collection[str]) -> list[str]:
    """The tags that a range just misses, pre-releases among them, in their order."""
    conditions = bounds(version)
    known = _releases(tags)
    inside = [item for item in known if all(bound.holds(item.numbers) for bound in conditions)]
    if inside or not conditions:  # pre-releases alone
        return [item.tag for item in (inside or known)[-MOST_NAMED:]]
    wanted = _stripped(conditions[0].numbers)
    below = [item.tag for item in known if _order(item) < wanted]
    above = [item.tag for item in known if _order(item) >= wanted]
    return [*below[-2:], *above[: MOST_NAMED - len(below[-2:])]]


def _releases(tags: Iterable[str]) -> list[Release]:
    """Return what tags say of versions, the oldest first; a pre-release before its release."""
    known = [item for item in map(release, tags) if item]
    return sorted(known, key=lambda item: (_order(item), not item.preliminary, item.tag))


def _order(item: Release) -> tuple[int, ...]:
    return _stripped(item.numbers)


def _stripped(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers without zeros at their end: 2.9 is 2.9.0."""
    while numbers and not numbers[-1]:
        numbers = numbers[:-1]
    return numbers
