# SPDX-License-Identifier: Apache-2.0
"""The difference of two texts, as results show it."""

from __future__ import annotations

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
    import difflib

    if large := not_shown(len(old), len(new)):
        return large
    return "".join(difflib.unified_diff(lines_of(shown(old)), lines_of(shown(new)), n=context))


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; form feeds and the like end none."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
