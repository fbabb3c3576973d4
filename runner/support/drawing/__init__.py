# SPDX-License-Identifier: Apache-2.0
"""A picture of a run: its states, what waits for what, the cycles. Here as data; its sisters draw
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.model.chunk import Chunk, Edge, EdgeGroup, Relations, titled

MOST_SINGLE = 2500  # edges: of more, those of one requisite on many states are one
MANY = 80  # from so many states on, a picture without pages of its own is folded by SLS

# plain data: what `--out json` prints and from which secrets are taken away
Picture = Mapping[str, Any]


def picture(
    chunks: Sequence[Chunk],
    relations: Relations,
    order: Sequence[int],
    cyclic_edges: Iterable[frozenset[Edge]],
) -> dict[str, Any]:
    """states, edges (`first` runs before `then`; both are numbers of states) and cycles. Of very
    many edges those that states have on the same others are one: -1 - the number of these in sets.

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
    typed = [group for group in relations.edges.groups if not group.automatic]
    sets: dict[tuple[tuple[int, ...], bool], int] = {}
    if tied or sum(len(group.targets) for group in typed) <= MOST_SINGLE:
        edges = [_edge(edge, edge in tied) for group in typed for edge in group.edges()]
    else:
        edges = [_edge_on_all(group, sets) for group in typed]
    drawn = {(edge["first"], edge["then"]) for edge in edges}
    edges += [
        {"first": first, "then": then, "kind": kind, "place": "", "automatic": True, "cycle": False}
        for (first, then), kind in automatic.items()
        if (first, then) not in drawn
    ]
    whole = {"states": states, "edges": edges, "cycles": [_members(knot) for knot in cyclic_edges]}
    return whole | ({"sets": [list(targets) for targets, _ in sets]} if sets else {})


def _edge_on_all(group: EdgeGroup, sets: dict[tuple[tuple[int, ...], bool], int]) -> dict[str, Any]:
    """One edge for all of a group. sets: the targets of such, and whether they come last, by their
    numbers.
    """
    edge = _edge(group.edge(0), tied=False)
    if len(group.targets) > 1:
        comes_last = group.kind.orders and group.kind.prepares
        number = sets.setdefault((group.targets, comes_last), len(sets))
        edge["then" if comes_last else "first"] = -1 - number
    return edge


def at(drawn: Picture, end: int) -> Sequence[int]:
    """The states at an end of an edge."""
    found: Sequence[int] = [end] if end >= 0 else drawn["sets"][-1 - end]
    return found


def single(drawn: Picture) -> Picture:
    """The same with an edge for each two states."""
    if "sets" not in drawn:
        return drawn
    edges: Iterator[Mapping[str, Any]] = (
        {**edge, "first": first, "then": then}
        for edge in drawn["edges"]
        for first in at(drawn, edge["first"])
        for then in at(drawn, edge["then"])
    )
    return {"states": drawn["states"], "edges": [*edges], "cycles": drawn["cycles"]}


def bundled(drawn: Picture) -> Picture:
    """The same with one edge for those that the states of an SLS have on the same set."""
    if "sets" not in drawn:
        return drawn
    sets = [*drawn["sets"]]
    bundles: dict[tuple[Any, ...], tuple[dict[str, Any], list[int]]] = {}
    edges: list[dict[str, Any]] = []
    for edge in drawn["edges"]:
        ends = edge["first"], edge["then"]
        if min(ends) >= 0:
            edges.append(edge)
            continue
        own = "first" if edge["first"] >= 0 else "then"
        holder = drawn["states"][edge[own]]
        key = min(ends), own, edge["kind"], edge["automatic"], edge["cycle"], holder["sls"]
        if key not in bundles:
            bundles[key] = {**edge}, []
            edges.append(bundles[key][0])
        bundles[key][1].append(edge[own])
    for (_, own, *_), (edge, holders) in bundles.items():
        if len(holders) > 1:
            edge[own] = -1 - len(sets)
            sets.append(holders)
    return {**drawn, "edges": edges, "sets": sets}


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
    counted: dict[int, Counter[int]] = {}  # of the states at an end, how many each SLS has

    def of_sls(end: int) -> Counter[int]:
        if end not in counted:
            counted[end] = Counter(index[states[number]["sls"]] for number in at(drawn, end))
        return counted[end]

    for edge in drawn["edges"]:
        for first, some in of_sls(edge["first"]).items():
            for then, others in of_sls(edge["then"]).items():
                new = {"first": first, "then": then, "kinds": {}, "count": 0}
                if first != then:
                    _merge(merged.setdefault((first, then), new), edge, some * others)
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


def _merge(into: dict[str, Any], edge: Mapping[str, Any], count: int) -> None:
    into["kinds"][edge["kind"]] = None
    into["count"] += count
    into["automatic"] = into.get("automatic", True) and edge["automatic"]
    into["cycle"] = into.get("cycle", False) or edge["cycle"]
