"""Chunks -> edges: what each requisite refers to, by ID, name, glob, SLS."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence

from runner.errors import Diagnostic
from runner.highdata import puppets_way
from runner.model import Chunk, Edge, Kind, Relations, Requisite, item_place


class Index:
    """Finds chunks by what a requisite may say."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._by_id: dict[tuple[str, str], list[int]] = {}
        self._by_state: dict[str, list[int]] = {}
        self._by_sls: dict[str, list[int]] = {}
        for number, chunk in enumerate(chunks):
            self._by_id.setdefault((chunk.state, chunk.id), []).append(number)
            if chunk.name != chunk.id:
                self._by_id.setdefault((chunk.state, chunk.name), []).append(number)
            self._by_id.setdefault(("id", chunk.id), []).append(number)
            self._by_state.setdefault(chunk.state, []).append(number)
            for sls in (chunk.sls, *chunk.low.get("__sls_included_from__", ())):
                self._by_sls.setdefault(sls, []).append(number)

    def find(self, state: str, target: str) -> list[int]:
        """The chunks that `- state: target` means."""
        globbing = any(mark in target for mark in "*?[")
        if state == "sls":
            if target in self._by_sls or not globbing:
                return self._by_sls.get(target, [])
            names = [name for name in self._by_sls if fnmatch.fnmatch(name, target)]
            return sorted({number for name in names for number in self._by_sls[name]})
        found = self._by_id.get((state, target), [])
        if found or not globbing:
            return found
        candidates = range(len(self._chunks)) if state == "id" else self._by_state.get(state, [])
        return [number for number in candidates if self._matches(state, target, self._chunks[number])]

    @staticmethod
    def _matches(state: str, target: str, chunk: Chunk) -> bool:
        return fnmatch.fnmatch(chunk.id, target) or (state != "id" and fnmatch.fnmatch(chunk.name, target))

    def near(self, state: str, target: str) -> str | None:
        """A hint naming what was probably meant."""
        import difflib

        puppets = puppets_way(target)
        if puppets:
            return f"that is Puppet's way; write `- {puppets}`"
        if state == "sls":
            close = difflib.get_close_matches(target, self._by_sls, 2)
            return f"did you mean sls: {' or sls: '.join(close)}?" if close else "it is not in this run: include it"
        module, _, function = state.partition(".")
        if function and any(chunk.state == module and target in (chunk.id, chunk.name) for chunk in self._chunks):
            return f"a requisite names the module without the function: `- {module}: {target}`"
        typed = re.fullmatch(r"(\w+)\s*[: ]\s*(\S.*)", target) if state == "id" else None
        if typed and self.find(typed[1], typed[2]):
            return f"a colon and a space part the module from the ID: `- {typed[1]}: {typed[2]}`"
        if target == "None":
            return f"write the ID after it: `- {state}: ID`"
        other = [chunk for chunk in self._chunks if target in (chunk.id, chunk.name)]
        if other:
            known = " or ".join(dict.fromkeys(f"{chunk.state}: {target}" for chunk in other))
            return f"there is {known}, declared at {other[0].place.source}"
        holder = next((chunk for chunk in self._chunks if target in _members(chunk)), None)
        if holder:
            return f"{target} is a member of {holder.state}: {holder.id}; refer to that"
        names = dict.fromkeys(name for chunk in self._chunks for name in (chunk.id, chunk.name))
        close = difflib.get_close_matches(target, names, 2)
        return f"did you mean {' or '.join(close)}?" if close else None


def _members(chunk: Chunk) -> list[str]:
    listed = [*_list(chunk.args.get("pkgs")), *_list(chunk.args.get("sources"))]
    return [str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry) for entry in listed]


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def resolve(
    chunks: Sequence[Chunk],
    empty_sls: frozenset[str],
    excused: Callable[[str, str], bool] = lambda target, state: False,
) -> tuple[Relations, list[Diagnostic]]:
    """All edges, and the requisites that match nothing.

    empty_sls: the SLS files of this run without a state; requisites on them are met. excused: whether a target (and
    its state module) is missing only because of another mistake.
    """
    index = Index(chunks)
    by_holder: dict[int, list[Edge]] = {}
    problems: list[Diagnostic] = []
    for number, chunk in enumerate(chunks):
        for requisite in chunk.requisites:
            targets = index.find(requisite.state, requisite.target)
            if not targets and not (requisite.state == "sls" and requisite.target in empty_sls):
                problems += [] if excused(requisite.target, requisite.state) else [_unmet(chunk, requisite, index)]
            edges = by_holder.setdefault(number, [])
            edges.extend(Edge(number, requisite.kind, target, requisite.place) for target in targets)
        if "listen_in" in chunk.low:
            found: list[Diagnostic] = []
            _listeners(number, chunk, index, by_holder, found)
            problems += found
    frozen = {number: tuple(dict.fromkeys(edges)) for number, edges in by_holder.items() if edges}
    every = tuple(edge for edges in frozen.values() for edge in edges)
    prepared: dict[int, tuple[int, ...]] = {}
    for edge in every:
        if edge.kind is Kind.PREREQ:
            prepared[edge.target] = (*prepared.get(edge.target, ()), edge.holder)
    return Relations(every, frozen, prepared_by=prepared), problems


def _listeners(
    number: int, chunk: Chunk, index: Index, by_holder: dict[int, list[Edge]], problems: list[Diagnostic]
) -> None:
    listed = chunk.low["listen_in"]
    at = chunk.arg_places.get("listen_in", chunk.place)
    for position, entry in enumerate(listed if isinstance(listed, list) else []):
        state, target = next(iter(entry.items())) if isinstance(entry, dict) and entry else ("id", entry)
        place = item_place(listed, position, at)
        found = index.find(str(state), str(target))
        if not found:
            problems.append(_unmet(chunk, Requisite(Kind.LISTEN, str(state), str(target), place), index, "listen_in"))
        for holder in found:
            by_holder.setdefault(holder, []).append(Edge(holder, Kind.LISTEN, number, place))


def _unmet(chunk: Chunk, requisite: Requisite, index: Index, kind: str | None = None) -> Diagnostic:
    globbed_sls = requisite.state == "sls" and any(mark in requisite.target for mark in "*?[")
    return Diagnostic(
        f"Referenced state does not exist for requisite [{kind or requisite.kind}: "
        f"({requisite.state}: {requisite.target})] in state [{chunk.name}] in SLS [{chunk.sls}]",
        requisite.place.source,
        index.near(requisite.state, requisite.target),
        "unmet-requisite",
        "warning" if globbed_sls else "error",
        requisite.target,
    )
