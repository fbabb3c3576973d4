# SPDX-License-Identifier: Apache-2.0
"""Automatic relationships: what state modules say they come after and before, as far as nothing
explicit forbids it.

They order states that make things, and nothing else: a target that is not declared is no mistake, a
cycle drops the automatic edge, and an order that serves them already stays as it is. Idea: Puppet's
autorequire.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from runner.language.compiler.ordering import Awaited, PrereqLook, awaited
from runner.model.chunk import Chunk, EdgeGroup, Edges, Relations
from runner.model.records import Record
from runner.model.requisite_kinds import AUTOMATIC, COMES_LAST, STANDS_FOR, WATCH

# functions that take things away; an order among them would be the wrong way round
TAKING = frozenset(
    """
    absent remove removed purged dead disabled unmounted missing tidied pruned not_cached
    fstab_absent options_absent sections_absent config_unset env_absent list_absent
    retention_schedule
    """.split()
)
# and one that makes what keeps a thing from being used
WITHOUT_ORDER = TAKING | {"masked"}
# functions that make nothing: they see what is there in their place
CHECKING = frozenset(("exists",))
# functions that keep what is at a path, and the argument that names it
KEEPING = {"file.copy": "source", "file.rename": "source", "file.hardlink": "target"}
# (number of the chunk, kind) -> (state module, ID or name) pairs
Hook = Callable[[int, str], Iterable[tuple[str, str]]]


class Link(Record):
    """The state at `first` comes before the one at `then`; `reacts`: and a change of it is told."""

    first: int
    then: int
    reacts: bool
    kind: str


def links(chunks: Sequence[Chunk], hooks: Sequence[tuple[str, ...]], ask: Hook) -> tuple[Link, ...]:
    """The links that the hooks ask for, among the states that make things; and those of states that
    come after all others of their module, which may take things away.

    hooks: the kinds that the module of each state has.
    """
    index: dict[tuple[str, str], list[int]] = {}
    making_nothing = WITHOUT_ORDER | CHECKING
    for number, chunk in enumerate(chunks):
        if chunk.fun not in making_nothing:
            names = {(chunk.state, chunk.id), (chunk.state, chunk.name)}
            if STANDS_FOR in hooks[number]:
                names.update(ask(number, STANDS_FOR))
            for name in names:
                index.setdefault(name, []).append(number)
    collected: dict[Link, None] = {}
    for number, chunk in enumerate(chunks):
        asking = hooks[number] if chunk.fun not in WITHOUT_ORDER else ()
        for kind in filter(AUTOMATIC.__contains__, asking):
            for name in ask(number, kind):
                for other in index.get(name, ()):
                    if other != number:
                        collected[_link(number, other, kind)] = None
    last = [number for number in range(len(chunks)) if COMES_LAST in hooks[number]]
    for number in last:
        for other, chunk in enumerate(chunks):
            if chunk.state == chunks[number].state and other not in last:
                collected[Link(other, number, False, COMES_LAST)] = None
    return tuple(collected)


def _link(own: int, other: int, kind: str) -> Link:
    first, then = (other, own) if AUTOMATIC[kind].comes_after else (own, other)
    return Link(first, then, AUTOMATIC[kind].reacts, kind)


def fitted(
    chunks: Sequence[Chunk], relations: Relations, nodes: Sequence[int], wanted: Iterable[Link]
) -> tuple[tuple[int, ...], tuple[Link, ...]]:
    """A sequence (with its prereq looks) changed by the links, and the links that hold: not what
    explicit relationships or earlier links forbid, nor what would undo an order that says something
    by itself. A look comes after what its state comes after.
    """
    position = {node: place for place, node in enumerate(nodes)}
    looked = {int(node) for node in nodes if isinstance(node, PrereqLook)}
    before: dict[int, set[int]] = {}
    fitting: list[Link] = []
    broken: list[tuple[Link, int]] = []
    for link in wanted:
        for then in _places(link, looked):
            if position[link.first] > position[then]:
                if not _goes_by_its_turn(chunks[link.first], chunks[then]):
                    broken.append((link, then))
                continue
            before.setdefault(link.first, set()).add(then)
            if then == link.then:
                fitting.append(link)
    if not broken:
        return tuple(nodes), tuple(fitting)
    for first, then in kept(chunks, nodes):
        before.setdefault(first, set()).add(then)
    sets = awaited(chunks, relations)
    sets_with: dict[int, list[Awaited]] = {}
    for each in sets:
        for node in each.nodes:
            sets_with.setdefault(node, []).append(each)
    for link, then in broken:
        if not _leads(then, link.first, before, sets_with):
            before.setdefault(link.first, set()).add(then)
            if then == link.then:
                fitting.append(link)
    return _sorted(nodes, before, sets), tuple(fitting)


def _goes_by_its_turn(first: Chunk, then: Chunk) -> bool:
    """Return whether what two states do depends on which of them has the first turn: one that
    alters all below its folder alters what the other put there, and a copy of a path has what is
    there before the state of that path changes it.
    """
    read = then.args.get(KEEPING.get(then.function, ""))
    return bool(first.args.get("recurse")) or read == first.name


def kept(chunks: Sequence[Chunk], nodes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield what keeps its order, as pairs of nodes: states of one name, as one may check, or take
    away, what the other makes; and a path after the one that makes its folder along the way
    (`makedirs`). Looks at them count as well.
    """
    last: dict[tuple[str, str], int] = {}
    makers: dict[str, int] = {}
    for node in nodes:
        chunk = chunks[node]
        folder = chunk.name.rpartition("/")[0]
        makes_folder = bool(chunk.args.get("makedirs"))
        if folder in makers and not makes_folder:
            yield makers[folder], node
        if (chunk.state, chunk.name) in last:
            yield last[chunk.state, chunk.name], node
        last[chunk.state, chunk.name] = node
        while folder and makes_folder and not isinstance(node, PrereqLook):
            makers.setdefault(folder, node)
            folder = folder.rpartition("/")[0]


