# SPDX-License-Identifier: Apache-2.0
"""What the states of a run have to do with each other: a picture, and links at each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from runner.model.records import Record
from runner.model.requisite_kinds import KINDS
from runner.output.run_page.document import slug
from runner.output.run_page.escaping import escape
from runner.output.run_page.states import PageState
from runner.support.drawing import MANY
from runner.support.drawing.page import overview
from runner.support.drawing.svg import Arrow, Node, drawing

LINKS = 12  # of a state to others
NAME = "Graph of the requisites"


class Edge(Record):
    """firsts, thens: positions in the list of states, in order; all of one come before all of the
    other.
    """

    firsts: dict[int, None]
    thens: dict[int, None]
    kind: str
    automatic: bool


def _edges(states: Sequence[PageState], requisites: Mapping[str, Any]) -> list[Edge]:
    """The edges between states that have a result, typed ones first. Those of a kind that states
    have on the same set are one: what is done with each does not grow with the pairs.
    """
    positions: dict[str, int] = {}
    for position, state in enumerate(states):
        positions.setdefault(state.tag, position)
    single = [positions.get(tag) for tag in requisites.get("states", ())]
    sets = [_known(single, members) for members in requisites.get("sets", ())]

    def members(end: int) -> dict[int, None]:
        return _known(single, (end,)) if end >= 0 else sets[-1 - end]

    edges: dict[tuple[Any, ...], Edge] = {}
    for key in ("edges", "automatic"):
        for first, then, kind in requisites.get(key, ()):
            shared = min(first, then)
            same = key, kind, first < 0, shared if shared < 0 else (first, then)
            edge = edges.get(same)
            if edge is None:
                edges[same] = Edge(members(first), members(then), kind, key == "automatic")
            elif first < 0:
                edge.thens.update(members(then))
            else:
                edge.firsts.update(members(first))
    return [
        edge
        for edge in edges.values()
        if edge.firsts and edge.thens and len(edge.firsts | edge.thens) > 1
    ]


def _known(positions: Sequence[int | None], numbers: Iterable[int]) -> dict[int, None]:
    found = (positions[number] for number in numbers)
    return {position: None for position in found if position is not None}


class _Others:
    """The states that one comes after, or before, with the kinds; an automatic one only where no
    one typed any.
    """

    def __init__(self, own: int) -> None:
        self.own = own
        self.kinds: dict[int, list[str]] = {}
        self.more = False

    def add(self, others: Mapping[int, None], edge: Edge) -> None:
        for number, kinds in self.kinds.items():
            if number in others and not edge.automatic and edge.kind not in kinds:
                kinds.append(edge.kind)
        for number in others:
            if number == self.own or number in self.kinds:
                continue
            if len(self.kinds) == LINKS:
                self.more = True
                return
            self.kinds[number] = [edge.kind]

    def links(self, word: str, states: Sequence[PageState]) -> str:
        links = [
            f"{states[number].link} ({escape(', '.join(kinds))})"
            for number, kinds in self.kinds.items()
        ]
        more = ["and more"] * self.more
        return f"<p>{word}: {', '.join(links + more)}</p>" if links else ""


def related(states: Sequence[PageState], requisites: Mapping[str, Any]) -> list[str]:
    """For each state links to those before and after it, as HTML."""
    before, after = ([_Others(own) for own in range(len(states))] for _ in range(2))
    for edge in _edges(states, requisites):
        for then in edge.thens:
            before[then].add(edge.firsts, edge)
        for first in edge.firsts:
            after[first].add(edge.thens, edge)
    return [
        earlier.links("After", states) + later.links("Before", states)
        for earlier, later in zip(before, after, strict=True)
    ]


def drawn(states: Sequence[PageState], requisites: Mapping[str, Any]) -> tuple[str, str]:
    """The picture as HTML, empty where nothing depends on anything, and a sentence about it.

    Of a run with many states those that did something and what these depend on; where these are
    many too, the SLS files.
    """
    edges = _edges(states, requisites)
    if not edges:
        return "", ""
    about = "An arrow leads from a state to what comes after it."
    tied = {number for edge in edges for number in (*edge.firsts, *edge.thens)}
    wanted = tied
    if len(wanted) > MANY:
        active = {n for n, state in enumerate(states) if state.outcome != "unchanged"}
        needed = (edge.firsts for edge in edges if not active.isdisjoint(edge.thens))
        wanted = active.union(*needed) & tied
        about += " Only states that did something are here, with what they depend on."
    if not wanted or len(wanted) > MANY:
        about = "An arrow leads from an SLS file to what comes after its states."
        return _framed(overview(_picture(states, edges), {}, name=NAME)), about
    return _framed(_of_states(states, sorted(wanted), edges)), about


def _framed(picture: str) -> str:
    # it scrolls: the keyboard has to reach it
    return f'<div class="picture" tabindex="0" role="region" aria-label="{NAME}">{picture}</div>'


def _of_states(states: Sequence[PageState], wanted: Sequence[int], edges: Iterable[Edge]) -> str:
    index = {number: place for place, number in enumerate(wanted)}
    arrows: dict[tuple[int, int], dict[str, Arrow]] = {}
    for edge in edges:
        for first, then in product(index.keys() & edge.firsts, index.keys() & edge.thens):
            pair = index[first], index[then]
            if first != then and not (edge.automatic and pair in arrows):
                arrow = Arrow(*pair, edge.kind, _style(edge))
                arrows.setdefault(pair, {}).setdefault(edge.kind, arrow)
    nodes = [_node(states[number]) for number in wanted]
    return drawing(nodes, [each for kinds in arrows.values() for each in kinds.values()], name=NAME)


def _node(state: PageState) -> Node:
    tip = f"{state.outcome}: {state.function} {state.id}"
    return Node(state.id, state.function, tip, slug(state.outcome), f"#{state.anchor}")


def _style(edge: Edge) -> str:
    return "automatic" if edge.automatic else KINDS[edge.kind].family


def _picture(states: Sequence[PageState], edges: Iterable[Edge]) -> dict[str, Any]:
    """The run as `runner.support.drawing` takes it."""
    sets: list[list[int]] = []

    def end(members: Iterable[int]) -> int:
        sets.append([*members])
        return -len(sets)

    nodes = [
        {"sls": state.sls, "position": state.number, "cycle": False, "function": state.function}
        for state in states
    ]
    arrows = [
        {
            "first": end(edge.firsts),
            "then": end(edge.thens),
            "kind": edge.kind,
            "automatic": edge.automatic,
            "cycle": False,
        }
        for edge in edges
    ]
    return {"states": nodes, "edges": arrows, "cycles": [], "sets": sets}
