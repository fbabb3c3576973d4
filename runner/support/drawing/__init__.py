# SPDX-License-Identifier: Apache-2.0
"""A picture of a run: its states, what waits for what, the cycles. Here as data; its sisters draw
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.model.chunk import Chunk, Edge, Relations, titled

MANY = 80  # from so many states on, a picture without pages of its own is folded by SLS

# plain data: what `--out json` prints and from which secrets are taken away
Picture = Mapping[str, Any]


def picture(
    chunks: Sequence[Chunk],
    relations: Relations,
    order: Sequence[int],
    cyclic_edges: Iterable[frozenset[Edge]],
) -> dict[str, Any]:
    """states, edges (`first` runs before `then`; both are numbers of states) and cycles.

    order: empty when there is none, because of a cycle. cyclic_edges: the requisites that wait for
    each other.
    """
    position = {number: place for place, number in enumerate(order, 1)}
    cyclic_edges = list(cyclic_edges)
    tied = frozenset(edge for cycle in cyclic_edges for edge in cycle)
    held = {number for edge in tied for number in (edge.holder, edge.target)}
    titles = titled(chunks)
    states = [
        {
            "function": chunk.function,
            "id": chunk.id,
            "name": chunk.name,
            "title": titles[number],
            "sls": chunk.sls,
            "place": str(chunk.place),
            "position": position.get(number),
            "cycle": number in held,
        }
        for number, chunk in enumerate(chunks)
    ]
    automatic = {(first, then): kind for first, then, kind in relations.automatic}
    explicit = [edge for edge in relations.edges if not edge.automatic]
    edges = [_edge(edge, edge in tied) for edge in explicit]
    drawn = {(edge["first"], edge["then"]) for edge in edges}
    edges += [
        {"first": first, "then": then, "kind": kind, "place": "", "automatic": True, "cycle": False}
        for (first, then), kind in automatic.items()
        if (first, then) not in drawn
    ]
    return {"states": states, "edges": edges, "cycles": [_members(knot) for knot in cyclic_edges]}


def _edge(edge: Edge, tied: bool) -> dict[str, Any]:
    first, then = edge.sequence or (edge.target, edge.holder)
    place = str(edge.place)
    return {
        "first": first,
        "then": then,
        "kind": str(edge.kind),
        "place": place,
        "automatic": False,
        "cycle": tied,
    }


def _members(knot: frozenset[Edge]) -> list[int]:
    return sorted({number for edge in knot for number in (edge.holder, edge.target)})


def label(state: Mapping[str, Any]) -> str:
    """Return how a state is called in a picture."""
    return f"{state['function']}: {state['title']}"


def by_sls(states: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The numbers of the states of each SLS, in the order of the run."""
    numbers: dict[str, list[int]] = {}
    for number in sorted(
        range(len(states)), key=lambda number: (states[number]["position"] or 0, number)
    ):
        numbers.setdefault(states[number]["sls"], []).append(number)
    return numbers


def folded(drawn: Picture) -> dict[str, Any]:
    """The same with one state for each SLS; parallel edges become one, with how many they were."""
    states, groups = drawn["states"], by_sls(drawn["states"])
    index = {sls: number for number, sls in enumerate(groups)}
    merged: dict[tuple[int, int], dict[str, Any]] = {}
    for edge in drawn["edges"]:
        first, then = (index[states[edge[end]]["sls"]] for end in ("first", "then"))
        if first != then:
            _merge(
                merged.setdefault(
                    (first, then), {"first": first, "then": then, "kinds": {}, "count": 0}
                ),
                edge,
            )
    nodes = [
        {
            "sls": sls,
            "count": len(members),
            "position": states[members[0]]["position"],
            "cycle": any(states[number]["cycle"] for number in members),
        }
        for sls, members in groups.items()
    ]
    return {
        "states": nodes,
        "edges": [edge | {"kinds": list(edge["kinds"])} for edge in merged.values()],
    }


def _merge(into: dict[str, Any], edge: Mapping[str, Any]) -> None:
    into["kinds"][edge["kind"]] = None
    into["count"] += 1
    into["automatic"] = into.get("automatic", True) and edge["automatic"]
    into["cycle"] = into.get("cycle", False) or edge["cycle"]
