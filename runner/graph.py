"""Edges -> the order of the run; cycles; DOT. networkx is imported only when there is something to work on.

A state runs after what it requires. Where nothing forces otherwise the order numbers hold, but a state that others
need takes their lowest number when that is lower than its own (of the others only those with the strongest kind of
requisite count: measured with Salt 3008). A state with `prereq` runs before the state that it looks at, and
after all that the look needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from runner.errors import CompileError, Diagnostic
from runner.model import Chunk, Edge, Kind, Relations

if TYPE_CHECKING:
    import networkx


STRENGTH = {
    Kind.ONFAIL: 0,
    Kind.ONFAIL_ANY: 1,
    Kind.ONFAIL_ALL: 1,
    Kind.REQUIRE: 2,
    Kind.ONCHANGES: 3,
    Kind.REQUIRE_ANY: 3,
    Kind.ONCHANGES_ANY: 4,
    Kind.WATCH: 5,
    Kind.WATCH_ANY: 5,
    Kind.PREREQ: 6,
}


class Looked(int):
    """The node of a prereq look at a chunk (the chunk itself is the plain number)."""

    def __hash__(self) -> int:
        return hash(("look", int(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Looked) and int(self) == int(other)

    __ne__ = object.__ne__


def arrange(chunks: Sequence[Chunk], relations: Relations) -> tuple[int, ...]:
    """The positions of the chunks in the order in which they run.

    Raises CompileError when the requisites form a cycle, naming each edge with its place.
    """
    return tuple(node for node in sequence(chunks, relations) if not isinstance(node, Looked))


def sequence(chunks: Sequence[Chunk], relations: Relations) -> tuple[int, ...]:
    """The order with the prereq looks as nodes of their own (`Looked`)."""
    if all(edge.kind is Kind.LISTEN or _is_met(chunks, edge) for edge in relations.edges):
        return tuple(range(len(chunks)))
    return _sorted(chunks, relations)


def _is_met(chunks: Sequence[Chunk], edge: Edge) -> bool:
    """Whether the order of definition serves an edge, and the edge asks for no other."""
    served = edge.target < edge.holder and chunks[edge.holder].wanted >= chunks[edge.target].order
    return served and edge.kind is not Kind.PREREQ


def _arrows(relations: Relations) -> Iterator[tuple[int, int, Edge]]:
    """Each pair (first, then) with the requisite that asks for it."""
    looked = {edge.target for edge in relations.edges if edge.kind is Kind.PREREQ}
    for edge in relations.edges:
        if edge.kind is Kind.LISTEN:
            continue
        if edge.kind is Kind.PREREQ:
            yield Looked(edge.target), edge.holder, edge
            yield edge.holder, edge.target, edge
            if edge.holder in looked:
                yield Looked(edge.target), Looked(edge.holder), edge
            continue
        yield edge.target, edge.holder, edge
        if edge.holder in looked:
            yield edge.target, Looked(edge.holder), edge


def _sorted(chunks: Sequence[Chunk], relations: Relations) -> tuple[int, ...]:
    import networkx

    graph = networkx.DiGraph()
    looked = {edge.target for edge in relations.edges if edge.kind is Kind.PREREQ}
    for number in range(len(chunks)):
        if number in looked:
            graph.add_node(Looked(number))
        graph.add_node(number)
    strongest: dict[int, tuple[int, float]] = {}
    for first, then, edge in _arrows(relations):
        graph.add_edge(first, then, edge=edge)
        strength, lowest = strongest.get(first, (-1, 0.0))
        if STRENGTH[edge.kind] > strength:
            strength, lowest = STRENGTH[edge.kind], float("inf")
        if STRENGTH[edge.kind] == strength:
            strongest[first] = (strength, min(lowest, chunks[then].wanted))
    key = {node: min(chunks[node].order, strongest[node][1] if node in strongest else float("inf")) for node in graph}
    try:
        return tuple(networkx.lexicographical_topological_sort(graph, key=key.__getitem__))
    except networkx.NetworkXUnfeasible:
        raise CompileError(cycles(chunks, graph)) from None


def cycles(chunks: Sequence[Chunk], graph: networkx.DiGraph[int]) -> list[Diagnostic]:
    """One diagnostic for each knot of states that wait for each other."""
    import networkx

    found = []
    for knot in networkx.strongly_connected_components(graph):
        if len(knot) > 1 or any(graph.has_edge(node, node) for node in knot):
            edges = [graph.edges[a, b]["edge"] for a, b in networkx.find_cycle(graph, [min(knot, key=int)])]
            found.append(_cycle(chunks, list(dict.fromkeys(edges))))
    return found


def _cycle(chunks: Sequence[Chunk], edges: list[Edge]) -> Diagnostic:
    def shown(number: int) -> str:
        chunk = chunks[number]
        named = {"SLS": chunk.sls, "ID": chunk.id} | ({"NAME": chunk.name} if chunk.name != chunk.id else {})
        return str(named)

    text = ", ".join(f"({shown(edge.holder)}, '{edge.kind}', {shown(edge.target)})" for edge in edges)
    lines = "".join(
        f"\n  {chunks[edge.holder].state}: {chunks[edge.holder].id} has {edge.kind} on "
        f"{chunks[edge.target].state}: {chunks[edge.target].id} ({edge.place.source})"
        for edge in edges
    )
    return Diagnostic(
        f"Recursive requisites were found: {text}{lines}",
        edges[0].place.source,
        "take one of these requisites away",
        "cycle",
    )


def dot(chunks: Sequence[Chunk], relations: Relations) -> str:
    """The graph in the DOT language: an arrow from what runs first to what waits for it."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = ["digraph states {", "  rankdir=LR;", "  node [shape=box];"]
    for number, chunk in enumerate(chunks):
        lines.append(f"  n{number} [label={quoted(f'{chunk.function}: {chunk.id}')}];")
    for edge in relations.edges:
        lines.append(f"  n{edge.target} -> n{edge.holder} [label={quoted(edge.kind)}];")
    return "\n".join([*lines, "}"]) + "\n"


def lowstate(chunks: Sequence[Chunk], relations: Relations) -> list[dict[str, object]]:
    """The chunks in Salt's shape and order; what a prereq looks at stands twice, as with Salt."""
    holders = {edge.holder for edge in relations.edges if edge.kind is Kind.PREREQ}
    looked = {edge.target for edge in relations.edges if edge.kind is Kind.PREREQ}
    marks = {number: {"__prereq__": True} for number in looked} | {
        number: {"__prerequiring__": True} for number in holders - looked
    }
    return [dict(chunks[node].low) | marks.get(int(node), {}) for node in sequence(chunks, relations)]
