# SPDX-License-Identifier: Apache-2.0
"""States that wait for each other, told edge by edge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from runner.model.chunk import Chunk, Edge
from runner.model.diagnostics import Diagnostic
from runner.model.places import Place, item_place
from runner.model.requisite_kinds import REQUIRE

if TYPE_CHECKING:
    import networkx

Arrow = tuple[int, int, Edge]  # (first, then, the requisite that asks for it)

MOST = 10  # edges of a cycle that are told one by one; larger ones are folded by SLS
LARGE = 300  # states of a knot in which the shortest cycle is looked for


def told(
    chunks: Sequence[Chunk], graph: networkx.DiGraph[int], chains: Mapping[Place, str]
) -> list[Diagnostic]:
    """One diagnostic for each knot of states that wait for each other. chains: those of the tree by
    their places.
    """
    import networkx

    place = {node: number for number, node in enumerate(graph)}
    diagnostics: dict[
        frozenset[Edge], Diagnostic
    ] = {}  # a prereq look makes a second knot of the same requisites
    cyclic_edges = networkx.strongly_connected_components(graph)
    for knot in sorted(
        (sorted(knot, key=place.__getitem__) for knot in cyclic_edges),
        key=lambda knot: place[knot[0]],
    ):
        if len(knot) > 1 or graph.has_edge(knot[0], knot[0]):
            arrows = _circle(graph.subgraph(knot), knot)
            edges = frozenset(edge for _, _, edge in arrows)
            if edges not in diagnostics:
                diagnostics[edges] = _cycle(chunks, arrows, chains)
    return list(diagnostics.values())


def _circle(knot: networkx.DiGraph[int], nodes: list[int]) -> list[Arrow]:
    """A cycle: the one that Salt finds, or the shortest when that is long. It is always the same
    one.
    """
    import networkx

    circle = [edge[0] for edge in networkx.find_cycle(knot, nodes)]
    circle = circle if len(circle) <= MOST or len(nodes) > LARGE else _shortest(knot, nodes)
    pairs = zip(circle, [*circle[1:], circle[0]], strict=True)
    return [(first, then, knot.edges[first, then]["edge"]) for first, then in pairs]


def _shortest(knot: networkx.DiGraph[int], nodes: list[int]) -> list[int]:
    import networkx

    best: list[int] = []
    for node in nodes:
        near = networkx.single_source_shortest_path(knot, node)
        ways = [near[last] for last in knot.predecessors(node)]
        shortest = min(ways, key=len)
        best = shortest if not best or len(shortest) < len(best) else best
    return best


def _cycle(chunks: Sequence[Chunk], arrows: list[Arrow], chains: Mapping[Place, str]) -> Diagnostic:
    edges = _as_read([edge for _, _, edge in arrows])
    folded = len(edges) > MOST
    lines = list(
        _folded(chunks, edges, chains)
        if folded
        else (_line(chunks, edge, chains) for edge in edges)
    )
    lines = _few(lines, f"({len(lines) - MOST} more lines)")
    chained = next(
        (edge.place for edge in edges if any(mark in chains.get(edge.place, "") for mark in "*?[")),
        None,
    )
    text = (
        f"{len(edges)} of them make one circle"
        if folded
        else ", ".join(_salts(chunks, *arrow) for arrow in arrows)
    )
    hint = (
        "that chain's glob matches more than intended"
        if chained
        else _of_itself(chunks, edges[0]) or "remove one of these requisites"
    )
    return Diagnostic(
        "".join([f"Recursive requisites were found: {text}", *(f"\n  {line}" for line in lines)]),
        (chained or edges[0].place).source,
        hint,
        "cycle",
    )


def _of_itself(chunks: Sequence[Chunk], edge: Edge) -> str | None:
    """The cure for a requisite that means its own state; None for another one."""
    chunk = chunks[edge.holder]
    written = (each for each in chunk.requisites if each.place == edge.place)
    requisite = next(written, None) if edge.holder == edge.target else None
    if requisite is None:
        return None
    word = f"{requisite.state}: {requisite.target}" if requisite.state else requisite.target
    given = chunk.low.get(edge.kind.in_key)
    for number, entry in enumerate(given if isinstance(given, list) else []):
        if isinstance(entry, dict) and item_place(given, number, chunk.place) == edge.place:
            word = ", ".join(f"{state}: {name}" for state, name in entry.items())
    if word.startswith("sls: "):
        return f"`{word}` brings this state, too: name the states of it that are meant"
    others = [
        other
        for other in chunks
        if other is not chunk and requisite.target in (other.id, other.name)
    ]
    which = "ID" if requisite.target == chunk.id else "name"
    meant = [other for other in others if other.state != chunk.state]
    if meant:
        other = f"{meant[0].state}: {requisite.target}"
        return f"`{word}` is this state itself, by its {which}; `- {other}` is another one"
    if others:
        place = others[0].place
        return (
            f"`{word}` is this state, by its {which}, as well as the one at {place}: give one of"
            " them another ID or name, and refer to that"
        )
    return f"`{word}` is this state itself, by its {which}: name the other one, or remove it"


def _as_read(edges: list[Edge]) -> list[Edge]:
    """Each edge once, from a holder to what it waits for, beginning with the state that is declared
    first.
    """
    back = list(dict.fromkeys(edges))[::-1]
    first = min(range(len(back)), key=lambda index: back[index].holder)
    return back[first:] + back[:first]


def _salts(chunks: Sequence[Chunk], first: int, then: int, edge: Edge) -> str:
    """An arrow in Salt's words: what a prereq prepares requires its holder, where it requires
    anything.
    """

    def shown(number: int) -> str:
        chunk = chunks[number]
        named = {"SLS": chunk.sls, "ID": chunk.id} | (
            {"NAME": chunk.name} if chunk.name != chunk.id else {}
        )
        return str(named)

    requires = then == edge.target and any(
        requisite.kind == REQUIRE for requisite in chunks[then].requisites
    )
    kind = REQUIRE if edge.kind.prepares and requires else edge.counts_as
    return f"({shown(then)}, '{kind}', {shown(first)})"


def _line(chunks: Sequence[Chunk], edge: Edge, chains: Mapping[Place, str]) -> str:
    by = f", by the chain {chains[edge.place]!r}" if edge.place in chains else ""
    holder, target = _name(chunks, edge.holder), _name(chunks, edge.target)
    return f"{holder} has {edge.kind} on {target} ({edge.place}{by})"


def _name(chunks: Sequence[Chunk], number: int) -> str:
    chunk = chunks[number]
    several = any(
        other.id == chunk.id and other.state == chunk.state
        for other in chunks
        if other is not chunk
    )
    return f"{chunk.state}: {chunk.id}" + (f" ({chunk.name})" if several else "")


def _folded(
    chunks: Sequence[Chunk], edges: Sequence[Edge], chains: Mapping[Place, str]
) -> Iterator[str]:
    """Lines of a cycle: one for what lies within an SLS, one for each edge between two of them."""

    def home(edge: Edge) -> str | None:
        holder, target = chunks[edge.holder].sls, chunks[edge.target].sls
        return holder if holder == target else None

    start = next((i for i in range(len(edges)) if home(edges[i]) != home(edges[i - 1])), 0)
    for sls, group in groupby([*edges[start:], *edges[:start]], key=home):
        some = list(group)
        if sls is None or len(some) == 1:
            yield from (_line(chunks, edge, chains) for edge in some)
            continue
        ends = f"from {_name(chunks, some[0].holder)} to {_name(chunks, some[-1].target)}"
        yield f"within SLS {sls}: {len(some)} requisites {ends} ({_places(some)})"


def _few(parts: list[str], between: str) -> list[str]:
    """The first and the last of many parts."""
    half = MOST // 2
    return parts if len(parts) <= MOST else [*parts[:half], between, *parts[-half:]]


def _places(edges: Iterable[Edge]) -> str:
    """The file once, and the lines."""
    lines: dict[str, list[int]] = {}
    for source in (edge.place.source for edge in edges):
        lines.setdefault(source.file, []).append(source.line)
    return "; ".join(
        f"{file}:{','.join(_few([str(number) for number in sorted(set(numbers))], '...'))}"
        for file, numbers in lines.items()
    )
