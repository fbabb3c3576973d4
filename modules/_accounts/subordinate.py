# SPDX-License-Identifier: Apache-2.0
"""Ranges of subordinate numbers: /etc/subuid and /etc/subgid."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import islice

from modules._texts.lines import once_a_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@once_a_line
def parsed(line: str) -> tuple[int, int, str]:
    """The first number, the count and the user of a line; no numbers for what is no such line."""
    name, *numbers = line.split(":")
    is_range = len(numbers) == 2 and "".join(numbers).isdigit()
    return (int(numbers[0]), int(numbers[1]), name) if is_range else (0, 0, name)


class TakenRanges:
    """The ranges of a file. What useradd gives a new user begins with the lowest free number that
    has room behind it; it is looked for where the last one was found.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._taken = sorted(parsed(line)[:2] for line in lines)
        self._found: dict[tuple[int, int], int] = {}

    def add(self, line: str) -> None:
        start, size, _ = parsed(line)
        insort(self._taken, (start, size))
        for asked, first in self._found.items():
            if start < first < start + size:
                self._found[asked] = start + size

    def free(self, least: int, count: int) -> int:
        """The first number of a free range."""
        first = self._found.get((least, count))
        begin = 0 if first is None else bisect_left(self._taken, (first, 0))
        first = least if first is None else first
        for start, size in islice(self._taken, begin, None):
            if start - first >= count:
                break
            first = max(first, start + size)
        self._found[least, count] = first
        return first
