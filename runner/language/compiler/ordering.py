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

import heapq
import random
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    waiting: list[int] = []
    for node in nodes:
        if isinstance(node, PrereqLook):
            waiting.append(int(node))
        elif waiting:
            by_follower[node], waiting = tuple(waiting), []
    return by_follower


def _shuffled(chunks: Sequence[Chunk], seed: str) -> list[Chunk]:
    """The chunks with random order numbers; what says `order:` itself keeps its own."""
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
    of_set: dict[int, tuple[int, float]] = {}  # the last of it, and the highest order number
    for group in relations.edges.groups:
        if not group.kind.orders:
            continue
        if group.kind.prepares:
            return False
        targets = group.targets
        if id(targets) not in of_set:
            of_set[id(targets)] = max(targets), max(chunks[target].order for target in targets)
        last, highest = of_set[id(targets)]
        if last >= group.holder or chunks[group.holder].explicit_order < highest:
            return False
    return True


Arrow = tuple[int, int, Edge]  # (first, then, the requisite that asks for it)


class Awaited:
    """Nodes that others wait for together: all that one requisite stands for, or the states that
    have a prereq on the same ones. said_by: of these, where each says so.
    """

    def __init__(self, nodes: Iterable[int], said_by: Mapping[int, int] | None = None) -> None:
        self.nodes = tuple(nodes)
        self.left = len(self.nodes)  # that are still to come
        self.after: dict[int, tuple[int, int]] = {}  # who waits -> where the first one says so
        # who is to come, by the strengths of their requisites; where they are defined
        self.holders: dict[int, list[tuple[int, int]]] = {}
        self._said_by = said_by

    def let(self, then: int, place: tuple[int, int]) -> None:
        """Note that a node waits."""
        self.after.setdefault(then, place)

    def place(self, last: int, then: int) -> tuple[int, int]:
        """Where it is said that a node waits for the last of these that came."""
        first, second = self.after[then]
        return (first if self._said_by is None else self._said_by[last]), second


def _looked(chunks: Sequence[Chunk], relations: Relations) -> dict[int, int]:
    """States that a prereq looks at -> where the first stands that says so, by definition."""
    first: dict[int, tuple[tuple[int, ...], int]] = {}
    for group in relations.preparing:
        defined = chunks[group.holder].defined
        _, before = first.get(id(group.targets), ((), defined))
        first[id(group.targets)] = group.targets, min(defined, before)
    looked: dict[int, int] = {}
    for targets, defined in first.values():
        for target in targets:
            looked[target] = min(defined, looked.get(target, defined))
    return looked


def awaited(chunks: Sequence[Chunk], relations: Relations) -> list[Awaited]:
    """All that the requisites order, by what is waited for."""
    looked = _looked(chunks, relations)
    sets: dict[tuple[int, bool], Awaited] = {}
    preparing: dict[int, dict[int, EdgeGroup]] = {}  # by the targets, by where they stand
    for number, group in enumerate(relations.edges.groups):
        if not group.kind.orders:
            continue
        holder, targets, prepares = group.holder, group.targets, group.kind.prepares
        key = id(targets), prepares
        if key not in sets:
            sets[key] = Awaited(map(PrereqLook, targets) if prepares else targets)
        defined = chunks[holder].defined
        sets[key].let(holder, (number, 0))
        if holder in looked and (not prepares or looked[holder] < defined):
            sets[key].let(PrereqLook(holder), (number, 1))
        strengths = sets[key].holders
        strengths.setdefault(group.counts_as.strength, []).append((defined, holder))
        if prepares:
            preparing.setdefault(id(targets), {})[number] = group
    return [*sets.values(), *map(_prepared, preparing.values())]


