# SPDX-License-Identifier: Apache-2.0
"""Chunks -> edges: what each requisite refers to, by ID, name, glob, SLS."""

from __future__ import annotations

import fnmatch
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, takewhile

from runner.model.chunk import Chunk, EdgeGroup, Edges, Relations, Requisite, Requisites
from runner.model.diagnostics import Diagnostic, Hint, near_sls, similar, suggested
from runner.model.highdata import from_puppet_syntax
from runner.model.places import Place, item_place
from runner.model.requisite_kinds import RESOLVED, WITHOUT_MOD_WATCH, RequisiteKind
from runner.model.stdlib import like, pattern

HINTS = 100  # targets that get one: to look for what is alike takes as long as the states are many


class Index:
    """Finds chunks by what a requisite may say."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._by_id: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._by_state: dict[str, list[int]] = defaultdict(list)
        self._by_sls: dict[str, list[int]] = defaultdict(list)
        self._sorted: dict[str, list[tuple[str, int]]] = {}  # by state: IDs and names, for globs
        self._found: dict[tuple[str, str], tuple[int, ...]] = {}
        self._hints: dict[tuple[str, str], Hint] = {}
        for number, chunk in enumerate(chunks):
            state = chunk.state
            alone = chunk.name == chunk.id or chunk.given_name is None
            for known in (chunk.id,) if alone else (chunk.id, chunk.name):
                self._by_id[state, known].append(number)
                self._by_id["id", known].append(number)
            self._by_state[state].append(number)
            for sls in (chunk.sls, *chunk.low.get("__sls_included_from__", ())):
                self._by_sls[sls].append(number)

    def find(self, state: str, target: str) -> tuple[int, ...]:
        """The chunks that `- state: target` means."""
        asked = (state, target)
        if asked not in self._found:
            self._found[asked] = tuple(dict.fromkeys(self._find(state, target)))
        return self._found[asked]

    def _find(self, state: str, target: str) -> list[int]:
        numbers = self._by_sls.get(target) if state == "sls" else self._by_id.get((state, target))
        if numbers:
            return numbers
        if state == "sls":
            return sorted(
                {number for name in like(self._by_sls, target) for number in self._by_sls[name]}
            )
        return self._matching(state, target)

    def _matching(self, state: str, target: str) -> list[int]:
        """The chunks whose ID or name a glob matches; it tries only those that begin alike."""
        names = self._names(state)
        begin = pattern(r"[*?[]").split(target, 1)[0]
        matches = pattern(fnmatch.translate(target)).match
        following = islice(names, bisect_left(names, (begin, 0)), None)
        beginning = takewhile(lambda pair: pair[0].startswith(begin), following)
        return sorted({number for name, number in beginning if matches(name)})

    def _names(self, state: str) -> list[tuple[str, int]]:
        if state not in self._sorted:
            numbers = range(len(self._chunks)) if state == "id" else self._by_state.get(state, [])
            named = [(self._chunks[number].name, number) for number in numbers]
            self._sorted[state] = sorted(
                {*((self._chunks[number].id, number) for number in numbers), *named}
            )
        return self._sorted[state]

    def near(self, state: str, target: str) -> Hint:
        """A hint naming what was probably meant."""
        if (state, target) not in self._hints:
            self._hints[state, target] = (
                self._near(state, target) if len(self._hints) < HINTS else Hint()
            )
        return self._hints[state, target]

    def _near(self, state: str, target: str) -> Hint:
        puppets = from_puppet_syntax(target)
        if puppets:
            return Hint(f"that is Puppet's way; write `- {puppets}`")
        if state == "sls":
            return near_sls(target, self._by_sls)
        module, _, function = state.partition(".")
        if function and any(
            chunk.state == module and target in (chunk.id, chunk.name) for chunk in self._chunks
        ):
            return Hint(
                f"a requisite names the module without the function: `- {module}: {target}`"
            )
        typed = pattern(r"(\w+)\s*[: ]\s*(\S.*)").fullmatch(target) if state == "id" else None
        if typed and self.find(typed[1], typed[2]):
            return Hint(
                f"a colon and a space part the module from the ID: `- {typed[1]}: {typed[2]}`"
            )
        if any(mark in target for mark in "*?["):
            return Hint("no state of this run has an ID or a name that matches the pattern")
        if target == "None":
            return Hint(f"write the ID after it: `- {state}: ID`")
        other = [chunk for chunk in self._chunks if target in (chunk.id, chunk.name)]
        if other:
            known = " or ".join(dict.fromkeys(f"{chunk.state}: {target}" for chunk in other))
            return Hint(f"there is {known}, declared at {other[0].place}")
        holder = next((chunk for chunk in self._chunks if target in _members(chunk)), None)
        if holder:
            return Hint(f"{target} is a member of {holder.state}: {holder.id}; refer to that")
        names = dict.fromkeys(name for chunk in self._chunks for name in (chunk.id, chunk.name))
        return suggested(similar(target, names, 2))


def _members(chunk: Chunk) -> list[str]:
    listed = [*_list(chunk.args.get("pkgs")), *_list(chunk.args.get("sources"))]
    return [
        str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry) for entry in listed
    ]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def resolve(
    chunks: Sequence[Chunk],
    empty_sls: frozenset[str],
    excused: Callable[[str, str], bool] = lambda target, state: False,
    reacts: Callable[[str], bool] = lambda module: True,
) -> tuple[Relations, list[Diagnostic]]:
    """All edges, and the requisites that match nothing.

    empty_sls: the SLS files of this run without a state; requisites on them are met. excused:
    whether a target (and its state module) may be missing: another mistake explains it, or it is
    left out. reacts: whether a state module has a mod_watch.
    """
    index = Index(chunks)
    by_holder: dict[int, list[EdgeGroup]] = {}
    problems: list[Diagnostic] = []
    shared = _Shared(index)
    for number, chunk in enumerate(chunks):
        for requisite in shared.taken_out(number, chunk, reacts, by_holder):
            targets = index.find(requisite.state, requisite.target)
            if not targets and not (requisite.state == "sls" and requisite.target in empty_sls):
                problems += (
                    []
                    if excused(requisite.target, requisite.state)
                    else [_unmet(chunk, requisite, index)]
                )
            groups = by_holder.setdefault(number, [])
            kind = requisite.kind
            if targets:
                ordering = _ordering(kind, chunk, reacts)
                groups.append(EdgeGroup(number, kind, targets, requisite.place, False, ordering))
        for key, kind in RESOLVED.items():
            if key in chunk.low:
                _resolve_in_form(number, chunk, kind, index, excused, shared, by_holder, problems)
    shared.finish(by_holder)
    frozen = {
        number: Edges(_without_doubles(groups) if len(groups) > 1 else groups)
        for number, groups in by_holder.items()
        if groups
    }
    return Relations(frozen), problems


def _ordering(
    kind: RequisiteKind, chunk: Chunk, reacts: Callable[[str], bool]
) -> RequisiteKind | None:
    """The kind that counts for the order, if another."""
    if kind in WITHOUT_MOD_WATCH and not reacts(chunk.state):
        return WITHOUT_MOD_WATCH[kind]
    return None


class _Shared:
    """Requisites that many states have in common: they are resolved once, and are one group of each
    of these states.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._edges: dict[int, tuple[tuple[int, ...], tuple[Place, ...]] | None] = {}
        # of `_in` forms that are not carried: kind and holders -> the targets, with their places
        self._given: dict[tuple[RequisiteKind, tuple[int, ...]], list[tuple[int, Place]]] = {}

    def taken_out(
        self,
        number: int,
        chunk: Chunk,
        reacts: Callable[[str], bool],
        by_holder: dict[int, list[EdgeGroup]],
    ) -> Iterator[Requisite]:
        """Add the groups of what a chunk shares, and yield its other requisites, in their order."""
        if not isinstance(chunk.requisites, Requisites):
            yield from chunk.requisites
            return
        for part in chunk.requisites.parts:
            found = self._found(part)
            if found is None:
                yield from part
                continue
            kind = part[0].kind
            targets, places = found
            group = EdgeGroup(number, kind, targets, places[0])
            group = group._replace(ordering=_ordering(kind, chunk, reacts), places=places)
            by_holder.setdefault(number, []).append(group)

    def _found(
        self, part: tuple[Requisite, ...]
    ) -> tuple[tuple[int, ...], tuple[Place, ...]] | None:
        """What a part refers to, each with its place; None where it is few, or part of it is
        missing.
        """
        if id(part) not in self._edges:
            found = [self._index.find(each.state, each.target) for each in part]
            pairs = {
                (target, each.place): None
                for each, targets in zip(part, found, strict=True)
                for target in targets
            }
            targets, places = zip(*pairs, strict=True) if pairs else ((), ())
            self._edges[id(part)] = (targets, places) if len(pairs) > 1 and all(found) else None
        return self._edges[id(part)]

    def give(
        self,
        kind: RequisiteKind,
        holders: tuple[int, ...],
        edge: tuple[int, Place],
        by_holder: dict[int, list[EdgeGroup]],
    ) -> None:
        """Note that states listen to another one. edge: that one, and where it says so."""
        if (kind, holders) not in self._given:
            self._given[kind, holders] = []
            for holder in holders:  # they come in the order in which they were given something
                by_holder.setdefault(holder, [])
        self._given[kind, holders].append(edge)

    def finish(self, by_holder: dict[int, list[EdgeGroup]]) -> None:
        """Add the groups of what was given."""
        for (kind, holders), given in self._given.items():
            given = list(dict.fromkeys(given))
            targets, places = zip(*given, strict=True)
            for holder in holders:
                group = EdgeGroup(holder, kind, targets, places[0], places=places)
                by_holder.setdefault(holder, []).append(group)


