# SPDX-License-Identifier: Apache-2.0
"""The difference of two texts, as results show it."""

from __future__ import annotations

import io
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# bytes of both texts together; the difference of larger ones is for nobody to read
LARGEST_DIFF = 4 * 1024 * 1024


def not_shown(old: int, new: int) -> str:
    """The note in place of the difference of two texts that are too large to be compared; "" for
    smaller ones.
    """
    if old + new <= LARGEST_DIFF:
        return ""
    return f"The difference is not shown: {_size(new)} instead of {_size(old)}"


def _size(number: int) -> str:
    return f"{number / 1048576:.1f} MiB" if number >= 104858 else f"{number} bytes"


def shown(text: str) -> str:
    """The text as an output can print it."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def diff(old: str, new: str, context: int = 3) -> str:
    """A unified diff. context: lines around each change."""
    if large := not_shown(len(old), len(new)):
        return large
    return "".join(unified(lines_of(shown(old)), lines_of(shown(new)), context))


def unified(before: list[str], after: list[str], context: int = 3) -> Iterator[str]:
    """Yield the lines of a unified diff, as difflib makes it: many states change a line each of
    one file, and difflib looks at each line of both.
    """
    import difflib

    head, tail = _equal_ends(before, after)
    skipped, left = max(head - context, 0), max(tail - context, 0)
    ends = len(before) - left, len(after) - left
    for line in difflib.unified_diff(
        before[skipped : ends[0]], after[skipped : ends[1]], n=context
    ):
        yield _moved(line, skipped) if line.startswith("@@") else line


def _equal_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at the beginning and at the end need not be compared: those that are the same
    in both, where none of them stands between as well (it may be what difflib takes for the same).
    """
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    most -= head
    tail = next((n for n in range(most) if before[~n] != after[~n]), most)
    between = {*before[head : len(before) - tail], *after[head : len(after) - tail]}
    if between.isdisjoint(before[:head]) and between.isdisjoint(before[len(before) - tail :]):
        return head, tail
    return 0, 0


def _moved(line: str, down: int) -> str:
    """The first line of a hunk of a diff, so many lines further down."""
    return re.sub(r"(?<= [-+])\d+", lambda number: str(int(number[0]) + down), line)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; form feeds and the like end none."""
    return list(io.StringIO(text, newline="\n"))
