"""Puppet's relationships: before, notify, subscribe and chains become Salt's requisites. A helper of low.py."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from runner.errors import Diagnostic
from runner.highdata import Body, Chain, Declaration, HighData, Item, add_item
from runner.model import PlacedList, Value

Known = Callable[[str, str], frozenset[str]]  # (state, function) -> the arguments that the function has
NAMES = {"before": "require_in", "notify": "watch_in", "subscribe": "watch"}
ARROWS = {"->": ("require", False), "~>": ("watch", False), "<-": ("require", True), "<~": ("watch", True)}
Member = tuple[Declaration, Body]


def spelled_out(high: HighData, known: Known) -> list[Diagnostic]:
    """Replace them in the high data; the mistakes and warnings on the way."""
    for declaration in high.declarations.values():
        for body in declaration.bodies.values():
            for item in [item for item in body.items if item.key in NAMES]:
                functions = [each.value for each in body.items if each.key is None]
                if not any(item.key in known(body.state, function) for function in functions):
                    body.items.remove(item)
                    add_item(body, Item(NAMES[item.key or ""], _references(item.value, high), item.place))
    problems: list[Diagnostic] = []
    for chain in high.chains:
        problems += _Linked(chain, high)()
    return problems


def _references(value: Value, high: HighData) -> list[Value]:
    """References as a list; `sls: X` means X's own states here."""
    found = PlacedList(value.document, value.start) if isinstance(value, PlacedList) else []
    for index, entry in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(entry, dict) and set(entry) == {"sls"}:
            own = [(d, b) for d, b in _bodies(high) if d.sls == entry["sls"]]
            said = [{body.state: declaration.id} for declaration, body in own] or [entry]
        else:
            said = [{key: item} for key, item in entry.items()] if isinstance(entry, dict) else [entry]
        found += said
        if isinstance(found, PlacedList) and isinstance(value, PlacedList):
            found.items_at += [value.items_at[index]] * len(said)
    return found


def _bodies(high: HighData) -> Iterator[Member]:
    for declaration in high.declarations.values():
        for body in declaration.bodies.values():
            yield declaration, body


class Operand(NamedTuple):
    """`state: title where key=value`, as it was typed."""

    text: str
    state: str
    title: str
    filters: tuple[tuple[str, str], ...] = ()


class _Linked:
    """Carries out one chain."""

    def __init__(self, chain: Chain, high: HighData) -> None:
        self._chain = chain
        self._high = high
        self._problems: list[Diagnostic] = []

    def __call__(self) -> list[Diagnostic]:
        groups, arrows = _split(self._chain.text)
        if len(groups) < 2 or any(not group.strip() for group in groups):
            self._problem(f"the chain {self._chain.text!r} links nothing", "write 'pkg: nginx -> service: nginx'")
            return self._problems
        members = [self._group(group) for group in groups]
        if any(found is None for found in members):
            return self._problems
        before: list[Member] = members[0] or []
        for arrow, following in zip(arrows, members[1:], strict=True):
            if arrow.startswith("<"):
                self._problem(f"the chain {self._chain.text!r} reads from right to left", "turn it round", "warning")
            self._link(before, arrow, following or [])
            before = following or before  # an SLS without states passes on what came before it
        return self._problems

    def _link(self, left: Sequence[Member], arrow: str, right: Sequence[Member]) -> None:
        kind, backwards = ARROWS[arrow]
        first, then = (right, left) if backwards else (left, right)
        for declaration, body in then:
            references = [{b.state: d.id} for d, b in first if (d.id, b.state) != (declaration.id, body.state)]
            if references:
                add_item(body, Item(kind, references, self._chain.place))

    def _group(self, text: str) -> list[Member] | None:
        """The states that an operand or a group of them means; None when something of it matches nothing."""
        inner = text.strip()
        parts = _list(inner) if inner.startswith("[") and inner.endswith("]") else [inner]
        found: dict[tuple[str, str], Member] = {}
        complete = True
        for part in parts:
            for operand in _operands(part):
                members = self._members(operand)
                complete &= members is not None
                found |= {(d.id, b.state): (d, b) for d, b in members or ()}
        return list(found.values()) if complete else None

    def _members(self, operand: Operand) -> list[Member] | None:
        if operand.state == "sls":
            name = self._chain.sls if operand.title == "self" else operand.title
            known = {sls for _, sls in self._high.rendered}
            found = [(d, b) for d, b in _bodies(self._high) if fnmatch.fnmatchcase(d.sls, name)]
            if not found and not fnmatch.filter(known, name):
                self._problem(f"{operand.text!r} in a chain matches nothing", "is that SLS part of this run?")
                return None
            return found
        named = [(d, b) for d, b in _bodies(self._high) if operand.state in ("", b.state) and _has(d, b, operand.title)]
        found = [(d, b) for d, b in named if all(_says(b, key, value) for key, value in operand.filters)]
        if not found:
            self._problem(f"{operand.text!r} in a chain matches nothing", self._near(operand))
            return None
        return found

    def _near(self, operand: Operand) -> str | None:
        import difflib

        titles = {name for d, b in _bodies(self._high) if operand.state in ("", b.state) for name in _titles(d, b)}
        close = difflib.get_close_matches(operand.title, titles, 2)
        return f"did you mean {' or '.join(close)}?" if close else None

    def _problem(self, message: str, hint: str | None, severity: str = "error") -> None:
        self._problems.append(Diagnostic(message, self._chain.place.source, hint, "chain", severity))


def _split(text: str) -> tuple[list[str], list[str]]:
    """Operands and the arrows between them."""
    parts = re.split(r"\s*(->|~>|<-|<~)\s*", text)
    return parts[::2], parts[1::2]


def _list(text: str) -> list[str]:
    """The members of `[a, [b, c]]`: what stands between the commas outside inner brackets."""
    found, depth, current = [], 0, ""
    for char in text.strip()[1:-1]:
        depth += {"[": 1, "]": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += char
    return [part for part in [*found, current.strip()] if part]


def _operands(text: str) -> Iterator[Operand]:
    """One operand for each title of `state: title` or `state: [title, title]`."""
    match = re.fullmatch(r"(?:(\w+)\s*:\s+)?(.+?)(?:\s+where\s+(.+))?", text.strip(), re.S)
    assert match is not None  # groups are never empty
    state, titles, said = match.groups()
    pairs = (part.partition("=") for part in (said or "").split(","))
    filters = tuple((key.strip(), value.strip().strip("'\"")) for key, _, value in pairs if key.strip())
    for title in _list(titles) if titles.startswith("[") and titles.endswith("]") else [titles]:
        yield Operand(text.strip(), state or "", title.strip("'\""), filters)


def _titles(declaration: Declaration, body: Body) -> Iterator[str]:
    yield declaration.id
    for item in body.items:
        if item.key == "name" and isinstance(item.value, str):
            yield item.value
        elif item.key == "names" and isinstance(item.value, list):
            yield from (str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry) for entry in item.value)


def _has(declaration: Declaration, body: Body, title: str) -> bool:
    return any(name == title or fnmatch.fnmatchcase(name, title) for name in _titles(declaration, body))


def _says(body: Body, key: str, value: str) -> bool:
    return any(item.key == key and str(item.value) == value for item in body.items)
