# SPDX-License-Identifier: Apache-2.0
"""The text of a chain: `[pkg: a, pkg: b] -> file: /etc/* where mode=0644 ~> service: x`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.model.records import Record
from runner.model.requisite_kinds import ARROWS

ARROW = re.compile(rf"\s*({'|'.join(map(re.escape, ARROWS))})\s*")
COMMA = re.compile(r"\s*,\s*")
WHERE = re.compile(r"\s+where\s+")
# elsewhere a quote is part of a title
BEFORE_A_QUOTE = ("", *":,[=", *(arrow[-1] for arrow in ARROWS))


class Operand(Record):
    """`state: title where key=value`, as it was typed. literal: the title stood in quotes, and is
    no glob.
    """

    text: str
    state: str
    title: str
    literal: bool = False
    filters: tuple[tuple[str, str], ...] = ()


def parsed(text: str) -> tuple[list[list[Operand]], list[str]]:
    """The groups of operands and the arrows between them; an empty group where nothing stands."""
    parts, arrows = _cut(text, ARROW)
    return [list(_operands(part)) for part in parts], [arrow.strip() for arrow in arrows]


def _cut(text: str, separator: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The parts of a text and what separates them, outside of brackets and quotes."""
    parts, separators = [], []
    start = at = depth = 0
    quote = ""
    while at < len(text):
        char = text[at]
        match = separator.match(text, at) if not depth and not quote else None
        if match:
            parts.append(text[start:at].strip())
            separators.append(match[0])
            start = at = match.end()
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"" and _before(text, at) in BEFORE_A_QUOTE:
            quote = char
        else:
            depth += {"[": 1, "]": -1}.get(char, 0)
        at += 1
    return [*parts, text[start:].strip()], separators


def _before(text: str, at: int) -> str:
    """The character before a place, whatever spaces lie between."""
    while at and text[at - 1].isspace():
        at -= 1
    return text[at - 1 : at] if at else ""


def _listed(text: str) -> list[str] | None:
    """The members of `[a, b]`; None for what is not a list."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    return [part for part in _cut(text[1:-1], COMMA)[0] if part]


def _operands(text: str) -> Iterator[Operand]:
    """The operands of `state: title`, `state: [title, title]`, `[state: title, ...]`."""
    members = _listed(text)
    if members is not None:
        for member in members:
            yield from _operands(member)
        return
    state = re.match(r"(\w+)\s*:\s+", text)
    (titles, *conditions), _ = _cut(text[state.end() :] if state else text, WHERE)
    pairs = (part.partition("=") for condition in conditions for part in _cut(condition, COMMA)[0])
    filters = tuple((key.strip(), _unquoted(value)[0]) for key, _, value in pairs if key.strip())
    for title in _listed(titles) or [titles] if titles else []:
        yield Operand(text, state[1] if state else "", *_unquoted(title), filters)


def _unquoted(text: str) -> tuple[str, bool]:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1], True) if quoted else (text, False)
