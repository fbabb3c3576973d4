# SPDX-License-Identifier: Apache-2.0
"""Walks the order: decides about each step, has it invoked, tells listeners. Knows no printing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property, partial

from runner.api import LATER_CHECKS, StateFailed, durability, forget_looks, running, undisturbed
from runner.engine import decide as decisions
from runner.engine import mod_aggregate, outcomes, parallel, reactions
from runner.engine.context import Current, Run
from runner.engine.interrupts import number_of
from runner.engine.invoke import Invoker
from runner.engine.shared_commit import SharedCommit
from runner.engine.step import (
    DECLINED,
    NOT_RUN,
    RUN,
    Invocation,
    Mode,
    Reaction,
    RunPlan,
    Step,
    Verdict,
)
from runner.model import diagnostics
from runner.model.chunk import LEFT_OUT, Chunk, Edge, EdgeGroup, Edges
from runner.model.errors import Diagnostic
from runner.model.events import RunFinished, RunStarted, StateFinished, StateStarted, Warned
from runner.model.result import CRASHED, ENDS_RUN, Report, Result, some_of
from runner.support.files.folder_syncs import FOLDER_SYNCS
from runner.support.files.group_commit import GROUP_COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from runner.engine.decide import Telling
    from runner.engine.parallel import Needs, ParallelStates
    from runner.engine.reaction_journal import ReactionJournal
    from runner.engine.step import Decision

# (result, whether it reacts to another state, whether a second run would change nothing) ->
# (origin, note)
Judge = Callable[[Result, bool, bool], tuple[str, str]]


class Executor:
    """One run over a RunPlan."""

    def __init__(
        self,
        plan: RunPlan,
        run: Run,
        invoke: Invoker,
        journal: ReactionJournal,
        judge: Judge | None = None,
    ) -> None:
        self.plan, self.run, self.invoke = plan, run, invoke
        self._journal, self.judge = journal, judge
        self._mode = Mode.DRY if run.dry else Mode.REAL
        self.results: dict[int, Result] = {}
        self._has_looks = bool(plan.relations.looks)
        self._looked_at = plan.relations.looked_at if plan.relations.looks else frozenset()
        self.finished: list[Result] = []
        self.number = 0  # Salt's __run_num__: counts calls of state functions
        # whether any state may run beside others: else none is waited for
        self._overlaps = True in [step.chunk.args.get("parallel") for step in plan.steps]
        noops = [step.noop for step in plan.steps]
        self._has_noop = True in noops
        # a dry run of nothing but no-op states says what would be done if they were none
        self._noop_counts = not (run.dry and all(noops))
        self._put_off: list[int] = []  # may run beside others, and wait for one that runs
        self._aggregating = [
            position for position, step in enumerate(plan.steps) if step.aggregate is not None
        ]
        self._failed_by: dict[tuple[object, ...], Decision] = {}  # by requisites on many states
        self._called_now: int | None = None  # the state that an interrupt hits
        self._ending: Collection[int] = ()  # those whose files get their names, which it hits, too
        self._taken: set[int] = set()  # their work was done by another state's mod_aggregate
        self._decisions: dict[int, Decision] = {}  # about what runs side by side
        self._beside: dict[int, Invoker] = {}  # who calls that
        if self._overlaps:
            _ = self.tracker  # the same for all threads
        self._shared = SharedCommit(
            plan, self._overlaps or run.execution.asks, lambda chunk: running(Current(run, chunk))
        )

    def __call__(self) -> Report:
        """Run everything. An interrupt ends the run in the state that it hits, and the report says
        what was left.
        """
        interrupted, why = 0, ""
        try:
            with FOLDER_SYNCS.deferred():
                self._run_states()
            self._report_unsynced()
        except KeyboardInterrupt as interrupt:
            interrupted, why = number_of(interrupt)
            self._give_up(why)
            self._report_unsynced()
        except Exception as error:  # a bug of ours: what was done until then is reported
            problem = self.run.secrets.diagnostic(diagnostics.bug(error))
            self.run.emit(RunFinished(self._report(why=CRASHED, errors=(problem,))))
            raise
        finally:
            if self._overlaps:
                self.parallel.close()
        report = self._report(interrupted, why)
        try:
            self.run.emit(RunFinished(report))
        except KeyboardInterrupt as interrupt:  # everything was run
            return self._report(*number_of(interrupt))
        return report

    def _run_states(self) -> None:
        """All states in their order, listeners, and what is looked at again."""
        self.run.emit(RunStarted(len(self.plan.order), self.run.dry, self.plan.run_id))
        try:
            for position in self.plan.order:
                stops = bool(self._put_off) and self._start_ready()
                if not stops and self.plan.relations.looks:
                    ended = self._outcomes.have_ended
                    for look in [*self.plan.ready_looks(position, self.results, ended)]:
                        self._foreseen(look, final=True)
                if not stops and self._overlaps and self._is_held_up(position):
                    self._put_off.append(position)
                elif stops or self._state(position):
                    self._put_off.clear()
                    break
        finally:
            self._commit()
        self._wait_for_all()
        self._listeners()
        self._later_checks()

    def _report(
        self, interrupted: int = 0, why: str = "", errors: tuple[Diagnostic, ...] = ()
    ) -> Report:
        left = tuple(
            self.plan.chunk(position)
            for position in self.plan.order
            if position not in self.results
        )
        return Report(tuple(self.finished), self.run.dry, interrupted, why, left, errors)

    # -------------------------------------------------- one state

    def _state(self, position: int) -> bool:
        """Run one state; True when the run has to stop here (failhard, a restart)."""
        step = self.plan.steps[position]
        chunk = step.chunk
        edges = self.plan.judged_by(position)
        if self._shared.waiting and not self._shared.admits(position, edges):
            self._commit()
        if self._overlaps and self._wait_for(self._needs(position)):
            return True
        if position in self.results:  # a look has shown that it does not run
            return False
        is_declined = not self.run.execution.confirm(chunk)
        if self.run.listeners.take(StateStarted):
            self.run.emit(StateStarted(chunk, self.number))
        may_react = bool(edges.groups or chunk.requisites) or step.self_refreshing
        is_pending = may_react and self._is_pending(chunk)
        decision = self._decided(chunk, edges, is_pending)
        if is_declined and decision.verdict not in NOT_RUN:
            decision = DECLINED
        shares = decision is RUN and not is_pending
        if self._shared.waiting and not shares:  # results come in the order of the run
            self._commit()
        if decision.verdict in NOT_RUN:
            return self._ended(
                position, decisions.not_run_result(chunk, decision), decision, is_pending
            )
        if self._overlaps and self._runs_parallel(position):
            self._start_parallel(position, decision)
            return False
        failed = self._outcomes.failed_before(position) if self._has_looks else None
        mode = self._mode_of(position, failed)
        shares = shares and mode is Mode.REAL
        path = self._shared.file_of(position) if shares else ""
        shares = shares and self._shared.takes(position, path)
        self._called_now = position
        with GROUP_COMMIT.collecting(position if shares else None, path):
            result = self._called(position, decision, mode)
        if shares and self._shared.holds(position):
            # judged by what was there when it ran: others may change it before it ends
            self._shared.keep(position, self._judged(position, result, decision))
            if self._shared.is_full:
                self._commit()
            return False
        if failed:
            result = decisions.prereq_failed(result, failed)
        elif step.noop and self._noop_counts:
            result = result._replace(noop=True)
        return self._ended(position, result, decision, is_pending)

    def _ended(
        self,
        position: int,
        result: Result,
        decision: Decision,
        is_pending: bool = False,
        is_judged: bool = False,
    ) -> bool:
        """Note a result; True when the run has to stop here. is_pending: reactions of the state
        were due before it ran. is_judged: it has the reason of its changes.
        """
        is_run = decision.verdict not in NOT_RUN
        chunk = self.plan.steps[position].chunk
        if is_pending and (self.run.dry if is_run else decision.postponed):
            pending = self.tracker.pending(chunk)
            owed = reactions.described(pending, result.cause or decision.cause)
            result = result._replace(owed=owed)
        with undisturbed():  # what has run is told to all listeners
            if result.changes and not is_judged:
                result = self._judged(position, result, decision)
            if self._has_noop:
                result = self._suppressed.note(position, result)
            finished = self._note(position, result)
        self.run.follow(finished)
        if not self.run.dry and not result.noop and self._journal.has_any():
            self.tracker.settle(result, decision)
        if ENDS_RUN in result.extra:
            return not self.run.dry
        return result.result is False and bool(chunk.args.get("failhard", self.plan.failhard))

    # -------------------------------------------------- pending reactions

    @cached_property
    def tracker(self) -> reactions.ReactionTracker:
        """Most runs without changes need none."""
        return reactions.ReactionTracker(self._journal, self.plan)

    @property
    def unprotected(self) -> str:
        """Why pending reactions could not be written; empty where they could."""
        return self.tracker.unprotected if "tracker" in self.__dict__ else ""

    @cached_property
    def _suppressed(self) -> reactions.SuppressedReactions:
        return reactions.SuppressedReactions(self.plan)

    def _is_pending(self, chunk: Chunk) -> bool:
        return self._journal.has_any() and self.tracker.has_pending(chunk)

    # -------------------------------------------------- side by side

    @cached_property
    def parallel(self) -> ParallelStates:
        return parallel.ParallelStates(self.plan.max_parallel)

    @cached_property
    def _all_needs(self) -> Needs:
        return parallel.Needs(self.plan)

    def _needs(self, position: int) -> Collection[int]:
        """What has to end before a state starts; nothing where all before it has."""
        are_left = self._put_off or self.parallel.positions()
        return self._all_needs.of(position) if are_left else ()

    def _runs_parallel(self, position: int) -> bool:
        return (
            self.plan.chunk(position).args.get("parallel") is True
            and self._mode_of(position, self._outcomes.failed_before(position)) is Mode.REAL
        )

    def _is_held_up(self, position: int) -> bool:
        """Return whether a state that may run beside others waits for one that runs: those after it
        need not wait with it.
        """
        return self._runs_parallel(position) and any(
            each in self._put_off or self.parallel.runs(each) for each in self._needs(position)
        )

    def _start_ready(self) -> bool:
        """Begin with what was put off and is not held up any more, until all that is left waits for
        what runs; True when the run has to stop here.
        """
        while ready := [item for item in self._put_off if not self._is_held_up(item)]:
            self._put_off.remove(ready[0])
            if self._state(ready[0]):
                return True
        return False

    def _wait_for_all(self) -> None:
        while self._overlaps and self.parallel.positions():
            if self._wait_for([self.parallel.first()]) or (self._put_off and self._start_ready()):
                self._put_off.clear()

    def _start_parallel(self, position: int, decision: Decision) -> None:
        number, invoke = self.number, self.invoke.twin()
        self._beside[position] = invoke
        self.number += 1

        def work() -> Result:
            return self._called(position, decision, Mode.REAL, invoke)._replace(run_num=number)

        self._decisions[position] = decision
        self._outcomes.forget_looks()
        self.parallel.start(position, work)

    def _wait_for(self, positions: Collection[int]) -> bool:
        """Wait for those of these states that run side by side; True when the run has to stop."""
        stop = False
        while any(position in positions for position in self._put_off):
            if self._wait_for([self.parallel.first()]) or self._start_ready():
                return True
        for position in self.parallel.positions():
            if position in positions:
                result = self.parallel.wait(position)
                stop |= self._ended(position, result, self._decisions[position])
        return stop

    def _give_up(self, why: str) -> None:
        """Report what an interrupt hits as failed; it does not wait for what runs side by side."""
        hit = set() if self._called_now is None else {self._called_now}
        if self._overlaps:
            self.parallel.end()
            hit.update(self.parallel.positions())
        hit.update(self._ending)
        comment = f"{why} while it ran; what it had begun may be done in part"
        for position in sorted(hit.difference(self.results)):
            chunk, began = self.plan.chunk(position), self._beside.get(position, self.invoke).began
            lasted = round((time.time() - began) * 1000, 3) if began else 0.0
            result = Result(chunk, False, comment, run_num=self.number)
            self._finish(position, result._replace(started=began, duration=lasted))

    # -------------------------------------------------- calling

    def _commit(self) -> None:
        """End the states whose files wait for their names. A program may take long, or hang."""
        with nullcontext() if GROUP_COMMIT.is_of_program else undisturbed():
            done = self._shared.taken()
            self._ending = done or self._ending
            GROUP_COMMIT.sync()
            for position, result in done.items():
                if lost := GROUP_COMMIT.finish(position):
                    number = self.number
                    again = self._called(position, RUN, Mode.REAL)
                    if self.plan.steps[position].writes_many:  # its others are there
                        made = {k: v for k, v in result.changes.items() if k not in lost}
                        again = again._replace(changes={**made, **again.changes})
                    again = again._replace(origin=result.origin, note=result.note)
                    result, self.number = again._replace(run_num=result.run_num), number
                self._ended(position, result, RUN, is_judged=True)
            GROUP_COMMIT.finish_all()  # of a state that was interrupted
            if done:
                with running(Current(self.run, None)):
                    forget_looks(None)

    def _judged(self, position: int, result: Result, decision: Decision) -> Result:
        """The result with the reason of its changes."""
        if self.judge is None or not result.changes or not result.ran:
            return result
        reacted = self._reacts(position, decision)
        origin, note = self.judge(result, reacted, not self.plan.steps[position].non_idempotent)
        return result._replace(origin=origin, note=note) if origin or note else result

    def _reacts(self, position: int, decision: Decision) -> bool:
        """Return whether a state runs for what others have done."""
        return decision.verdict == Verdict.WATCH or self.plan.reacts_otherwise(position)

    def _mode_of(self, position: int, failed: Result | None) -> str:
        """A no-op state is only planned, in a real run too, and so is one whose prereq holder
        failed.
        """
        return Mode.DRY if failed or self.plan.steps[position].noop else self._mode

    def _called(
        self, position: int, decision: Decision, mode: str, invoke: Invoker | None = None
    ) -> Result:
        """The result of a state function, or of mod_watch after it. invoke: of its own thread."""
        call = invoke or self.invoke
        step = whole = self.plan.steps[position]
        taken: tuple[int, ...] = ()
        if step.aggregate is not None:
            whole, taken = self._aggregated(position, mode)
        is_only_planned = step.noop and self._noop_counts
        failed = position in self._looked_at and self._outcomes.failed_before(position)
        will_be_done = not (is_only_planned or failed)
        if self._has_looks and mode is not Mode.LOOK and invoke is None:
            self._outcomes.forget_looks()

        def before_change() -> None:
            self._prepare_change((position, *taken), self._reacts(position, decision))

        waits_for = (
            partial(self.plan.waits_for, position, self.results) if mode is Mode.DRY else tuple
        )
        result = call(
            Invocation(whole, mode, None, before_change, waits_for, will_be_done, self.number)
        )
        result = result._replace(chunk=step.chunk) if taken else result
        attempts = call.attempts
        if self.plan.verify and mode is Mode.REAL and self.plan.is_verified(position, result):
            result = decisions.verified(result, call(Invocation(step, Mode.LOOK)))
        if decision.verdict == Verdict.RUN and decision.comment:
            result = result._replace(comment=f"{result.comment} {decision.comment}")
        reaction = self.plan.reaction(position, result, decision, self._reaction)
        if reaction is not None:
            own = result
            done = call(
                Invocation(
                    step,
                    mode,
                    reaction,
                    before_change=lambda: self._prepare_change((position,), reacts=True),
                    will_be_done=will_be_done,
                )
            )
            hides = own.result is False and done.result and not done.changes
            result = _with_reaction(own if hides else done, reaction, mode)
            result = result._replace(
                warnings=(*own.warnings, *done.warnings),
                things=own.things,
                changes={**own.changes, **result.changes},
            )
            if own.changes:
                result = result._replace(
                    comment=f"{own.comment}\n{result.comment}",
                    reaction=result.reaction and f"{own.comment}\n{result.reaction}",
                    undecided=False,  # what it does itself is known
                )
            attempts += call.attempts
        if mode is not Mode.LOOK and invoke is None:
            self.number += attempts
        number = self.number - 1
        return result if result.run_num == number else result._replace(run_num=number)

    def _aggregated(self, position: int, mode: str) -> tuple[Step, tuple[int, ...]]:
        """The step with what it does for others, and who they are."""
        step = self.plan.steps[position]
        if step.aggregate is None or mode is Mode.LOOK or position in self._taken:
            return step, ()
        left = [other for other in self._aggregating if other not in self._taken]
        taken = mod_aggregate.candidates(position, left, self.plan, self.results, self._would_run)
        self._taken.update(taken)
        if not taken:
            return step, ()
        others = [self.plan.chunk(other) for other in taken]
        with running(Current(self.run, step.chunk)):
            whole = mod_aggregate.merged(step.aggregate, step.chunk, others, self.run.results)
        return step.with_chunk(whole), taken

    def _would_run(self, position: int) -> bool:
        return self._foreseen(position).verdict in (Verdict.RUN, Verdict.WATCH)

    def _foreseen(self, position: int, final: bool = False) -> Decision:
        """The decision about a state before its turn. final: all that it needs has ended; what does
        not run ends here.
        """
        chunk = self.plan.chunk(position)
        is_pending = self._is_pending(chunk)
        decision = self._decided(chunk, self.plan.judged_by(position), is_pending)
        if final and decision.verdict in NOT_RUN:
            self._ended(position, decisions.not_run_result(chunk, decision), decision, is_pending)
        return decision

    def _decided(self, chunk: Chunk, edges: Edges, is_pending: bool) -> Decision:
        due = self.tracker.due(chunk, self.run.results) if is_pending else ()
        if not edges.groups and not due:
            return RUN
        told = [(group, self._telling(group)) for group in edges.groups if group.kind.orders]
        decision = decisions.decide([*self._seen(told)], due)
        if decision.verdict == Verdict.FAIL and any(telling.more for _, telling in told):
            return self._naming_all(told, due)
        return decision

    def _naming_all(
        self, told: Sequence[tuple[EdgeGroup, Telling]], due: Collection[str]
    ) -> Decision:
        """The decision that something failed, by all that did: the same for the same requisites."""
        groups = [group for group, _ in told]
        like = (
            *((group.together, group.kind, group.ordering, group.automatic) for group in groups),
            self.plan.steps[groups[0].holder].noop,
            *sorted(due),
        )
        known = self._failed_by.get(like)
        if known is None:
            whole = [(group, telling._replace(first=telling.named)) for group, telling in told]
            known = decisions.decide([*self._seen(whole)], due)
            ended = not any(group.kind.prepares for group in groups)
            if ended and all(self._outcomes.have_ended(group.targets) for group in groups):
                self._failed_by[like] = known
        return known

    def _reaction(self, position: int) -> Reaction:
        """The mod_watch of a state, with what it reacts to."""
        changed: list[str] = []
        needed: dict[str, list[Mapping[str, Any]]] = {}
        for group in self.plan.relations.of(position).groups:
            if group.counts_as.reaction == "watch" and group.kind.must_succeed == "all":
                changed += self._outcomes.changed(group, self.plan.steps[position].noop)
            needed.setdefault(str(group.kind), []).extend(self._outcomes.lows(group.targets))
        return Reaction(tuple(changed), low={"__reqs__": needed})

    def _telling(self, group: EdgeGroup) -> Telling:
        """What the states have come to that a requisite stands for; of a prereq their looks."""
        targets, telling = group.targets, None
        if len(targets) > 1 and group.kind.prepares:
            return self._outcomes.looked(targets, self._look)
        if len(targets) > 1:
            telling = self._outcomes.of(targets)
        return telling or decisions.Telling([*enumerate(map(self._result_of, group.edges()))])

    def _seen(
        self, told: Iterable[tuple[EdgeGroup, Telling]]
    ) -> Iterator[tuple[Edge, Result | None]]:
        """The requisites by which it is decided, each with the result that it goes by."""
        for group, telling in told:
            for place, result in telling.first:
                edge = group.edge(place)
                is_planned = result is not None and result.noop and not edge.kind.prepares
                if is_planned and self.plan.steps[edge.holder].noop:
                    result = self._result_of(edge)
                yield edge, result

    def _finish(self, position: int, result: Result) -> None:
        with undisturbed():
            finished = self._note(position, result)
        self.run.follow(finished)

    def _note(self, position: int, result: Result) -> Result:
        """Note the result of a state, undisturbed: it has run, or is left, never both."""
        if not result.ran:
            result = result._replace(run_num=self.number)
            self.number += 1
        self.results[position] = self._report_result(result)
        if self._has_looks:
            self._outcomes.note(position, self.results[position])
        return self.results[position]

    def _report_result(self, result: Result) -> Result:
        """Tell all listeners of a result, undisturbed."""
        tag = result.tag
        self.run.execution.observe(result)
        result = self.run.secrets.result(result)
        self.finished.append(result)
        self.run.results[tag] = result
        self.run.emit(StateFinished(result))
        return result

    def _prepare_change(self, positions: Sequence[int], reacts: bool) -> None:
        """What has to be durable before states change something. reacts: it is a reaction."""
        if GROUP_COMMIT.has_to_run_again:
            raise StateFailed("a file that it goes by could not be written", changes={})
        if reacts:
            durability.make_names_durable()
        self.tracker.record(positions, self.results)

    # -------------------------------------------------- what decide sees

    @cached_property
    def _outcomes(self) -> outcomes.Outcomes:
        return outcomes.Outcomes(self.plan, self.results)

    def _result_of(self, edge: Edge) -> Result | None:
        if edge.target == LEFT_OUT:
            return None
        if edge.kind.prepares:
            return self._look(edge.target)
        result = self.results.get(edge.target)
        if result is not None and result.noop and self.plan.steps[edge.holder].noop:
            return result._replace(noop=False)  # what is only planned says what would follow
        return result

    def _look(self, position: int) -> Result:
        """A prereq look: all that the state would do up to its Plan, its own requisites and prereqs
        included. It is taken anew for each state that looks, unless nothing has happened since.
        """
        if known := self._outcomes.look(position):
            return known
        decision = self._foreseen(position, final=True)
        if position in self.results:
            return self.results[position]
        look = self._called(position, decision, Mode.LOOK)
        may_change = self._overlaps and self.parallel.positions()
        if not (may_change or self._is_pending(self.plan.chunk(position))):
            self._outcomes.keep(position, look)
        return look

    # -------------------------------------------------- listen

    def _listeners(self) -> None:
        done: set[int] = set()

        def is_due(position: int) -> bool:
            chunk = self.plan.chunk(position)
            return self._is_pending(chunk) and "listen" in self.tracker.due(chunk, self.run.results)

        for group in self.plan.listening(self._is_heard, is_due):
            position = group.holder
            if position in done or not (self._heard_of(group) or is_due(position)):
                continue
            chunk = self.plan.chunk(position)
            done.add(position)
            own, prepared = self.results.get(position), position in self._looked_at
            # else, as Salt: it did not run when its change was to be prepared
            if own is None or own.ran or not prepared:
                groups = self.plan.relations.of(position).groups
                heard = [one for each in groups for one in self._heard_of(each)]
                by = "" if is_due(position) else decisions.decider(heard)
                own = self._listener(position, by)
            if own.result and not self.run.dry:
                self.tracker.forget(chunk, "listen")

    def _heard_of(self, group: EdgeGroup) -> list[Result]:
        """What a listener hears of."""
        if group.kind.reaction != "listen":
            return []
        seen = self._seen([(group, self._telling(group))])
        return [source for edge, source in seen if source and self._is_heard(edge)]

    def _is_heard(self, edge: Edge) -> bool:
        """Return whether a listener hears of a change."""
        source = self._result_of(edge)
        return (
            source is not None and (bool(source.changes) or source.may_change) and not source.noop
        )

    def _listener(self, position: int, decided_by: str) -> Result:
        """The reaction of a listener. decided_by: as of a Reaction."""
        step = self.plan.steps[position]
        reaction = self.plan.listener(position)._replace(decided_by=decided_by)
        invocation = Invocation(step, Mode.DRY if step.noop else self._mode, reaction)
        result = _with_reaction(self.invoke(invocation), reaction, invocation.mode)
        self.number += 1
        noop = step.noop and not self.run.dry
        with undisturbed():
            return self._report_result(result._replace(run_num=self.number - 1, noop=noop))

    # -------------------------------------------------- what has to last

    def _later_checks(self) -> None:
        """Look again at what states have started; what did not last is one more result."""
        for check in self.run.stores.get(LATER_CHECKS, {}).values():
            time.sleep(max(0.0, check.due - time.monotonic()))
            chunk = check.chunk
            with running(Current(self.run, chunk)):
                try:
                    problem = check.problem()
                except StateFailed as failure:
                    problem = failure.message
            if problem and check.hint:
                warning = Diagnostic(problem, None, check.hint, severity="warning")
                self.run.emit(Warned((self.run.secrets.diagnostic(warning),)))
            elif problem:
                self._report_later(chunk, "recheck", problem)

    def _report_unsynced(self) -> None:
        """Report what states wrote and a power loss may take back, as failures of these states."""
        for failure in FOLDER_SYNCS.failures():
            chunk = failure.who or self.plan.chunk(self.plan.order[-1])
            problem = f"what was written in {failure.path} may not last: {failure.problem}"
            self._report_later(chunk, "sync", problem)

    def _report_later(self, chunk: Chunk, what: str, problem: str) -> None:
        """One more result of a state that has ended, a failed one."""
        key = f"{chunk.state}_|-{what}_{chunk.id}_|-{chunk.name}_|-{chunk.fun}"
        extra = {"__id__": f"{what}_{chunk.id}"}
        result = Result(chunk, False, problem, key=key, extra=extra, run_num=self.number)
        with undisturbed():
            self._report_result(result)
        self.number += 1


def _with_reaction(result: Result, reaction: Reaction, mode: str) -> Result:
    """Add to the result of a reaction what it did and what for; nothing is known of what nobody
    knows a reason for.
    """
    if result.result is None and reaction.decided_by:
        return result.undecided_until(reaction.decided_by)
    done = "changed" if mode is Mode.REAL else "would change"
    cause = (
        f", because {some_of([*dict.fromkeys(reaction.changed)])} {done}"
        if reaction.changed
        else ""
    )
    return result._replace(reaction=f"{result.comment}{cause}" if result.changes else "")
