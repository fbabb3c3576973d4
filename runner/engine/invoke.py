# SPDX-License-Identifier: Apache-2.0
"""One chunk -> one Result: guards, look, change, check_cmd, retry.

The fork between a dry and a real run stands in `_called`, once: the generator of a state function
is resumed after its Plan, or closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import cached_property, partial

from runner.api import (
    Done,
    Overtaken,
    Plan,
    StateFailed,
    changes_allowed,
    comment_of,
    durability,
    here,
    planning,
    running,
)
from runner.api import facts as provided
from runner.engine import dry_run_facts, guards, partial_changes, slots
from runner.engine import made as engine_made
from runner.engine.context import Current, Run
from runner.engine.look import Look, asked, teller
from runner.engine.step import Call, Invocation, Mode, Reaction, Step
from runner.language.arguments import retry, schema
from runner.language.salt import returns
from runner.model import nested, ordered_dict, plain_values
from runner.model.chunk import GUARDS, SLOT, Chunk
from runner.model.errors import RunnerError
from runner.model.events import StatePlanned
from runner.model.places import Value
from runner.model.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Mapping
    from typing import Any

    from runner.engine.dry_run_facts import Foreseen, PendingFacts
    from runner.model.made import Thing

Bind = Callable[[Step, Reaction | None], Call]
_GUARDS = frozenset(GUARDS)
MOST_LOOKS = 100  # of each state beside others one comes first in each
# arguments of states that look at owners and modes
_OF_RIGHTS = frozenset(("user", "group", "mode", "dir_mode", "file_mode", "recurse", "perms"))


class Invoker:
    """Runs steps one at a time. `bind` checks and converts arguments and finds the function."""

    def __init__(self, run: Run, bind: Bind, twin: Invoker | None = None) -> None:
        self.run, self.bind, self._twin = run, bind, twin
        self.attempts = (
            0  # attempts made for the last chunk (each one counts in Salt's run numbers)
        )
        self.began = 0.0  # with the last chunk, as time.time() tells it
        self._things: tuple[Thing, ...] | None = None  # what the present state makes or removes

    @cached_property
    def pending(self) -> PendingFacts:
        """What will be done brings."""
        return self._twin.pending if self._twin else dry_run_facts.PendingFacts()

    @cached_property
    def planned(self) -> PendingFacts:
        """And what no-op states plan, too, for those."""
        return self._twin.planned if self._twin else dry_run_facts.PendingFacts()

    def twin(self) -> Invoker:
        """Another one for the same run, for a state that runs beside this one's."""
        return Invoker(self.run, self.bind, self)

    def __call__(self, invocation: Invocation) -> Result:
        """The result of one step."""
        started = time.perf_counter_ns()
        now = self.began = time.time()
        chunk, reaction = invocation.step.chunk, invocation.reaction
        if reaction:
            low = {**chunk.low, "fun": "mod_watch", "sfun": chunk.fun, **reaction.low}
            chunk = chunk._replace(low=low)
        current = Current(
            self.run,
            chunk,
            dry=invocation.mode is not Mode.REAL,
            changed_requisites=reaction.changed if reaction else (),
        )
        self._things = () if reaction else None
        with running(current):
            self.attempts = 1
            attempt = (
                self._retried if chunk.args.get("retry", False) is not False else self._attempt
            )
            result = attempt(invocation)
        if current.warnings:
            warnings = (*result.warnings, *self._warnings(invocation, current))
            result = result._replace(warnings=warnings)
        fields = _readable(result)
        if reaction:
            fields["key"] = reaction.key
        if result.changes:
            fields["things"] = self._things or ()
        if current.inputs:
            fields["inputs"] = tuple(current.inputs)
        fields["run_num"] = invocation.number + self.attempts - 1
        fields["duration"] = (time.perf_counter_ns() - started) // 1000 / 1000
        return result._replace(started=now, **fields)

    def _warnings(self, invocation: Invocation, current: Current) -> Iterator[str]:
        """Yield what a state warns of, once each, unless a pending one may make it untrue."""
        for message, unless in dict.fromkeys(current.warnings):
            if unless is None or not current.dry:
                yield message
                continue
            hidden = self._hidden(invocation, from_commands=False)
            if not self._facts(invocation).brings([unless], hidden):
                yield message

    # -------------------------------------------------- retry

    def _retried(self, invocation: Invocation) -> Result:
        args, mode = invocation.step.chunk.args, invocation.mode
        if mode is Mode.LOOK or (mode is Mode.DRY and not self.run.dry):
            return self._attempt(invocation)
        options, problem = retry.retry_options(args["retry"])
        if mode is Mode.DRY:
            result = self._attempt(invocation)
            note = (
                f"  The state would be retried every {options.interval} seconds (with a splay of up"
                f" to {options.splay} seconds) a maximum of {options.attempts} times or until a"
                f" result of {options.until} is returned"
            )
            return result._replace(comment=result.comment + note)
        comments = [problem] if problem else []
        while True:
            result = self._attempt(invocation)
            if result.result is options.until or self.attempts >= options.attempts:
                return (
                    result._replace(comment="\n".join([*comments, result.comment]))
                    if comments
                    else result
                )
            comments.append(
                f'Attempt {self.attempts}: Returned a result of "{result.result}", '
                f'with the following comment: "{result.comment}"'
            )
            self.attempts += 1
            time.sleep(options.pause())

    # -------------------------------------------------- one attempt

    def _attempt(self, invocation: Invocation) -> Result:
        chunk, is_built_in = invocation.step.chunk, False
        try:
            skipped, unsure = None, ""
            if not _GUARDS.isdisjoint(chunk.args):
                skipped, unsure = self._guards(invocation)
            if skipped:
                return self._skipped(invocation, skipped, unsure)
            if self.run.mock:
                return Result(chunk, True, "Not called, mocked")
            step = invocation.step
            if step.call is None or step.chunk.name.startswith(SLOT):
                step = self._filled(step)
            call = self.bind(step, invocation.reaction)
            is_built_in = call.function.is_built_in
            called = self._classic if call.function.classic else self._called
            result = self._overtaking_none(called, invocation, call)
            if unsure and result.result is not False:
                result = self._undecided(result, unsure)
            if (name := step.chunk.name) != chunk.name:  # a slot
                result = result._replace(extra={**result.extra, "name": name})
            if (
                "check_cmd" in chunk.args
                and not call.checks_itself
                and (invocation.mode is Mode.REAL or result.result is not None)
            ):
                # of a state that writes files the command says what is wrong with one
                with_output = "validate" in schema.known(call.function.function)
                result = self._checked(chunk, result, with_output)
            return result
        except planning.Unforeseen as unknown:
            return self._unknown(invocation, str(unknown))
        except RunnerError as error:
            refused = StateFailed(str(error), missing=error.missing)
            return self._failed(invocation, refused, {}, of_guard=True)
        except StateFailed as failure:  # a guard's command that cannot be started
            return self._failed(invocation, failure, {}, of_guard=True)
        except partial_changes.NOT_THE_STATES:
            raise
        except BaseException as error:  # sys.exit() too
            return Result(chunk, False, partial_changes.apology(error, is_built_in))

    def _overtaking_none(
        self, called: Callable[..., Result], invocation: Invocation, call: Call
    ) -> Result:
        """The result of a state that looks again as often as somebody writes a file between its
        look and its change: both edits are there then. What it had changed before is told, too.
        """
        made: dict[str, Value] = {}
        for _ in range(MOST_LOOKS):
            here.has_changed = False
            try:
                result = called(invocation, call)
                return result._replace(changes={**made, **result.changes}) if made else result
            except Overtaken as overtaken:
                last = overtaken
                made |= overtaken.changes or {}
                if here.has_changed and call.function.classic:
                    break  # it would do again what nobody knows
        last.changes = made
        return self._failed(invocation, last, {})

    def _checked(self, chunk: Chunk, result: Result, with_output: bool) -> Result:
        """The result after check_cmd; the changes stay reported."""
        try:
            passed, comment = guards.checked(self._guard_context(chunk), with_output)
        except (RunnerError, StateFailed) as error:
            passed, comment = False, error.message
        return result._replace(result=passed, comment=comment)

    def _guard_context(self, chunk: Chunk) -> guards.GuardContext:
        call = self.run.call
        context = guards.GuardContext(
            chunk.args, self.run.ask, self.run.took_failure, warn=here.warn
        )
        if not self.run.dry:
            return context
        return context._replace(  # as planned
            exists=partial(call, "file.exists"), is_dir=partial(call, "file.is_dir")
        )

    def _guards(self, invocation: Invocation) -> tuple[str | None, str]:
        """The reason to skip a state, and the pending state that may make it otherwise; empty when
        none.
        """
        args = invocation.step.chunk.args
        context = self._guard_context(invocation.step.chunk)
        look = self._look(invocation, partial(guards.reason_to_skip, context), "/")
        skipped = look.outcome()
        told = planning.overview(self.run.stores).told if invocation.mode is not Mode.REAL else {}
        if told and (by := teller(guards.programs(args), args.get("cwd"), told)):
            return skipped, by
        if (doubts := look.doubts) is None:
            return skipped, ""
        for command in guards.programs(args):
            if by := asked(command, args.get("cwd"), doubts, context.exists):
                return skipped, by
        otherwise = any(bool(other) != bool(skipped) for _, other in look.others())
        return skipped, doubts.by if otherwise else ""

    def _look(
        self, invocation: Invocation, look: Callable[[], object], rights_in: str = ""
    ) -> Look:
        """A look, in a dry run with what it cannot know. rights_in: as of `doubts`."""
        doubts = None
        if self.run.dry and invocation.mode is not Mode.REAL:
            settled = planning.overview(self.run.stores).settled
            doubts = self._facts(invocation).doubts(invocation.waits_for, settled, rights_in)
        return Look(self.run, invocation.step.chunk, look, doubts)

    def _skipped(self, invocation: Invocation, reason: str, unsure: str) -> Result:
        """unsure: the pending state that may change what guards say."""
        chunk = invocation.step.chunk
        context = self._guard_context(chunk)
        folder = guards.missing_folder(context)
        dry = self.run.dry or invocation.mode is Mode.DRY
        undecided = unsure or (dry and self._unseen(invocation, folder))
        if undecided and not guards.skips_anyway(context):
            return self._undecided(Result(chunk, None, reason), undecided)
        warnings = (
            (f"the cwd {folder} does not exist: guards that should run in it were not evaluated",)
            if folder
            else ()
        )
        return Result(chunk, True, reason, extra={"skip_watch": True}, warnings=warnings)

    def _unseen(self, invocation: Invocation, folder: str) -> str:
        """The pending state that may change what guards say: one whose plan they do not see; empty
        when none.

        folder: the missing one that commands of guards are to run in.
        """
        programs = guards.asks_programs(invocation.step.chunk.args)
        pending = self._facts(invocation)
        hidden = [
            state
            for state in self._hidden(invocation, programs)
            if programs or not pending.is_doubted(state)
        ]
        return pending.maker_of(("file", folder)) or next(iter(hidden), pending.open_by)

    def _undecided(self, result: Result, by: str, look: Look | None = None) -> Result:
        """The result, undecided where it depends on a pending state. by: that one; empty when
        none. look: the one that came upon it.
        """
        if not by:
            return result
        told = planning.overview(self.run.stores).open.get(by, ())
        met = look.doubts.path if look and look.doubts else ""
        about = next((each for each in told if (met or result.chunk.name) in each), "")
        about = about or next(iter(told), "")
        why = f" ({about})" if about else ""
        return result.undecided_until(by, why)

    def _unknown(self, invocation: Invocation, why: str) -> Result:
        """The result of a state that a dry run cannot look for."""
        chunk = invocation.step.chunk
        told = (chunk.name, *chunk.args.values())  # where it may make something
        paths = [path for path in told if isinstance(path, str) and path.startswith("/")]
        self._note(invocation, [(chunk.state, chunk.name), *provided.open_at(*paths)])
        comment = why[:1].upper() + why[1:]
        return Result(chunk, None, comment, exact=False, undecided=True)

    def _facts(self, invocation: Invocation) -> PendingFacts:
        """Return what is pending, as a state sees it."""
        return self.planned if invocation.step.noop else self.pending

    def _note(
        self, invocation: Invocation, provides: object, foreseen: Foreseen | None = None
    ) -> None:
        """Note what the plan of a state provides."""
        foreseen = foreseen or dry_run_facts.Foreseen.NOT
        if foreseen is dry_run_facts.Foreseen.NOT:
            dry_run_facts.unsettle(planning.overview(self.run.stores).settled, provides)
        self.planned.note(invocation.step.chunk, provides, foreseen)
        if invocation.will_be_done:
            self.pending.note(invocation.step.chunk, provides, foreseen)

    def _hidden(self, invocation: Invocation, from_commands: bool) -> list[str]:
        """The pending states that this one requires, nearest first, whose plans looks do not see,
        or commands do not.
        """
        blind = from_commands and not planning.overview(self.run.stores).is_seen_by_commands
        pending = self._facts(invocation)
        return [
            state
            for state in invocation.waits_for()
            if blind or not pending.is_seen(state, by_commands=from_commands)
        ]

    def _filled(self, step: Step) -> Step:
        """The step with its slots evaluated."""
        chunk = step.chunk
        if nested.has_slot(chunk.name) or any(
            nested.has_slot(value) for value in chunk.args.values()
        ):
            args = {key: slots.fill(value, self.run.ask) for key, value in chunk.args.items()}
            name = str(slots.fill(chunk.name, self.run.ask))
            return step.with_chunk(chunk._replace(name=name, args=args))
        return step

    def _called(self, invocation: Invocation, call: Call) -> Result:
        """Look, and change where that is not a dry run: the fork between both."""
        chunk, mode = invocation.step.chunk, invocation.mode
        rights_in = chunk.name if _OF_RIGHTS & chunk.args.keys() else ""
        look = self._look(invocation, partial(call.function.function, **call.arguments), rights_in)
        plan: Plan | None = None
        try:
            plan = _plan(chunk, look.first())
            unsure = look.unsure("planned", plan) if plan.exact else ""
            failure = self._dry_run_check(invocation, call, plan) if mode is Mode.DRY else None
            if mode is not Mode.LOOK and not failure and self.run.listeners.take(StatePlanned):
                self.run.emit(StatePlanned(chunk, plain_values.plain(plan.changes), plan.comment))
            if mode is not Mode.REAL:
                changes = plan.changes
                if mode is Mode.DRY and not failure:
                    changes = self._foresee(call, plan, look.begun, invocation)
                look.begun.close()
                if failure:
                    return Result(chunk, False, failure.message)
                result = Result(chunk, None, plan.comment, changes, exact=plan.exact)
                return self._undecided(result, unsure, look) if unsure else _with_plan(plan, result)
            if self._things is None:  # not what an attempt before this one has made
                self._things = engine_made.about_to_make(self.run, call, chunk)
            if not call.function.is_built_in:
                durability.make_names_durable()  # nobody knows what it does
            invocation.before_change()
            with changes_allowed():
                next(look.begun)
            raise RuntimeError(f"{chunk.function} yields twice")
        except StopIteration as stop:
            done = _done(chunk, stop.value, plan.changes if plan else {})
            done = _with_plan(plan, done) if plan else done
            if look.doubts is None and mode is not Mode.DRY:
                return done
            by = look.unsure("done") or self._bringer(invocation, stop.value)
            return self._undecided(done, by, look) if by else done
        except Overtaken as overtaken:
            if plan and here.has_changed:
                overtaken.changes = partial_changes.made(plan, look.function)
            raise
        except (planning.Unforeseen, *partial_changes.NOT_THE_STATES):
            raise
        except StateFailed as failure:
            part = (
                partial_changes.made(plan, look.function)
                if plan and failure.changes is None
                else {}
            )
            unsure = look.unsure("failed") if plan is None else ""
            return self._failed(invocation, failure, part, unsure=unsure)
        except RunnerError as error:
            refused = StateFailed(str(error), missing=error.missing)
            return self._failed(invocation, refused, plan.changes if plan else {})
        except BaseException as error:
            note = " (what it had planned may have been changed in part)" if plan else ""
            comment = partial_changes.apology(error, call.function.is_built_in) + note
            return Result(
                chunk, False, comment, partial_changes.made(plan, look.function) if plan else {}
            )

    def _foresee(
        self,
        call: Call,
        plan: Plan,
        outcome: Generator[Plan, None, str | Done],
        invocation: Invocation,
    ) -> Mapping[str, Value]:
        """Carry a state out on the planned machine, for the looks of those that follow; what it
        reports there is what it will have changed, the Plan's changes where it reports nothing.
        Raises StateFailed where that fails as it will on the machine.

        Only functions of the library are: they change nothing but by changers. A state that the
        real run only plans (noop) is not: the others go by the machine.
        """
        changes = plan.changes
        foreseen: Foreseen | None = None
        pending: Collection[object] | None = None
        if self.run.dry and invocation.will_be_done and call.function.is_built_in:
            try:
                with planning.changes_planned() as planned:
                    next(outcome)
            except StopIteration as stop:
                if planned.pending is not None:
                    seen = dry_run_facts.Foreseen
                    foreseen = seen.IN_FILES if planned.only_files else seen.BY_LOOKS
                if not planned.leaves_pending and plan.exact:
                    done = _done(invocation.step.chunk, stop.value, plan.changes)
                    changes = done.changes
                pending = planned.pending
            except planning.Unforeseen:
                pass
        provides = plan.provides
        if foreseen is None and (created := guards.created(invocation.step.chunk.args)):
            known = provides if isinstance(provides, Iterable) else [provides]
            provides = [*known, *(("created", path) for path in created)]
        self._note(invocation, provides, foreseen)
        if pending:
            dry_run_facts.unsettle(planning.overview(self.run.stores).settled, pending)
            for facts in (self.planned, self.pending):  # it will be done
                facts.note_open(invocation.step.chunk, pending)
        return changes

    def _dry_run_check(self, invocation: Invocation, call: Call, plan: Plan) -> StateFailed | None:
        """The reason why a plan would fail, as far as a dry run knows."""
        check = call.function.hook("dry_run_check")
        facts = self._facts(invocation)
        return facts.hindered(partial(check, **call.own_arguments), plan) if check else None

    def _bringer(self, invocation: Invocation, outcome: object) -> str:
        """The pending state that may bring what is not there, so that there is nothing to do; empty
        when none. Of what takes things away, and finds none, it is a required one after which
        anything may be there.
        """
        if invocation.mode is not Mode.DRY or invocation.reaction:
            return ""
        facts, by = self._facts(invocation), ""
        if isinstance(outcome, Done) and outcome.missing:
            hidden = self._hidden(invocation, from_commands=False)
            by = facts.may_bring(list(outcome.missing), hidden)
        if not by and engine_made.takes_away(invocation.step.chunk.fun):
            by = facts.opened_by(invocation.waits_for)
        return by

    def _failed(
        self,
        invocation: Invocation,
        failure: StateFailed,
        planned: Mapping[str, Value],
        of_guard: bool = False,
        unsure: str = "",
    ) -> Result:
        """of_guard: its commands run on the machine, and see nothing that is only planned. unsure:
        the pending state after which it may not fail.
        """
        chunk, mode = invocation.step.chunk, invocation.mode
        provider = unsure
        if failure.missing and not unsure and mode is not Mode.REAL:
            facts = self._facts(invocation)
            makers = map(facts.maker_of, failure.missing if of_guard else ())
            provider = next(filter(None, makers), "") or facts.brings(
                failure.missing, self._hidden(invocation, from_commands=True)
            )
        if provider:
            if mode is Mode.DRY:  # its own plan is not known, but what it is for will be there
                self._note(invocation, [(chunk.state, chunk.name)])
            return self._undecided(Result(chunk, False, failure.message), provider)
        changes = planned if failure.changes is None else failure.changes
        unstarted = bool(failure.missing) and failure.changes == {} and self.attempts == 1
        return Result(chunk, False, failure.message, changes, unstarted=unstarted)

    def _classic(self, invocation: Invocation, call: Call) -> Result:
        chunk, mode = invocation.step.chunk, invocation.mode
        arguments = ordered_dict.as_said(chunk.args, call.arguments)
        if mode is Mode.REAL:
            durability.make_names_durable()  # nobody knows what it does
            invocation.before_change()
        with changes_allowed() if mode is Mode.REAL else nullcontext():
            answer = returns.called(call.function.function, arguments)
        result = returns.result_of(chunk, answer)
        if mode is Mode.REAL:
            return result
        result = self._undecided(result, self._unseen_by_tree(invocation))
        if result.result is None and not result.changes:  # many do not say what they would change
            result = result._replace(exact=False)
        if mode is Mode.DRY and result.result is None:
            self._note(invocation, provided.OPEN)
        return result

    def _unseen_by_tree(self, invocation: Invocation) -> str:
        """The pending state that may change what a tree's own function says; empty when none."""
        if not self.run.dry:
            return ""
        hidden = self._hidden(invocation, from_commands=True)
        return next(iter(hidden), "") or self._facts(invocation).brings(())


