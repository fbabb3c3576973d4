# SPDX-License-Identifier: Apache-2.0
"""Markdown for a terminal: what the pages of the language need of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\[(\w+)\]\(\w+\.md\)")
_BOLD = re.compile(r"\*\*(\w[^*]*)\*\*")
_HIDDEN = re.compile(r"^<!-- .*? -->\n+", re.M)
INDENT = GAP = 2
NARROWEST = 10  # that a column is made


def as_text(page: str, kind: str, width: int = 80) -> str:
    """A page for a terminal of so many columns. kind: what stands behind its title."""
    lines: list[str] = []
    for is_code, part in _parts(_HIDDEN.sub("", page)):
        if is_code:
            lines += ["", *textwrap.indent(part.rstrip("\n"), " " * 6).split("\n")]
            continue
        for block in re.split(r"\n{2,}", part.strip("\n")):
            if block:
                plain = _BOLD.sub(r"\1", _LINK.sub(r"\1", block))
                lines += ["", *_block(plain, kind, width)]
    return "\n".join(lines[1:]) + "\n"


def _parts(page: str) -> Iterator[tuple[bool, str]]:
    """(is it code, the text), in turn."""
    end = 0
    for fence in _FENCE.finditer(page):
        yield False, page[end : fence.start()]
        yield True, fence[1]
        end = fence.end()
    yield False, page[end:]


def _block(block: str, kind: str, width: int) -> list[str]:
    """The lines of a title, a table, a list or a paragraph."""
    if block.startswith("#"):
        level, _, title = block.partition(" ")
        return [f"{title}  ({kind})"] if level == "#" else [f"  {title}:"]
    if block.startswith("|"):
        return list(_table(block.split("\n"), width))
    if block.startswith("- "):
        items = re.split(r"\n(?=- )", block)
        return [line for item in items for line in _wrapped(item, width, "  ")]
    return _wrapped(block, width)


def _wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    space = " " * INDENT
    return textwrap.wrap(
        " ".join(text.split()), width, initial_indent=space, subsequent_indent=space + hanging
    )


def _table(rows: Sequence[str], width: int) -> Iterator[str]:
    """A table in columns; the widest are wrapped where there is no room for them."""
    cells = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for number, row in enumerate(rows)
        if number != 1  # the rule below the head
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + GAP * (len(widths) - 1) + INDENT > width and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    rule = ["-" * size for size in widths]
    for row in (cells[0], rule, *cells[1:]):
        columns = [textwrap.wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
        for line in zip_longest(*columns, fillvalue=""):
            padded = (cell.ljust(size) for cell, size in zip(line, widths, strict=True))
            yield (" " * INDENT + (" " * GAP).join(padded)).rstrip()
