# SPDX-License-Identifier: Apache-2.0
"""Edges -> the order of the run, and cycles. networkx is imported only when there are cycles to
tell.

A state runs after what it requires. Where nothing forces otherwise the order numbers hold, but a
state that others need takes their lowest number when that is lower than its own. Of the others only
those count whose kind of requisite is at least as strong as those of all that were defined before
them. A state with `prereq` runs before the state that it looks at, and after all that the look
needs. All of this was measured with Salt 3008 on random trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from runner.language.compiler import cycles
from runner.model.chunk import LAST, Chunk, Edge, Relations
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.model.places import Place
from runner.model.requisite_kinds import PREREQ, REQUIRE, WITHOUT_MOD_WATCH

# what a prereq looks at waits for the state that has the prereq, as if it required that
LATER, LOOK = REQUIRE.strength, PREREQ.strength


class PrereqLook(int):
    """The node of a prereq look at a chunk (the chunk itself is the plain number)."""

    def __hash__(self) -> int:
        return hash(("look", int(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrereqLook) and int(self) == int(other)

    __ne__ = object.__ne__


def sequence(
    chunks: Sequence[Chunk],
    relations: Relations,
    chains: Mapping[Place, str] | None = None,
    seed: str | None = None,
) -> tuple[int, ...]:
    """The positions of the chunks in the order in which they run, with the prereq looks as nodes of
    their own (`PrereqLook`).

    chains: the chains of the tree by their places. seed: of a random order of what nothing orders
    (`--shuffle`). Raises CompileError when the requisites form a cycle, naming each edge with its
    place.
    """
    if seed is not None:
        return _sorted(_shuffled(chunks, seed), relations, chains)
    if all(not edge.kind.orders or _is_met(chunks, edge) for edge in relations.edges):
        return tuple(range(len(chunks)))
    return _sorted(chunks, relations, chains)


def arrange(nodes: Iterable[int]) -> tuple[int, ...]:
    """A sequence without the looks."""
    return tuple(node for node in nodes if not isinstance(node, PrereqLook))


def looks(nodes: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The states that prereqs look at, by the state in whose place of a sequence the look
    stands.
    """
    by_follower: dict[int, tuple[int, ...]] = {}
    waiting: tuple[int, ...] = ()
    for node in nodes:
        if isinstance(node, PrereqLook):
            waiting = (*waiting, int(node))
        elif waiting:
            by_follower[node], waiting = waiting, ()
    return by_follower


def _shuffled(chunks: Sequence[Chunk], seed: str) -> list[Chunk]:
    """The chunks with random order numbers; what says `order:` itself keeps its own."""
    import random

    dice = random.Random(seed)
    drawn = [(chunk, dice.uniform(*NUMBERED)) for chunk in chunks]
    return [
        chunk if _ordered(chunk) else chunk._replace(order=place, explicit_order=place)
        for chunk, place in drawn
    ]


NUMBERED = (10_000, LAST)  # the numbers that states get which say none


def _ordered(chunk: Chunk) -> bool:
    return "order" in chunk.arg_places and not NUMBERED[0] <= chunk.order < NUMBERED[1]


def _is_met(chunks: Sequence[Chunk], edge: Edge) -> bool:
    """Return whether the order of definition serves an edge, and the edge asks for no other."""
    served = (
        edge.target < edge.holder
        and chunks[edge.holder].explicit_order >= chunks[edge.target].order
    )
    return served and not edge.kind.prepares


Arrow = tuple[int, int, Edge]  # (first, then, the requisite that asks for it)


def _looked(chunks: Sequence[Chunk], edges: Iterable[Edge]) -> dict[int, int]:
    """States that a prereq looks at -> where the first stands that says so, by definition."""
    looked: dict[int, int] = {}
    for edge in edges:
        if edge.kind.prepares:
            defined = chunks[edge.holder].defined
            looked[edge.target] = min(defined, looked.get(edge.target, defined))
    return looked


def _arrows(chunks: Sequence[Chunk], relations: Relations) -> Iterator[Arrow]:
    """Each pair (first, then) with the requisite that asks for it."""
    looked = _looked(chunks, relations.edges)
    for edge in relations.edges:
        if not edge.kind.orders:
            continue
        if edge.kind.prepares:
            yield PrereqLook(edge.target), edge.holder, edge
            yield edge.holder, edge.target, edge
            if edge.holder in looked and looked[edge.holder] < chunks[edge.holder].defined:
                yield PrereqLook(edge.target), PrereqLook(edge.holder), edge
            continue
        yield edge.target, edge.holder, edge
        if edge.holder in looked:
            yield edge.target, PrereqLook(edge.holder), edge


def pairs(chunks: Sequence[Chunk], relations: Relations) -> Iterator[tuple[int, int]]:
    """Each pair (first, then) of nodes that the requisites ask for."""
    return ((first, then) for first, then, _ in _arrows(chunks, relations))


def _inherited_order(holders: list[tuple[int, int, float]]) -> float:
    """The lowest order number that counts of those that wait for a state: (defined, minus strength,
    number) of each.
    """
    strongest, lowest = 0, float("inf")
    for _, strength, number in sorted(holders):
        if strength <= strongest:
            strongest, lowest = strength, min(lowest, number)
    return lowest


