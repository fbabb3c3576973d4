# SPDX-License-Identifier: Apache-2.0
"""What the states of a run have to do with each other: a picture, and links at each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from runner.model.requisite_kinds import KINDS
from runner.output.run_page.document import slug
from runner.output.run_page.escaping import escape
from runner.output.run_page.states import PageState
from runner.support.drawing import MANY, Picture, at, bundled
from runner.support.drawing.page import overview
from runner.support.drawing.svg import Arrow, Node, drawing

LINKS = 12  # of a state to others
NAME = "Graph of the requisites"

Ends = tuple[Mapping[str, Any], dict[int, None], dict[int, None]]  # an edge, and its states


def picture(states: Sequence[PageState], requisites: Mapping[str, Any]) -> Picture:
    """The run as `runner.support.drawing` takes it: the edges between states that have a result,
    typed ones first. What is done with each edge does not grow with the pairs.
    """
    positions: dict[str, int] = {}
    for position, state in enumerate(states):
        positions.setdefault(state.tag, position)
    single = [positions.get(tag) for tag in requisites.get("states", ())]
    sets = [
        [known for number in members if (known := single[number]) is not None]
        for members in requisites.get("sets", ())
    ]
    edges: list[dict[str, Any]] = []
    for key in ("edges", "automatic"):
        for first, then, kind in requisites.get(key, ()):
            ends = [single[end] if end >= 0 else end for end in (first, then)]
            if None in ends or ends[0] == ends[1]:
                continue
            about = {"kind": kind, "automatic": key == "automatic", "cycle": False}
            edges.append({"first": ends[0], "then": ends[1], **about})
    nodes = [
        {"sls": state.sls, "position": state.number, "cycle": False, "function": state.function}
        for state in states
    ]
    return bundled({"states": nodes, "edges": edges, "cycles": [], "sets": sets})


def _ends(drawn: Picture, edge: Mapping[str, Any]) -> list[dict[int, None]]:
    """The states at both ends of an edge, in order."""
    return [dict.fromkeys(at(drawn, edge[end])) for end in ("first", "then")]


class _Others:
    """The states that one comes after, or before, with the kinds; an automatic one only where no
    one typed any.
    """

    def __init__(self, own: int) -> None:
        self.own = own
        self.kinds: dict[int, list[str]] = {}
        self.more = False

    def add(self, others: Mapping[int, None], edge: Mapping[str, Any]) -> None:
        for number, kinds in self.kinds.items():
            if number in others and not edge["automatic"] and edge["kind"] not in kinds:
                kinds.append(edge["kind"])
        for number in others:
            if number == self.own or number in self.kinds:
                continue
            if len(self.kinds) == LINKS:
                self.more = True
                return
            self.kinds[number] = [edge["kind"]]

    def links(self, word: str, states: Sequence[PageState]) -> str:
        links = [
            f"{states[number].link} ({escape(', '.join(kinds))})"
            for number, kinds in self.kinds.items()
        ]
        more = ["and more"] * self.more
        return f"<p>{word}: {', '.join(links + more)}</p>" if links else ""


def related(states: Sequence[PageState], run: Picture) -> list[str]:
    """For each state links to those before and after it, as HTML."""
    before, after = ([_Others(own) for own in range(len(states))] for _ in range(2))
    for edge in run["edges"]:
        firsts, thens = _ends(run, edge)
        for then in thens:
            before[then].add(firsts, edge)
        for first in firsts:
            after[first].add(thens, edge)
    return [
        earlier.links("After", states) + later.links("Before", states)
        for earlier, later in zip(before, after, strict=True)
    ]


def drawn(states: Sequence[PageState], run: Picture) -> tuple[str, str]:
    """The picture as HTML, empty where nothing depends on anything, and a sentence about it.

    Of a run with many states those that did something and what these depend on; where these are
    many too, the SLS files.
    """
    pairs = [(edge, *_ends(run, edge)) for edge in run["edges"]]
    tied = {
        number
        for _, firsts, thens in pairs
        if firsts and thens and len(firsts | thens) > 1
        for number in (*firsts, *thens)
    }
    if not tied:
        return "", ""
    about = "An arrow leads from a state to what comes after it."
    wanted = tied
    if len(wanted) > MANY:
        active = {n for n, state in enumerate(states) if state.outcome != "unchanged"}
        needed = (firsts for _, firsts, thens in pairs if not active.isdisjoint(thens))
        wanted = active.union(*needed) & tied
        about += " Only states that did something are here, with what they depend on."
    if not wanted or len(wanted) > MANY:
        about = "An arrow leads from an SLS file to what comes after its states."
        return _framed(overview(run, {}, name=NAME)), about
    return _framed(_of_states(states, sorted(wanted), pairs)), about


def _framed(picture: str) -> str:
    # it scrolls: the keyboard has to reach it
    return f'<div class="picture" tabindex="0" role="region" aria-label="{NAME}">{picture}</div>'


def _of_states(states: Sequence[PageState], wanted: Sequence[int], edges: Iterable[Ends]) -> str:
    index = {number: place for place, number in enumerate(wanted)}
    arrows: dict[tuple[int, int], dict[str, Arrow]] = {}
    for edge, firsts, thens in edges:
        for first, then in product(index.keys() & firsts, index.keys() & thens):
            pair = index[first], index[then]
            if first != then and not (edge["automatic"] and pair in arrows):
                arrow = Arrow(*pair, edge["kind"], _style(edge))
                arrows.setdefault(pair, {}).setdefault(edge["kind"], arrow)
    nodes = [_node(states[number]) for number in wanted]
    return drawing(nodes, [each for kinds in arrows.values() for each in kinds.values()], name=NAME)


def _node(state: PageState) -> Node:
    tip = f"{state.outcome}: {state.function} {state.id}"
    return Node(state.id, state.function, tip, slug(state.outcome), f"#{state.anchor}")


def _style(edge: Mapping[str, Any]) -> str:
    return "automatic" if edge["automatic"] else KINDS[edge["kind"]].family
