# SPDX-License-Identifier: Apache-2.0
"""Puppet's relationships: before, notify, subscribe and chains become Salt's requisites."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from runner.language.compiler import chains
from runner.model.diagnostics import Diagnostic, similar, suggestion
from runner.model.highdata import (
    Body,
    Chain,
    Declaration,
    HighData,
    Item,
    add_item,
    from_puppet_syntax,
    items_with_keys,
    members_of,
)
from runner.model.places import JoinedList, Value, item_place
from runner.model.requisite_kinds import ALIASES, ARROWS, KINDS

if TYPE_CHECKING:
    from runner.language.compiler.chains import Operand

# (state, function) -> the arguments that the function has
Known = Callable[[str, str], frozenset[str]]
Member = tuple[Declaration, Body]


def spelled_out(high: HighData, known: Known) -> list[Diagnostic]:
    """Replace them in the high data; the mistakes and warnings on the way."""
    for _, body, item in items_with_keys(high, ALIASES):
        functions = [entry.value for entry in body.items if entry.key is None]
        if not any(item.key in known(body.state, function) for function in functions):
            body.items.remove(item)
            add_item(body, Item(ALIASES[item.key or ""], _references(item, high), item.place))
    if not high.chains:
        return []
    states = _States(high)
    return [problem for chain in high.chains for problem in _Linked(chain, high, states)()]


def _references(item: Item, high: HighData) -> list[Value]:
    """References as a list, each with its place; `sls: X` means X's own states here."""
    value = item.value
    references = JoinedList(item.place)
    for index, entry in enumerate(value if isinstance(value, list) else [value]):
        place = item_place(value, index, item.place)
        for reference in _single(entry):
            targets = (
                _of_sls(reference["sls"], item, high)
                if isinstance(reference, dict) and "sls" in reference
                else [reference]
            )
            references += targets
            references.places += [place] * len(targets)
    return references


def _of_sls(name: Value, item: Item, high: HighData) -> list[Value]:
    """The states of an SLS as references; one without states asks for nothing."""
    own: list[Value] = [
        {b.state: d.id} for d, b in _bodies(high) if fnmatch.fnmatchcase(d.sls, str(name))
    ]
    is_in_form = ALIASES[item.key or ""] not in KINDS
    empty = is_in_form and fnmatch.filter({sls for _, sls in high.rendered}, str(name))
    return own or ([] if empty else [{"sls": name}])


def _single(entry: Value) -> Iterator[Value]:
    """`{state: [a, b], other: c}` as one reference each."""
    if not isinstance(entry, dict):
        yield entry
        return
    for state, titles in entry.items():
        for title in titles if isinstance(titles, list) else [titles]:
            yield title if state == "id" else {state: title}


def _bodies(high: HighData) -> Iterator[Member]:
    for declaration in high.declarations.values():
        for body in declaration.bodies.values():
            yield declaration, body


class _States:
    """All states by the titles that a chain may call them by."""

    def __init__(self, high: HighData) -> None:
        self.titles = [(member, tuple(dict.fromkeys(_titles(*member)))) for member in _bodies(high)]
        self._titled: dict[str, list[Member]] = {}
        for member, titles in self.titles:
            for title in titles:
                self._titled.setdefault(title, []).append(member)

    def titled(self, operand: Operand) -> list[Member]:
        return [member for member in self._titled.get(operand.title, ()) if _fits(operand, member)]

    def matching(self, operand: Operand) -> list[Member]:
        fitting = ((member, titles) for member, titles in self.titles if _fits(operand, member))
        return [member for member, titles in fitting if fnmatch.filter(titles, operand.title)]


def _fits(operand: Operand, member: Member) -> bool:
    return operand.state in ("", "id", member[1].state)