def _plan(chunk: Chunk, yielded: object) -> Plan:
    if not isinstance(yielded, Plan):
        raise TypeError(f"{chunk.function} yields {type(yielded).__name__}, not a Plan")
    return yielded


def _done(chunk: Chunk, outcome: str | Done, planned: Mapping[str, Value]) -> Result:
    if isinstance(outcome, str):
        return Result(chunk, True, outcome, planned)
    if not isinstance(outcome, Done):
        raise TypeError(
            f"{chunk.function} returned {type(outcome).__name__}, not a comment or Done"
        )
    return Result(
        chunk,
        True,
        comment_of(outcome),
        planned if outcome.changes is None else outcome.changes,
        extra=outcome.extra,
    )


def _with_plan(plan: Plan, result: Result) -> Result:
    """Add to a result what its plan says of it: further keys, and whether its changes already are a
    reaction.
    """
    if plan.extra or plan.before:
        result = result._replace(extra={**plan.extra, **result.extra}, before=plan.before)
    if plan.reacted_by is None or any(key in plan.reacted_by for key in result.changes):
        return result
    return result._replace(reacted=False)


def _readable(result: Result) -> dict[str, Any]:
    """The fields of a result as every output, and the history, can write them."""
    fields: dict[str, Any] = {}
    if type(result.comment) is not str:
        fields["comment"] = plain_values.text_of(result.comment)
    if result.changes:
        fields["changes"] = plain_values.plain(result.changes)
    if result.extra:
        fields["extra"] = plain_values.plain(result.extra)
    return fields