def _prepared(groups: Mapping[int, EdgeGroup]) -> Awaited:
    """The states that look at the same ones, which wait for them. groups: by where they stand."""
    said_by: dict[int, int] = {}
    for number, group in groups.items():
        said_by.setdefault(group.holder, number)
    preparing = Awaited(said_by, said_by)
    targets = next(iter(groups.values())).targets
    for number, target in enumerate(targets):
        preparing.let(target, (0, number))
    preparing.holders[LATER] = [(OWN, target) for target in targets]
    return preparing


def _arrows(chunks: Sequence[Chunk], relations: Relations) -> Iterator[Arrow]:
    """Each pair (first, then) with the requisite that asks for it."""
    looked = _looked(chunks, relations)
    for group in relations.edges.groups:
        holder = group.holder
        if not group.kind.orders:
            continue
        if group.kind.prepares:
            for edge in group.edges():
                yield PrereqLook(edge.target), holder, edge
                yield holder, edge.target, edge
                if holder in looked and looked[holder] < chunks[holder].defined:
                    yield PrereqLook(edge.target), PrereqLook(holder), edge
            continue
        for then in (holder, PrereqLook(holder)) if holder in looked else (holder,):
            for edge in group.edges():
                yield edge.target, then, edge


def _sorted(
    chunks: Sequence[Chunk], relations: Relations, chains: Mapping[Place, str] | None
) -> tuple[int, ...]:
    """A lexicographical topological sort by order numbers; of equals the one that comes first in
    `chunks`.
    """
    nodes = list(_nodes(chunks, relations))
    sets = awaited(chunks, relations)
    key = _OrderNumbers(chunks, sets)
    waits = dict.fromkeys(nodes, 0)  # for so many sets of nodes
    sets_with: dict[int, list[Awaited]] = {}
    for each in sets:
        for then in each.after:
            waits[then] += 1
        for node in each.nodes:
            sets_with.setdefault(node, []).append(each)
    place = {node: number for number, node in enumerate(nodes)}
    ready = [(key(node), place[node], node) for node in nodes if not waits[node]]
    heapq.heapify(ready)
    arranged: list[int] = []
    while ready:
        node = heapq.heappop(ready)[2]
        arranged.append(node)
        for then, ended in _released(node, sets_with.get(node, ())):
            waits[then] -= ended
            if not waits[then]:
                heapq.heappush(ready, (key(then), place[then], then))
    if len(arranged) < len(nodes):
        raise CompileError(_cycles(chunks, nodes, list(_arrows(chunks, relations)), chains))
    _refuse_long_looks(relations, arranged)
    return tuple(arranged)


def _released(node: int, sets: Iterable[Awaited]) -> list[tuple[int, int]]:
    """The nodes that wait for some sets less, as a node of these has come, and for how many; in the
    order of their requisites.
    """
    ended: dict[int, list[tuple[int, int]]] = {}
    for each in sets:
        each.left -= 1
        if not each.left:
            for then in each.after:
                ended.setdefault(then, []).append(each.place(node, then))
    by_place = sorted((min(places), then, len(places)) for then, places in ended.items())
    return [(then, count) for _, then, count in by_place]


def _nodes(chunks: Sequence[Chunk], relations: Relations) -> Iterator[int]:
    looked = relations.looked_at
    for number in range(len(chunks)):
        if number in looked:
            yield PrereqLook(number)
        yield number


