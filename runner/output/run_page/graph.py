# SPDX-License-Identifier: Apache-2.0
"""What the states of a run have to do with each other: a picture, and links at each state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """first, then: positions in the list of states."""

    first: int
    then: int
    kind: str
    automatic: bool


def _edges(states: Sequence[PageState], requisites: Mapping[str, Any]) -> list[Edge]:
    """The edges between states that have a result; an automatic one only where no one typed any."""
    positions: dict[str, int] = {}
    for position, state in enumerate(states):
        positions.setdefault(state.tag, position)
    numbers = [positions.get(tag, -1) for tag in requisites.get("states", ())]
    edges: dict[tuple[int, int, str], Edge] = {}
    typed: set[tuple[int, int]] = set()
    for key in ("edges", "automatic"):
        for one, other, kind in _single(requisites.get(key, ()), requisites.get("sets", ())):
            pair = first, then = numbers[one], numbers[other]
            if min(pair) >= 0 and first != then and not (key == "automatic" and pair in typed):
                edges.setdefault((first, then, kind), Edge(first, then, kind, key == "automatic"))
                typed.add(pair)
    return list(edges.values())


def _single(
    edges: Iterable[tuple[int, int, str]], sets: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int, str]]:
    """The edges of each state of a set by themselves."""
    for first, then, kind in edges:
        for one in (first,) if first >= 0 else sets[-1 - first]:
            for other in (then,) if then >= 0 else sets[-1 - then]:
                yield one, other, kind


def related(states: Sequence[PageState], requisites: Mapping[str, Any]) -> list[str]:
    """For each state links to those before and after it, as HTML."""
    before: list[list[tuple[str, PageState]]] = [[] for _ in states]
    after: list[list[tuple[str, PageState]]] = [[] for _ in states]
    for edge in _edges(states, requisites):
        before[edge.then].append((edge.kind, states[edge.first]))
        after[edge.first].append((edge.kind, states[edge.then]))
    return [
        _links("After", earlier) + _links("Before", later)
        for earlier, later in zip(before, after, strict=True)
    ]


def _links(word: str, others: Sequence[tuple[str, PageState]]) -> str:
    links = [f"{state.link} ({escape(kind)})" for kind, state in others[:LINKS]]
    if len(others) > LINKS:
        links.append(f"{len(others) - LINKS} more")
    return f"<p>{word}: {', '.join(links)}</p>" if links else ""


def drawn(states: Sequence[PageState], requisites: Mapping[str, Any]) -> tuple[str, str]:
    """The picture as HTML, empty where nothing depends on anything, and a sentence about it.

    Of a run with many states those that did something and what these depend on; where these are
    many too, the SLS files.
    """
    edges = _edges(states, requisites)
    if not edges:
        return "", ""
    about = "An arrow leads from a state to what comes after it."
    wanted = {number for edge in edges for number in (edge.first, edge.then)}
    if len(wanted) > MANY:
        active = {n for n, state in enumerate(states) if state.outcome != "unchanged"}
        wanted = active | {edge.first for edge in edges if edge.then in active}
        wanted &= {number for edge in edges for number in (edge.first, edge.then)}
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
    nodes = [_node(states[number]) for number in wanted]
    arrows = [
        Arrow(index[edge.first], index[edge.then], edge.kind, _style(edge))
        for edge in edges
        if edge.first in index and edge.then in index
    ]
    return drawing(nodes, arrows, name=NAME)


def _node(state: PageState) -> Node:
    tip = f"{state.outcome}: {state.function} {state.id}"
    return Node(state.id, state.function, tip, slug(state.outcome), f"#{state.anchor}")


def _style(edge: Edge) -> str:
    return "automatic" if edge.automatic else KINDS[edge.kind].family


def _picture(states: Sequence[PageState], edges: Iterable[Edge]) -> dict[str, Any]:
    """The run as `runner.support.drawing` takes it."""
    nodes = [
        {"sls": state.sls, "position": state.number, "cycle": False, "function": state.function}
        for state in states
    ]
    arrows = [
        {
            "first": edge.first,
            "then": edge.then,
            "kind": edge.kind,
            "automatic": edge.automatic,
            "cycle": False,
        }
        for edge in edges
    ]
    return {"states": nodes, "edges": arrows, "cycles": []}