def _sorted(
    chunks: Sequence[Chunk], relations: Relations, chains: Mapping[Place, str] | None
) -> tuple[int, ...]:
    """A lexicographical topological sort by order numbers; of equals the one that comes first in
    `chunks`.
    """
    from heapq import heapify, heappop, heappush

    arrows = list(_arrows(chunks, relations))
    nodes = list(_nodes(chunks, relations))
    key = _OrderNumbers(chunks, arrows)
    after: dict[int, list[int]] = {}
    waits = dict.fromkeys(nodes, 0)
    for first, then in dict.fromkeys((first, then) for first, then, _ in arrows):
        after.setdefault(first, []).append(then)
        waits[then] += 1
    place = {node: number for number, node in enumerate(nodes)}
    ready = [(key(node), place[node], node) for node in nodes if not waits[node]]
    heapify(ready)
    arranged: list[int] = []
    while ready:
        node = heappop(ready)[2]
        arranged.append(node)
        for then in after.get(node, ()):
            waits[then] -= 1
            if not waits[then]:
                heappush(ready, (key(then), place[then], then))
    if len(arranged) < len(nodes):
        raise CompileError(_cycles(chunks, nodes, arrows, chains))
    _refuse_long_looks(relations, arranged)
    return tuple(arranged)


def _nodes(chunks: Sequence[Chunk], relations: Relations) -> Iterator[int]:
    looked = {edge.target for edge in relations.edges if edge.kind.prepares}
    for number in range(len(chunks)):
        if number in looked:
            yield PrereqLook(number)
        yield number


class _OrderNumbers:
    """The order number of each node when it is asked for: its own, or a lower one of those that
    need it.

    The number of a state that needs it counts without the part that its place among `names` adds,
    unless that state, or a look at it, was asked for before.
    """

    def __init__(self, chunks: Sequence[Chunk], arrows: list[Arrow]) -> None:
        self._chunks = chunks
        self._asked: set[int] = set()
        self._holders: dict[int, list[tuple[int, int, int]]] = {}
        for first, then, edge in arrows:
            strength = LATER if then == edge.target else edge.counts_as.strength
            self._holders.setdefault(first, []).append(
                (chunks[edge.holder].defined, -strength, int(then))
            )

    def __call__(self, node: int) -> float:
        self._asked.add(int(node))
        holders = [
            (defined, strength, self._number(holder))
            for defined, strength, holder in self._holders.get(node, ())
        ]
        return min(self._chunks[node].order, _inherited_order(holders))

    def _number(self, holder: int) -> float:
        chunk = self._chunks[holder]
        return chunk.order if holder in self._asked else chunk.explicit_order


def _cycles(
    chunks: Sequence[Chunk],
    nodes: list[int],
    arrows: list[Arrow],
    chains: Mapping[Place, str] | None,
) -> list[Diagnostic]:
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(
        sorted(nodes, key=lambda node: (isinstance(node, PrereqLook), chunks[node].defined))
    )
    for first, then, edge in _read(arrows, chunks):
        if not graph.has_edge(first, then):
            graph.add_edge(first, then, edge=edge)
    return cycles.told(chunks, graph, chains or {})


def _read(arrows: Sequence[Arrow], chunks: Sequence[Chunk]) -> list[Arrow]:
    """The arrows as Salt reads them: a look with what it needs at the first state that looks."""
    looked = _looked(chunks, (edge for _, _, edge in arrows))

    def place(arrow: Arrow) -> tuple[int, int]:
        _, then, edge = arrow
        if isinstance(then, PrereqLook):
            return looked[int(then)], LOOK
        return chunks[edge.holder].defined, edge.counts_as.strength

    return sorted(arrows, key=place)


LOOKS = 100  # a prereq looks at a state that looks at a state ...: so many in a row


def _refuse_long_looks(relations: Relations, order: Sequence[int]) -> None:
    """Each look of such a row is made anew for each state of it: a long one would take for ever."""
    deep: dict[int, int] = {}
    for node in reversed(order):
        for edge in relations.of(node) if not isinstance(node, PrereqLook) else ():
            if edge.kind.prepares:
                deep[node] = max(deep.get(node, 0), deep.get(edge.target, 0) + 1)
                if deep[node] > LOOKS:
                    message = f"more than {LOOKS} states look at each other in a row with prereq"
                    raise CompileError([Diagnostic(message, edge.place.source, code="prereq")])


def cyclic_edges(chunks: Sequence[Chunk], relations: Relations) -> list[frozenset[Edge]]:
    """The requisites of each group of states that wait for each other."""
    import networkx

    arrows = list(_arrows(chunks, relations))
    graph = networkx.DiGraph((first, then) for first, then, _ in arrows)
    groups = enumerate(networkx.strongly_connected_components(graph))
    group_of = {node: number for number, group in groups for node in group}
    edges_of: dict[int, set[Edge]] = {}
    for first, then, edge in arrows:
        if group_of[first] == group_of[then]:
            edges_of.setdefault(group_of[first], set()).add(edge)
    return [frozenset(edges) for edges in edges_of.values()]


def lowstate(
    chunks: Sequence[Chunk], relations: Relations, reacts: Callable[[str], bool]
) -> list[dict[str, object]]:
    """The chunks in Salt's shape and order; what a prereq looks at appears twice, as with Salt.

    reacts: whether a state module has a mod_watch; what the states of others watch, they require.
    """
    holders = {edge.holder for edge in relations.edges if edge.kind.prepares}
    looked = {edge.target for edge in relations.edges if edge.kind.prepares}
    marks = {"__prereq__": looked, "__prerequiring__": holders}
    shown = [
        dict(chunks[node].low)
        | {mark: True for mark, marked in marks.items() if int(node) in marked}
        for node in sequence(chunks, relations)
    ]
    for low in shown:
        for watch, require in WITHOUT_MOD_WATCH.items():
            if watch in low and not reacts(str(low["state"])):
                low[str(require)] = [*_listed(low.get(require)), *_listed(low.pop(watch))]
    return shown


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
