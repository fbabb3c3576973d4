"""What is to be run, and what of it reacts to what: values for the executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.engine.decide import Decision, Verdict
from runner.engine.invoke import Reaction
from runner.engine.mod_aggregate import Hook
from runner.model.chunk import Chunk, Edge, Relations
from runner.model.records import Record
from runner.model.requisite_kinds import Kind
from runner.model.result import Result

ORDERING = (Kind.REQUIRE, Kind.REQUIRE_ANY, Kind.WATCH, Kind.WATCH_ANY, Kind.LISTEN)


class Work(Record):
    """What is to be run: chunks, their relations, and the positions in the order of the run."""

    chunks: tuple[Chunk, ...]
    relations: Relations
    order: tuple[int, ...]
    reacts: frozenset[int] = frozenset()  # the chunks whose module has a mod_watch
    failhard: bool = False
    run_id: str = ""
    noop: frozenset[int] = frozenset()  # the chunks that are only planned
    aggregates: Mapping[int, Hook] = {}  # the mod_aggregate of the chunks that have one and use it
    self_refreshing: frozenset[int] = frozenset()  # the chunks that react to their own changes, too
    non_idempotent: frozenset[int] = (
        frozenset()
    )  # the chunks that change something in each run by their nature
    most_beside: int = 0  # how many states may run side by side; 0: as many as the engine likes
    verify: bool = False  # look again after each change

    def is_verified(self, position: int, result: Result) -> bool:
        """Whether a state has to be looked at again: it changed something, and should find nothing
        left to do.
        """
        changed = result.result is True and bool(result.changes)
        return self.verify and changed and position not in self.non_idempotent

    def named(self, position: int) -> str:
        """A state as messages call it."""
        return f"{self.chunks[position].state}: {self.chunks[position].id}"

    def ready_looks(self, position: int, results: Mapping[int, Result]) -> list[int]:
        """What prereqs look at in the place of a state, as far as it shows by now whether that will
        run.
        """
        return [
            each for each in self.relations.looks.get(position, ()) if self._is_ready(each, results)
        ]

    def _is_ready(self, position: int, results: Mapping[int, Result]) -> bool:
        edges = [edge for edge in self.relations.of(position) if edge.kind is not Kind.LISTEN]
        ended = all(edge.target in results and edge.kind is not Kind.PREREQ for edge in edges)
        return position not in results and bool(edges) and ended

    def waits_for(self, position: int, results: Mapping[int, Result]) -> tuple[str, ...]:
        """The states whose changes are still to come that this one requires, also through others;
        the nearest first.
        """
        near, seen = [position], {position}
        pending: list[int] = []
        for number in near:
            for edge in self.relations.of(number):
                if edge.target in seen or edge.kind is Kind.LISTEN or edge.target not in results:
                    continue
                seen.add(edge.target)
                near.append(edge.target)
                if results[edge.target].result is None:
                    pending.append(edge.target)
        return tuple(dict.fromkeys(map(self.named, pending)))

    def reaction(self, position: int, result: Result, decision: Decision) -> Reaction | None:
        """The mod_watch to call: for a watched change that the state has not reacted to itself, or
        its own change.
        """
        if position not in self.reacts or result.extra.get("skip_watch") or result.undecided:
            return None
        if result.changes and position in self.self_refreshing and result.result is not False:
            return Reaction((self.named(position),))
        if result.changes and (result.reacted or result.result is False):
            return None
        changed = tuple(
            self.named(edge.target) for edge in decision.changed if edge.kind is Kind.WATCH
        )
        if decision.verdict is not Verdict.WATCH:
            return None
        needed: dict[str, list[Mapping[str, Any]]] = {}
        for edge in self.relations.of(position):
            needed.setdefault(edge.kind.value, []).append(self.chunks[edge.target].low)
        return Reaction(changed, low={"__reqs__": needed})

    def listener(self, position: int) -> Reaction:
        """What mod_watch is called for at the end of a run."""
        chunk = self.chunks[position]
        key = f"{chunk.state}_|-listener_{chunk.id}_|-{chunk.name}_|-mod_watch"
        return Reaction((), key, {"__id__": f"listener_{chunk.id}"})

    def listening(self) -> list[Edge]:
        """The listeners and their sources in the order of states: `listen` before `listen_in`."""
        rank = {position: number for number, position in enumerate(self.order)}

        def place(edge: Edge) -> tuple[int, bool, int, int]:
            own = any(each.place == edge.place for each in self.chunks[edge.holder].requisites)
            said = edge.holder if own else edge.target
            return rank.get(said, len(rank)), not own, edge.place.line, edge.place.column

        found = (
            edge
            for edge in self.relations.edges
            if edge.kind is Kind.LISTEN and edge.holder in self.reacts
        )
        return sorted(found, key=place)

    def reacts_otherwise(self, position: int) -> bool:
        """Whether a state has requisites that have it run for others' sake (onchanges, onfail,
        prereq).
        """
        return any(edge.kind not in ORDERING for edge in self.relations.of(position))
