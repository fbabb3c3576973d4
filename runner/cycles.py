"""States that wait for each other, told edge by edge. A helper of graph.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from runner.errors import Diagnostic
from runner.model import Chunk, Edge, Place

if TYPE_CHECKING:
    import networkx

MOST = 10  # edges of a cycle that are told one by one; larger ones are folded by SLS
LARGE = 300  # states of a knot in which the shortest cycle is looked for


def told(chunks: Sequence[Chunk], graph: networkx.DiGraph[int], said: Mapping[Place, str]) -> list[Diagnostic]:
    """One diagnostic for each knot of states that wait for each other. said: the chains of the tree by their places."""
    import networkx

    found: dict[frozenset[Edge], Diagnostic] = {}  # a prereq look makes a second knot of the same requisites
    for knot in networkx.strongly_connected_components(graph):
        if len(knot) > 1 or any(graph.has_edge(node, node) for node in knot):
            nodes = _shortest(graph.subgraph(knot))
            pairs = zip(nodes, [*nodes[1:], nodes[0]], strict=True)
            edges = list(dict.fromkeys(graph.edges[a, b]["edge"] for a, b in pairs))
            if frozenset(edges) not in found:
                found[frozenset(edges)] = _cycle(chunks, _as_read(edges), said)
    return list(found.values())


def _as_read(edges: list[Edge]) -> list[Edge]:
    """From a holder to what it waits for, beginning with the state that is declared first."""
    back = edges[::-1]
    first = min(range(len(back)), key=lambda index: back[index].holder)
    return back[first:] + back[:first]


def _shortest(knot: networkx.DiGraph[int]) -> list[int]:
    """The nodes of a cycle: the shortest, where that is not too much to look for; always the same one."""
    import networkx

    nodes = sorted(knot, key=int)
    if len(nodes) > LARGE:
        return [edge[0] for edge in networkx.find_cycle(knot, nodes[:1])]
    best: list[int] = []
    for node in nodes:
        near = networkx.single_source_shortest_path(knot, node)
        ways = [near[last] for last in knot.predecessors(node)]
        shortest = min(ways, key=len)
        best = shortest if not best or len(shortest) < len(best) else best
    return best


def _cycle(chunks: Sequence[Chunk], edges: list[Edge], said: Mapping[Place, str]) -> Diagnostic:
    folded = len(edges) > MOST
    lines = list(_folded(chunks, edges, said) if folded else (_line(chunks, edge, said) for edge in edges))
    chained = next((edge.place for edge in edges if any(mark in said.get(edge.place, "") for mark in "*?[")), None)
    text = f"{len(edges)} of them make one circle" if folded else ", ".join(_salts(chunks, edge) for edge in edges)
    hint = "that chain's glob means more than was meant" if chained else "take one of these requisites away"
    return Diagnostic(
        "".join([f"Recursive requisites were found: {text}", *(f"\n  {line}" for line in lines)]),
        (chained or edges[0].place).source,
        hint,
        "cycle",
    )


def _salts(chunks: Sequence[Chunk], edge: Edge) -> str:
    """An edge in Salt's words."""

    def shown(number: int) -> str:
        chunk = chunks[number]
        named = {"SLS": chunk.sls, "ID": chunk.id} | ({"NAME": chunk.name} if chunk.name != chunk.id else {})
        return str(named)

    return f"({shown(edge.holder)}, '{edge.kind}', {shown(edge.target)})"


def _line(chunks: Sequence[Chunk], edge: Edge, said: Mapping[Place, str]) -> str:
    by = f", by the chain {said[edge.place]!r}" if edge.place in said else ""
    holder, target = _name(chunks[edge.holder]), _name(chunks[edge.target])
    return f"{holder} has {edge.kind} on {target} ({edge.place.source}{by})"


def _name(chunk: Chunk) -> str:
    return f"{chunk.state}: {chunk.id}"


def _folded(chunks: Sequence[Chunk], edges: Sequence[Edge], said: Mapping[Place, str]) -> Iterator[str]:
    """What lies within one SLS on one line; what leads from one SLS to another as it is."""

    def home(edge: Edge) -> str | None:
        holder, target = chunks[edge.holder].sls, chunks[edge.target].sls
        return holder if holder == target else None

    start = next((i for i in range(len(edges)) if home(edges[i]) != home(edges[i - 1])), 0)
    for sls, group in groupby([*edges[start:], *edges[:start]], key=home):
        some = list(group)
        if sls is None or len(some) == 1:
            yield from (_line(chunks, edge, said) for edge in some)
            continue
        ends = f"from {_name(chunks[some[0].holder])} to {_name(chunks[some[-1].target])}"
        yield f"within SLS {sls}: {len(some)} requisites {ends} ({_places(some)})"


def _places(edges: Iterable[Edge]) -> str:
    """The file once, and the lines."""
    lines: dict[str, list[int]] = {}
    for source in (edge.place.source for edge in edges):
        lines.setdefault(source.file, []).append(source.line)
    return "; ".join(f"{file}:{','.join(str(each) for each in sorted(set(found)))}" for file, found in lines.items())