class _Linked:
    """Carries out one chain."""

    def __init__(self, chain: Chain, high: HighData, states: _States) -> None:
        self._chain = chain
        self._high = high
        self._states = states
        self._problems: list[Diagnostic] = []

    def __call__(self) -> list[Diagnostic]:
        groups, arrows = chains.parsed(self._chain.text)
        if len(groups) < 2 or not all(groups):
            self._problem(
                f"the chain {self._chain.text!r} links nothing",
                "write 'pkg: nginx -> service: nginx'",
            )
            return self._problems
        members = [self._group(group) for group in groups]
        if any(member_list is None for member_list in members):
            return self._problems
        before: list[Member] = members[0] or []
        for arrow, following in zip(arrows, members[1:], strict=True):
            if arrow.startswith("<"):
                self._problem(
                    f"the chain {self._chain.text!r} reads from right to left",
                    "turn it round",
                    "warning",
                )
            self._link(before, arrow, following or [])
            before = following or before  # an SLS without states passes on what came before it
        return self._problems

    def _link(self, left: Sequence[Member], arrow: str, right: Sequence[Member]) -> None:
        kind, backwards = ARROWS[arrow]
        first, then = (right, left) if backwards else (left, right)
        for declaration, body in then:
            references = [
                {b.state: d.id} for d, b in first if (d.id, b.state) != (declaration.id, body.state)
            ]
            if references:
                add_item(body, Item(str(kind), references, self._chain.place))

    def _group(self, operands: Sequence[Operand]) -> list[Member] | None:
        """The states that some operands mean; None when one of them matches nothing."""
        members_by_name: dict[tuple[str, str], Member] = {}
        complete = True
        for operand in operands:
            members = self._of_sls(operand) if operand.state == "sls" else self._of_state(operand)
            complete &= members is not None
            members_by_name |= {(d.id, b.state): (d, b) for d, b in members or ()}
        return list(members_by_name.values()) if complete else None

    def _of_sls(self, operand: Operand) -> list[Member] | None:
        name = self._chain.sls if operand.title == "self" else operand.title
        members = [(d, b) for d, b in _bodies(self._high) if fnmatch.fnmatchcase(d.sls, name)]
        if members or fnmatch.filter({sls for _, sls in self._high.rendered}, name):
            return members
        self._nothing(operand, "is that SLS part of this run? include it")
        return None

    def _of_state(self, operand: Operand) -> list[Member] | None:
        named = self._states.titled(operand)
        if not named and not operand.literal:
            named = self._states.matching(operand)
        members = [
            (d, b) for d, b in named if all(_says(b, key, value) for key, value in operand.filters)
        ]
        if not members:
            self._nothing(operand, self._near(operand))
        return members or None

    def _nothing(self, operand: Operand, hint: str | None) -> None:
        self._problem(f"{operand.text!r} in a chain matches nothing", hint)

    def _near(self, operand: Operand) -> str:
        puppets = from_puppet_syntax(operand.text)
        if puppets:
            return f"that is Puppet's way; write `{puppets}`"
        holder = next(
            ((d, b) for d, b in _bodies(self._high) if operand.title in members_of(b)), None
        )
        if holder:
            return (
                f"{operand.title} is a member of {holder[1].state}: {holder[0].id}; refer to that"
            )
        known = [(b.state, titles) for (_, b), titles in self._states.titles]
        titles = {title for state, own in known if operand.state in ("", state) for title in own}
        close = similar(operand.title, titles, 2)
        other = [state for state, own in known if operand.title in own]
        if other and not operand.filters:
            return f"there is {other[0]}: {operand.title}"
        return suggestion(*close) if close else "no state of this run has this ID or name"

    def _problem(self, message: str, hint: str | None, severity: str = "error") -> None:
        self._problems.append(
            Diagnostic(message, self._chain.place.source, hint, "chain", severity)
        )


def _titles(declaration: Declaration, body: Body) -> Iterator[str]:
    yield declaration.id
    for item in body.items:
        if item.key == "name" and isinstance(item.value, str):
            yield item.value
        elif item.key == "names" and isinstance(item.value, list):
            yield from (
                str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry)
                for entry in item.value
            )


def _says(body: Body, key: str, value: str) -> bool:
    return any(item.key == key and str(item.value) == value for item in body.items)
