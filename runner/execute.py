"""Walks the order: decides about each chunk, has it invoked, tells the listeners. Knows no printing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from runner.current import Run
from runner.debts import Debts
from runner.decide import Decision, Verdict, decide
from runner.interrupts import number_of
from runner.invoke import Invoker, Mode, Reaction
from runner.model import (
    Chunk,
    CustomEvent,
    Debt,
    Edge,
    Kind,
    Relations,
    Report,
    Result,
    RunFinished,
    RunStarted,
    StateFinished,
    StateStarted,
)

REACTIONS = {
    Kind.WATCH: "watch",
    Kind.WATCH_ANY: "watch",
    Kind.ONCHANGES: "onchanges",
    Kind.ONCHANGES_ANY: "onchanges",
    Kind.LISTEN: "listen",
}


class Work(NamedTuple):
    """What is to be run: chunks, their relations, and the positions in the order of the run."""

    chunks: tuple[Chunk, ...]
    relations: Relations
    order: tuple[int, ...]
    reacts: frozenset[int] = frozenset()  # the chunks whose module has a mod_watch
    failhard: bool = False
    run_id: str = ""
    unconverging: frozenset[int] = frozenset()  # the chunks that change something in each run by their nature


# (result, whether it reacts to another state, whether a second run would change nothing) -> (origin, note)
Judge = Callable[[Result, bool, bool], tuple[str, str]]


@dataclass(slots=True)
class Executor:
    """One run over a Work."""

    work: Work
    run: Run
    invoke: Invoker
    debts: Debts
    judge: Judge | None = None
    results: dict[int, Result] = field(default_factory=dict)
    finished: list[Result] = field(default_factory=list)
    number: int = 0  # Salt's __run_num__: counts calls of state functions
    unprotected: str = ""  # why debts could not be written
    _reactors: Mapping[int, Sequence[Edge]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sources: dict[int, list[Edge]] = {}
        for edge in self.work.relations.edges:
            if edge.kind in REACTIONS:
                sources.setdefault(edge.target, []).append(edge)
        self._reactors: Mapping[int, Sequence[Edge]] = sources

    def __call__(self) -> Report:
        """Run everything. An interrupt ends the run in the state that it hits, and the report tells what was left."""
        self.run.emit(RunStarted(len(self.work.order), self.run.dry, self.work.run_id))
        interrupted, why = 0, ""
        try:
            for position in self.work.order:
                if self._state(position):
                    break
            self._listeners()
        except KeyboardInterrupt as interrupt:
            interrupted, why = number_of(interrupt)
        left = [self.work.chunks[position] for position in self.work.order if position not in self.results]
        report = Report(tuple(self.finished), self.run.dry, interrupted, why, tuple(left))
        self.run.emit(RunFinished(report))
        return report

    # -------------------------------------------------- one state

    def _state(self, position: int) -> bool:
        """Run one state; True when the run has to stop here (failhard)."""
        chunk = self.work.chunks[position]
        edges = self.work.relations.of(position)
        self.run.emit(StateStarted(chunk, self.number))
        owed = self._owed(chunk) if edges else ()
        decision = decide(edges, self._seen, [debt.kind for debt in owed]) if edges else _RUN
        if decision.verdict in (Verdict.SKIP, Verdict.FAIL):
            result = _kept(chunk, decision)
        else:
            result = self._guarded(position, decision)
        if owed and self.run.dry:
            result = replace(
                result, owed=tuple(f"{debt.kind} owed since {debt.time} by {debt.source}" for debt in owed)
            )
        self._finish(position, self._judged(position, result, decision))
        if not self.run.dry:
            self._settle(chunk, result, decision)
        return result.result is False and bool(chunk.args.get("failhard", self.work.failhard))

    def _guarded(self, position: int, decision: Decision) -> Result:
        """The result of a state; when an interrupt hits it, it is told as failed before the run ends."""
        try:
            return self._called(position, decision, self._mode)
        except KeyboardInterrupt as interrupt:
            comment = f"{number_of(interrupt)[1]} while it ran; what it had begun may be done in part"
            self._finish(position, Result(self.work.chunks[position], False, comment, run_num=self.number))
            raise

    def _judged(self, position: int, result: Result, decision: Decision) -> Result:
        """The result with the reason of its changes."""
        if self.judge is None or not result.changes or not result.ran:
            return result
        reacted = decision.verdict is Verdict.WATCH or any(
            edge.kind not in (Kind.REQUIRE, Kind.REQUIRE_ANY, Kind.WATCH, Kind.WATCH_ANY, Kind.LISTEN)
            for edge in self.work.relations.of(position)
        )
        origin, note = self.judge(result, reacted, position not in self.work.unconverging)
        return replace(result, origin=origin, note=note)

    @property
    def _mode(self) -> Mode:
        return Mode.DRY if self.run.dry else Mode.REAL

    def _called(self, position: int, decision: Decision, mode: Mode) -> Result:
        chunk = self.work.chunks[position]
        waits = self._waits_for(position) if mode is Mode.DRY else ""
        result = self.invoke(chunk, mode, owe=lambda: self._owe(position), waits_for=waits)
        self._count(mode)
        quiet = not result.changes and not result.extra.get("skip_watch")
        if decision.verdict is Verdict.WATCH and quiet and position in self.work.reacts:
            changed = tuple(self._named(edge) for edge in decision.changed if edge.kind is Kind.WATCH)
            warned = result.warnings
            result = self.invoke(chunk, mode, Reaction(changed), owe=lambda: self._owe(position))
            result = replace(result, warnings=(*warned, *result.warnings))
            self._count(mode)
        return replace(result, run_num=self.number - 1)

    def _count(self, mode: Mode) -> None:
        if mode is not Mode.LOOK:
            self.number += self.invoke.attempts

    def _named(self, edge: Edge) -> str:
        chunk = self.work.chunks[edge.target]
        return f"{chunk.state}: {chunk.id}"

    def _finish(self, position: int, result: Result) -> None:
        if not result.ran:
            result = replace(result, run_num=self.number)
            self.number += 1
        chunk = result.chunk
        tag = result.tag
        result = self.run.secrets.result(result)
        self.results[position] = result
        self.finished.append(result)
        self.run.results[tag] = result
        self.run.emit(StateFinished(result))
        for what in ("modules", "grains", "pillar"):
            if chunk.args.get(f"reload_{what}") and result.ran and not self.run.dry:
                self.run.reload(what)
        fire = chunk.args.get("fire_event")
        if fire:
            tag = f"state/{fire if isinstance(fire, str) else chunk.name}"
            self.run.emit(CustomEvent(tag, {"id": chunk.id, "result": result.result, "changes": dict(result.changes)}))

    # -------------------------------------------------- what decide sees

    def _seen(self, edge: Edge) -> Result | None:
        return self._look(edge.target) if edge.kind is Kind.PREREQ else self.results.get(edge.target)

    def _look(self, position: int) -> Result:
        """A prereq look: all that the state would do up to its Plan, its own requisites and prereqs included."""
        if position in self.results:
            return self.results[position]
        chunk = self.work.chunks[position]
        decision = decide(self.work.relations.of(position), self._seen, [debt.kind for debt in self._owed(chunk)])
        if decision.verdict in (Verdict.SKIP, Verdict.FAIL):
            return _kept(chunk, decision)
        return self._called(position, decision, Mode.LOOK)

    def _waits_for(self, position: int) -> str:
        for edge in self.work.relations.of(position):
            found = self.results.get(edge.target)
            if found is not None and found.result is None:
                return self._named(edge)
        return ""

    # -------------------------------------------------- listen

    def _listeners(self) -> None:
        for position in self.work.order:
            edges = [edge for edge in self.work.relations.of(position) if edge.kind is Kind.LISTEN]
            if not edges or position not in self.work.reacts:
                continue
            chunk = self.work.chunks[position]
            owed = any(debt.kind == "listen" for debt in self._owed(chunk))
            changed = [edge for edge in edges if edge.target in self.results and self.results[edge.target].changes]
            if not (changed or owed) or position not in self.results:
                continue
            key = f"{chunk.state}_|-listener_{chunk.id}_|-{chunk.name}_|-mod_watch"
            result = self.invoke(chunk, self._mode, Reaction((), key))
            self.number += 1
            result = self.run.secrets.result(replace(result, run_num=self.number - 1))
            self.finished.append(result)
            self.run.results[key] = result
            self.run.emit(StateFinished(result))
            if result.result and not self.run.dry:
                self._forget(chunk.tag, None, "listen")

    # -------------------------------------------------- debts

    def _owed(self, chunk: Chunk) -> tuple[Debt, ...]:
        """What a chunk owes; not what a state of this run owes it that failed: that waits for the next run."""
        try:
            found = self.debts.owed(chunk.tag)
        except OSError as error:
            self.unprotected = str(error)
            return ()
        return tuple(debt for debt in found if debt.run != self.work.run_id or not self._failed(debt.source))

    def _failed(self, tag: str) -> bool:
        found = self.run.results.get(tag)
        return found is not None and found.result is False

    def _owe(self, position: int) -> None:
        """Write down, before anything changes, who will have to react to this state."""
        edges = self._reactors.get(position)
        if not edges:
            return
        source = self.work.chunks[position].tag
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        debts = []
        for edge in edges:
            reacting = edge.kind in (Kind.ONCHANGES, Kind.ONCHANGES_ANY) or edge.holder in self.work.reacts
            if reacting and (edge.holder not in self.results or edge.kind is Kind.LISTEN):
                chunk = self.work.chunks[edge.holder]
                kind = REACTIONS[edge.kind]
                debts.append(Debt(chunk.tag, kind, source, self.work.run_id, now, str(edge.place.source)))
        try:
            self.debts.owe(debts)
        except OSError as error:
            self.unprotected = str(error)

    def _settle(self, chunk: Chunk, result: Result, decision: Decision) -> None:
        if result.result is not False and not result.changes:
            self._forget(None, chunk.tag, run=self.work.run_id)  # what an earlier attempt of this run owed
        guarded = bool(result.extra.get("skip_watch"))
        if result.ran and (result.result is True or guarded) and decision.verdict is not Verdict.SKIP:
            self._forget(chunk.tag, None, "watch", "onchanges")

    def _forget(self, reactor: str | None, source: str | None, *kinds: str, run: str | None = None) -> None:
        try:
            self.debts.settle(reactor, source, kinds, run)
        except OSError as error:
            self.unprotected = str(error)


_RUN = Decision(Verdict.RUN)


def _kept(chunk: Chunk, decision: Decision) -> Result:
    """The result of a state that its requisites kept from running."""
    return Result(chunk, decision.verdict is Verdict.SKIP, decision.comment, ran=False, cause=decision.cause)