def _without_doubles(groups: Sequence[EdgeGroup]) -> Iterator[EdgeGroup]:
    """Groups in which no edge occurs twice: what stands at one place may mean one state by its ID
    and by its name.
    """
    seen: dict[tuple[object, ...], set[int]] = {}
    at = Counter((group.kind, group.place) for group in groups if not group.places)
    for group in groups:
        if not group.places and at[group.kind, group.place] > 1:
            known = seen.setdefault((group.kind, *group[3:]), set())
            new = tuple(target for target in group.targets if target not in known)
            known.update(new)
            group = group if len(new) == len(group.targets) else group._replace(targets=new)
        if group.targets:
            yield group


def _resolve_in_form(
    number: int,
    chunk: Chunk,
    kind: RequisiteKind,
    index: Index,
    excused: Callable[[str, str], bool],
    shared: _Shared,
    by_holder: dict[int, list[EdgeGroup]],
    problems: list[Diagnostic],
) -> None:
    """Add the edges that an `_in` form gives to the states which it lists."""
    listed = chunk.low[kind.in_key]
    at = chunk.arg_places.get(kind.in_key, chunk.place)
    for position, entry in enumerate(listed if isinstance(listed, list) else []):
        if entry == {}:
            continue
        state, target = (
            next(iter(entry.items())) if isinstance(entry, dict) and entry else ("id", entry)
        )
        place = item_place(listed, position, at)
        holders = index.find(str(state), str(target))
        if not holders and not excused(str(target), str(state)):
            requisite = Requisite(kind, str(state), str(target), place)
            problems.append(_unmet(chunk, requisite, index, kind.in_key))
        if len(holders) > 1:
            shared.give(kind, holders, (number, place), by_holder)
            continue
        for holder in holders:
            by_holder.setdefault(holder, []).append(EdgeGroup(holder, kind, (number,), place))


def _unmet(chunk: Chunk, requisite: Requisite, index: Index, kind: str | None = None) -> Diagnostic:
    globbed_sls = requisite.state == "sls" and any(mark in requisite.target for mark in "*?[")
    hint = index.near(requisite.state, requisite.target)
    name = chunk.id if "\n" in chunk.name else chunk.name
    return Diagnostic(
        f"Referenced state does not exist for requisite [{kind or requisite.kind}: "
        f"({requisite.state}: {requisite.target})] in state [{name}] in SLS [{chunk.sls}]",
        requisite.place.source,
        hint.text,
        "unmet-requisite",
        "warning" if globbed_sls else "error",
        requisite.target,
        candidates=hint.candidates,
    )