def _places(link: Link, looked: Collection[int]) -> tuple[int, ...]:
    """The nodes that come after the first state of a link."""
    return (link.then, PrereqLook(link.then)) if link.then in looked else (link.then,)


def _leads(
    start: int, end: int, before: Mapping[int, set[int]], sets_with: Mapping[int, Sequence[Awaited]]
) -> bool:
    """Return whether one state comes before another already, through whatever is between them."""
    stack, seen = [start], {start}
    passed: set[int] = set()
    while stack:
        node = stack.pop()
        following = set(before.get(node, ()))
        for each in sets_with.get(node, ()):
            if id(each) not in passed:
                passed.add(id(each))
                following.update(each.after)
        if end in following:
            return True
        stack += following - seen
        seen |= following
    return False


class _Waiting:
    """Nodes that others wait for, in the order so far."""

    def __init__(self, nodes: Sequence[int]) -> None:
        self._nodes = nodes
        self._next = 0

    def missing(self, arranged: Collection[int]) -> Iterator[int]:
        """Yield the first that is not arranged yet."""
        while self._next < len(self._nodes) and self._nodes[self._next] in arranged:
            self._next += 1
        yield from self._nodes[self._next : self._next + 1]


def _sorted(
    order: Sequence[int], before: Mapping[int, set[int]], sets: Iterable[Awaited]
) -> tuple[int, ...]:
    """The order, changed no more than the links ask for: what a state waits for is pulled before
    it.
    """
    place = {node: number for number, node in enumerate(order)}
    alone: dict[int, list[int]] = {}
    for node in order:
        for following in before.get(node, ()):
            alone.setdefault(following, []).append(node)
    needs = {following: [_Waiting(nodes)] for following, nodes in alone.items()}
    for each in sets:
        nodes = _Waiting(sorted(each.nodes, key=place.__getitem__))
        for following in each.after:
            needs.setdefault(following, []).append(nodes)
    arranged: dict[int, None] = {}
    for node in order:
        stack = [node]
        while stack:
            missing = [
                other for each in needs.get(stack[-1], ()) for other in each.missing(arranged)
            ]
            if missing:
                stack.append(min(missing, key=place.__getitem__))
            else:
                arranged[stack.pop()] = None
    return tuple(arranged)


def reacting(relations: Relations, fitting: Iterable[Link], chunks: Sequence[Chunk]) -> Relations:
    """The relations with those links as watches that tell of changes; all of them noted as
    automatic.
    """
    fitting = tuple(fitting)
    by_holder = {holder: [*edges.groups] for holder, edges in relations.by_holder.items()}
    for link in fitting:
        if link.reacts:
            group = EdgeGroup(link.then, WATCH, (link.first,), chunks[link.then].place, True)
            by_holder.setdefault(link.then, []).append(group)
    frozen = {holder: Edges(groups) for holder, groups in by_holder.items()}
    automatic = tuple((link.first, link.then, link.kind) for link in fitting)
    return relations._replace(by_holder=frozen, automatic=automatic)