class _OrderNumbers:
    """The order number of each node when it is asked for: its own, or a lower one of those that
    need it. Of these only those count whose requisite is as strong as those of all that are defined
    before them.

    The number of a state that needs it counts without the part that its place among `names` adds,
    unless that state, or a look at it, was asked for before.
    """

    def __init__(self, chunks: Sequence[Chunk], sets: Iterable[Awaited]) -> None:
        self._chunks = chunks
        self._asked: set[int] = set()
        # by the node: the holders of each of its sets, by strengths
        self._holders: dict[int, list[Mapping[int, _Holders]]] = {}
        self._places: dict[int, list[tuple[_Holders, int]]] = {}
        for each in sets:
            of_set = {
                strength: self._made(sorted(holders)) for strength, holders in each.holders.items()
            }
            for node in each.nodes:
                self._holders.setdefault(node, []).append(of_set)

    def _made(self, holders: Sequence[tuple[int, int]]) -> _Holders:
        numbers = [self._chunks[holder].explicit_order for _, holder in holders]
        made = _Holders([defined for defined, _ in holders], numbers)
        for place, (_, holder) in enumerate(holders):
            if self._chunks[holder].order != numbers[place]:
                self._places.setdefault(holder, []).append((made, place))
        return made

    def __call__(self, node: int) -> float:
        chunk = self._chunks[node]
        if int(node) not in self._asked:
            self._asked.add(int(node))
            for holders, place in self._places.get(int(node), ()):
                holders.rise(place, chunk.order)
        sets = self._holders.get(node, ())
        lowest, limit = chunk.order, float("inf")
        for strength in sorted({each for of_set in sets for each in of_set}, reverse=True):
            of_strength = [of_set[strength] for of_set in sets if strength in of_set]
            found = [holders.first(limit, chunk.defined) for holders in of_strength]
            lowest = min(lowest, *found)
            limit = min(limit, *(holders.begin(chunk.defined) for holders in of_strength))
        return lowest


OWN = -1  # of those that wait for a state because of its own prereq: defined where that is


class _Holders:
    """States that wait for one set by requisites of one strength, in the order of their definition,
    with their order numbers: a tree of minimums.
    """

    def __init__(self, defined: Sequence[int], numbers: Sequence[float]) -> None:
        self._defined = defined
        self._tree = [*numbers, *numbers]
        for place in range(len(numbers) - 1, 0, -1):
            self._tree[place] = min(self._tree[2 * place], self._tree[2 * place + 1])

    def begin(self, own: int) -> int:
        """Where the first of them is defined. own: where the state is that they wait for."""
        return own if self._defined[0] == OWN else self._defined[0]

    def rise(self, place: int, number: float) -> None:
        """Change a number."""
        place += len(self._defined)
        self._tree[place] = number
        while place > 1:
            place //= 2
            self._tree[place] = min(self._tree[2 * place], self._tree[2 * place + 1])

    def first(self, limit: float, own: int) -> float:
        """The lowest number of those that are defined before a limit. own: as of `begin`."""
        if self._defined[0] == OWN:
            begin, end = 0, len(self._defined) if own < limit else 0
        else:
            begin, end = 0, bisect_left(self._defined, limit)
        begin, end, lowest = begin + len(self._defined), end + len(self._defined), float("inf")
        while begin < end:
            if begin & 1:
                lowest, begin = min(lowest, self._tree[begin]), begin + 1
            if end & 1:
                end -= 1
                lowest = min(lowest, self._tree[end])
            begin, end = begin // 2, end // 2
        return lowest


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
    looked: dict[int, int] = {}
    for _, _, edge in arrows:
        if edge.kind.prepares:
            defined = chunks[edge.holder].defined
            looked[edge.target] = min(defined, looked.get(edge.target, defined))

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
    of_set: dict[int, int] = {}
    preparing: dict[int, list[EdgeGroup]] = {}
    for group in relations.preparing:
        preparing.setdefault(group.holder, []).append(group)
    for node in reversed(order) if preparing else ():
        if isinstance(node, PrereqLook):
            continue
        for group in preparing.get(node, ()):
            if id(group.targets) not in of_set:
                deepest = max(deep.get(target, 0) for target in group.targets)
                of_set[id(group.targets)] = deepest + 1
            deep[node] = max(deep.get(node, 0), of_set[id(group.targets)])
            if deep[node] > LOOKS:
                message = f"more than {LOOKS} states look at each other in a row with prereq"
                raise CompileError([Diagnostic(message, group.place.source, code="prereq")])


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
    holders = {group.holder for group in relations.preparing}
    marks = {"__prereq__": relations.looked_at, "__prerequiring__": holders}
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
