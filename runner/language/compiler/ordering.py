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
from itertools import repeat

from runner.language.compiler import cycles
from runner.model.chunk import LAST, Chunk, Edge, EdgeGroup, Relations
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
    if _are_met(chunks, relations):
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


def _are_met(chunks: Sequence[Chunk], relations: Relations) -> bool:
    """Return whether the order of definition serves all requisites, and none asks for another."""
    latest: dict[tuple[int, ...], float] = {}
    for group in relations.edges.groups:
        if not group.kind.orders:
            continue
        targets = group.targets
        if group.kind.prepares or max(targets) >= group.holder:
            return False
        if targets not in latest:
            latest[targets] = max(chunks[target].order for target in targets)
        if chunks[group.holder].explicit_order < latest[targets]:
            return False
    return True


Arrow = tuple[int, int, Edge]  # (first, then, the requisite that asks for it)
Sheaf = tuple[tuple[int, ...], int, EdgeGroup]  # the same of all that run first


def _looked(chunks: Sequence[Chunk], edges: Iterable[Edge]) -> dict[int, int]:
    """States that a prereq looks at -> where the first stands that says so, by definition."""
    looked: dict[int, int] = {}
    for edge in edges:
        if edge.kind.prepares:
            defined = chunks[edge.holder].defined
            looked[edge.target] = min(defined, looked.get(edge.target, defined))
    return looked


def _sheaves(chunks: Sequence[Chunk], relations: Relations) -> Iterator[Sheaf]:
    """Each requisite that orders, with what runs first and what then."""
    looked = _looked(chunks, relations.preparing)
    for group in relations.edges.groups:
        if not group.kind.orders:
            continue
        holder = group.holder
        if group.kind.prepares:
            for alone in group.alone():
                (target,) = alone.targets
                yield (PrereqLook(target),), holder, alone
                yield (holder,), target, alone
                if holder in looked and looked[holder] < chunks[holder].defined:
                    yield (PrereqLook(target),), PrereqLook(holder), alone
            continue
        yield group.targets, holder, group
        if holder in looked:
            yield group.targets, PrereqLook(holder), group


def _arrows(chunks: Sequence[Chunk], relations: Relations) -> Iterator[Arrow]:
    """Each pair (first, then) with the requisite that asks for it."""
    for firsts, then, group in _sheaves(chunks, relations):
        edges = repeat(group.edge(0)) if group.kind.prepares else group.edges()
        for first, edge in zip(firsts, edges, strict=False):
            yield first, then, edge


def pairs(chunks: Sequence[Chunk], relations: Relations) -> Iterator[tuple[int, int]]:
    """Each pair (first, then) of nodes that the requisites ask for."""
    sheaves = _sheaves(chunks, relations)
    return ((first, then) for firsts, then, _ in sheaves for first in firsts)


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

    nodes = list(_nodes(chunks, relations))
    sheaves = list(_sheaves(chunks, relations))
    key = _OrderNumbers(chunks, sheaves)
    waits = dict.fromkeys(nodes, 0)  # for so many sets of states
    open_sets: dict[tuple[int, ...], _OpenSet] = {}
    sets_with: dict[int, list[_OpenSet]] = {}
    for number, (firsts, then, _) in enumerate(sheaves):
        if firsts not in open_sets:
            open_sets[firsts] = awaited = _OpenSet(len(firsts))
            for first in firsts:
                sets_with.setdefault(first, []).append(awaited)
        if open_sets[firsts].let(then, number):
            waits[then] += 1
    place = {node: number for number, node in enumerate(nodes)}
    ready = [(key(node), place[node], node) for node in nodes if not waits[node]]
    heapify(ready)
    arranged: list[int] = []
    while ready:
        node = heappop(ready)[2]
        arranged.append(node)
        for then, ended in _released(sets_with.get(node, ())):
            waits[then] -= ended
            if not waits[then]:
                heappush(ready, (key(then), place[then], then))
    if len(arranged) < len(nodes):
        raise CompileError(_cycles(chunks, nodes, list(_arrows(chunks, relations)), chains))
    _refuse_long_looks(relations, arranged)
    return tuple(arranged)


class _OpenSet:
    """States that others wait for together. left: those that are still to come."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.after: dict[int, int] = {}  # a state that waits -> where its first requisite stands

    def let(self, then: int, number: int) -> bool:
        """Note that a state waits; whether it did not already."""
        is_new = then not in self.after
        self.after.setdefault(then, number)
        return is_new


def _released(sets: Iterable[_OpenSet]) -> list[tuple[int, int]]:
    """The states that wait for some sets less, as a state of these has come, and for how many; in
    the order of their requisites.
    """
    ended: dict[int, list[int]] = {}
    for awaited in sets:
        awaited.left -= 1
        if not awaited.left:
            for then, number in awaited.after.items():
                ended.setdefault(then, []).append(number)
    by_place = sorted((min(numbers), then, len(numbers)) for then, numbers in ended.items())
    return [(then, count) for _, then, count in by_place]


def _nodes(chunks: Sequence[Chunk], relations: Relations) -> Iterator[int]:
    looked = {edge.target for edge in relations.preparing}
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

    def __init__(self, chunks: Sequence[Chunk], sheaves: Iterable[Sheaf]) -> None:
        self._chunks = chunks
        self._asked: set[int] = set()
        by_set: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        self._holders: dict[int, list[list[tuple[int, int, int]]]] = {}
        strengths = set()
        for firsts, then, group in sheaves:
            is_later = group.kind.prepares and then == group.targets[0]
            strength = LATER if is_later else group.counts_as.strength
            strengths.add(None if group.kind.prepares else strength)
            if firsts not in by_set:
                by_set[firsts] = []
                for first in firsts:
                    self._holders.setdefault(first, []).append(by_set[firsts])
            by_set[firsts].append((chunks[group.holder].defined, -strength, int(then)))
        # where all are of one strength, and no look is asked for, the lowest counts
        self._is_plain = len(strengths) == 1 and None not in strengths
        self._lowest: dict[int, float] = {}  # by the list of a set

    def __call__(self, node: int) -> float:
        self._asked.add(int(node))
        sets = self._holders.get(node, ())
        own = self._chunks[node].order
        if self._is_plain:
            return min([own, *map(self._lowest_of, sets)])
        holders = [
            (defined, strength, self._number(holder))
            for of_set in sets
            for defined, strength, holder in of_set
        ]
        return min(own, _inherited_order(holders))

    def _lowest_of(self, holders: list[tuple[int, int, int]]) -> float:
        """The lowest number of states that wait for a set."""
        if id(holders) not in self._lowest:
            numbers = (self._chunks[holder].explicit_order for _, _, holder in holders)
            self._lowest[id(holders)] = min(numbers)
        return self._lowest[id(holders)]

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
    preparing: dict[int, list[Edge]] = {}
    for edge in relations.preparing:
        preparing.setdefault(edge.holder, []).append(edge)
    for node in reversed(order) if preparing else ():
        if not isinstance(node, PrereqLook):
            for edge in preparing.get(node, ()):
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
    holders = {edge.holder for edge in relations.preparing}
    looked = {edge.target for edge in relations.preparing}
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
