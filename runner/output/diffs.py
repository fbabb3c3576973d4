# SPDX-License-Identifier: Apache-2.0
"""Diffs as people read them: with names in their heads, a line for each line of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
NO_NEWLINE = "\\ No newline at end of file"


def shown(lines: Sequence[str], name: str) -> list[str]:
    """The lines of a diff whose heads name the file; Salt leaves both names empty, and so does the
    JSON. name: empty where it is not known.
    """
    heads = [line.strip() for line in lines[:4]]
    named = [f"--- {name} (before)", f"+++ {name} (after)"] if name else []
    if heads == ["---", "", "+++", ""]:
        # as Salt's file.append writes it: an empty line stands behind each head
        pairs = zip(lines[4:], ["", *lines[4:]], strict=False)
        return named + [line for line, before in pairs if line or before[:2] != "@@"]
    return named + [*_separated(lines[2:])] if heads[:2] == ["---", "+++"] else [*lines]


def _separated(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a diff, the last of the old file parted from the first of the new one: where
    that has no newline, they stand on one line.
    """
    new = 0  # lines of the new file that the hunk still has
    for number, line in enumerate(lines):
        if hunk := HUNK.match(line):
            new = int(hunk[2] or 1)
        elif line[:1] in (" ", "+"):
            new -= 1
        elif line.count("+") == 1 and new > sum(left[:1] == "+" for left in lines[number + 1 :]):
            old, _, added = line.partition("+")
            yield from (old, NO_NEWLINE, f"+{added}")
            new -= 1
            continue
        yield line
