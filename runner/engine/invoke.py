"""One chunk -> one Result: guards, look, change, check_cmd, retry.

The fork between a dry and a real run stands in `_planned`, once: the generator of a state function
is resumed after its Plan, or closed.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import nullcontext
from functools import partial
from typing import Any, Protocol

from runner.api import OPEN, Done, Plan, StateFailed, changes_allowed, running
from runner.arguments.retry import retry_options
from runner.engine import guards, slots
from runner.engine.context import Current, Run
from runner.engine.dry_run_facts import Pending
from runner.engine.partial_changes import NOT_THE_STATES, apology, made
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.events import StatePlanned
from runner.model.ordered_dict import as_said
from runner.model.places import Value
from runner.model.plain_values import plain, text_of
from runner.model.records import Record
from runner.model.result import Result


class Mode(enum.Enum):
    REAL = "real"
    DRY = "dry"
    LOOK = "look"  # of a prereq: unarmed, neither recorded nor told


class Function(Protocol):
    """A state function as the registry gives it."""

    @property
    def function(self) -> Callable[..., Any]: ...

    @property
    def classic(self) -> bool: ...

    def hook(self, name: str) -> Any: ...


class Call(Record):
    """A state function with its bound arguments, ready to be called."""

    function: Function
    arguments: Mapping[str, Value]
    checks_itself: bool = False  # the function has a check_cmd of its own
    warnings: tuple[str, ...] = ()


Bind = Callable[[Chunk, "Reaction | None"], Call]
Waits = Callable[[], tuple[str, ...]]  # asks for what a state waits for


class Reaction(Record):
    """Call mod_watch instead of the state function. `changed`: "state: ID" of what changed."""

    changed: tuple[str, ...] = ()
    key: str = ""  # the key of the result when it is a listener's
    low: Mapping[str, Any] = {}  # what its low chunk says instead of the state's, or beside it


class Invoker:
    """Runs chunks one at a time. `bind` checks and converts arguments and finds the function."""

    def __init__(self, run: Run, bind: Bind, pending: Pending | None = None) -> None:
        self.run, self.bind, self.pending = run, bind, pending or Pending()
        self.attempts = (
            0  # attempts made for the last chunk (each one counts in Salt's run numbers)
        )

    def twin(self) -> Invoker:
        """Another one for the same run, for a state beside this one's."""
        return Invoker(self.run, self.bind, self.pending)

    def __call__(
        self,
        chunk: Chunk,
        mode: Mode,
        reaction: Reaction | None = None,
        owe: Callable[[], None] = lambda: None,
        waits_for: Waits = lambda: (),
    ) -> Result:
        """The result of one chunk.

        reaction: call mod_watch instead. owe: called after the Plan, before anything is changed.
        waits_for: the states that this one requires and whose changes are still pending, nearest
        first (dry runs).
        """
        started = time.perf_counter()
        now = time.time()
        current = Current(self.run, chunk, dry=mode is not Mode.REAL)
        if reaction:
            low = {**chunk.low, "fun": "mod_watch", "sfun": chunk.fun, **reaction.low}
            current.chunk, current.changed_requisites = chunk._replace(low=low), reaction.changed
        with running(current):
            try:
                result = self._retried(chunk, mode, reaction, owe, waits_for)
            finally:
                current.clean()
        return _readable(result)._replace(
            key=reaction.key if reaction else "",
            warnings=(*result.warnings, *current.warnings),
            inputs=tuple(current.inputs),
            start_time=_clock(now),
            duration=round((time.perf_counter() - started) * 1000, 3),
        )

    # -------------------------------------------------- retry

    def _retried(
        self,
        chunk: Chunk,
        mode: Mode,
        reaction: Reaction | None,
        owe: Callable[[], None],
        waits_for: Waits,
    ) -> Result:
        self.attempts = 1
        if "retry" not in chunk.args or (mode is not Mode.REAL and not self.run.dry):
            return self._attempt(chunk, mode, reaction, owe, waits_for)
        wanted, problem = retry_options(chunk.args["retry"])
        if mode is Mode.DRY:
            result = self._attempt(chunk, mode, reaction, owe, waits_for)
            told = (
                f"  The state would be retried every {wanted.interval} seconds (with a splay of up"
                f" to {wanted.splay} seconds) a maximum of {wanted.attempts} times or until a"
                f" result of {wanted.until} is returned"
            )
            return result._replace(comment=result.comment + told)
        comments = [problem] if problem else []
        while True:
            result = self._attempt(chunk, mode, reaction, owe, waits_for)
            if result.result is wanted.until or self.attempts >= wanted.attempts:
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
            time.sleep(wanted.pause())

    # -------------------------------------------------- one attempt

    def _attempt(
        self,
        chunk: Chunk,
        mode: Mode,
        reaction: Reaction | None,
        owe: Callable[[], None],
        waits_for: Waits,
    ) -> Result:
        try:
            skipped = (
                guards.reason_to_skip(self._asking(chunk))
                if guards.GUARDS & chunk.args.keys()
                else None
            )
            if skipped:
                return self._skipped(chunk, mode, skipped, waits_for)
            if self.run.mock:
                return Result(chunk, True, "Not called, mocked")
            call = self.bind(self._filled(chunk), reaction)
            result = self._called(chunk, call, mode, owe, waits_for)
            if (
                "check_cmd" in chunk.args
                and not call.checks_itself
                and (mode is Mode.REAL or result.result is not None)
            ):
                result = self._checked(chunk, result)
            return (
                result._replace(warnings=(*call.warnings, *result.warnings))
                if call.warnings
                else result
            )
        except RunnerError as error:
            return Result(chunk, False, str(error))
        except StateFailed as failure:  # a guard's command that cannot be started
            return self._failed(chunk, failure, mode, {}, waits_for)
        except NOT_THE_STATES:
            raise
        except BaseException as error:  # sys.exit() too
            return Result(chunk, False, apology(error))

    def _checked(self, chunk: Chunk, result: Result) -> Result:
        """What check_cmd makes of a result; what was changed stays reported."""
        try:
            passed, comment = guards.checked(self._asking(chunk))
        except (RunnerError, StateFailed) as error:
            passed, comment = False, error.message
        return result._replace(result=passed, comment=comment)

    def _asking(self, chunk: Chunk) -> guards.Asking:
        return guards.Asking(chunk.args, self.run.call, self.run.took_failure)

    def _skipped(self, chunk: Chunk, mode: Mode, reason: str, waits_for: Waits) -> Result:
        folder = guards.missing_folder(chunk.args)
        maker = self.pending.facts.get(("file", folder), "")
        undecided = maker or next(iter(waits_for()), self.pending.open_by)
        if mode is Mode.DRY and undecided:
            return Result(
                chunk,
                None,
                f"{reason}; decided when {undecided} is done",
                exact=False,
                undecided=True,
            )
        warnings = (
            (f"the cwd {folder} is not there: what guards should run in it was not asked",)
            if folder
            else ()
        )
        return Result(chunk, True, reason, extra={"skip_watch": True}, warnings=warnings)

    def _filled(self, chunk: Chunk) -> Chunk:
        if slots.has_slot(chunk.name) or any(
            slots.has_slot(value) for value in chunk.args.values()
        ):
            args = {key: slots.fill(value, self.run.call) for key, value in chunk.args.items()}
            return chunk._replace(name=str(slots.fill(chunk.name, self.run.call)), args=args)
        return chunk

    def _called(
        self, chunk: Chunk, call: Call, mode: Mode, owe: Callable[[], None], waits_for: Waits
    ) -> Result:
        if call.function.classic:
            return self._classic(chunk, call, mode, owe)
        try:
            look = partial(call.function.function, **call.arguments)
            outcome = look()
            if isinstance(outcome, Generator):
                refuse = call.function.hook("dry_run_check") if mode is Mode.DRY else None
                dry_run_check = partial(refuse, **call.arguments) if refuse else None
                return self._planned(chunk, outcome, look, mode, owe, waits_for, dry_run_check)
            return _done(chunk, outcome, {})
        except StateFailed as failure:
            return self._failed(chunk, failure, mode, {}, waits_for)

    def _planned(
        self,
        chunk: Chunk,
        outcome: Generator[Plan, None, str | Done],
        look: Callable[[], object],
        mode: Mode,
        owe: Callable[[], None],
        waits_for: Waits,
        dry_run_check: Callable[[Plan], object] | None,
    ) -> Result:
        plan: Plan | None = None
        try:
            plan = _plan(chunk, next(outcome))
            if dry_run_check and (failure := self.pending.hindered(dry_run_check, plan)):
                outcome.close()
                return Result(chunk, False, failure.message)
            if mode is not Mode.LOOK:
                self.run.emit(StatePlanned(chunk, plain(plan.changes), plan.comment))
            if mode is not Mode.REAL:
                outcome.close()
                if mode is Mode.DRY:
                    self.pending.note(chunk, plan.provides)
                return _with_plan(
                    plan, Result(chunk, None, plan.comment, plan.changes, exact=plan.exact)
                )
            owe()
            with changes_allowed():
                next(outcome)
            raise RuntimeError(f"{chunk.function} yields twice")
        except StopIteration as stop:
            done = _done(chunk, stop.value, plan.changes if plan else {})
            done = _with_plan(plan, done) if plan else done
            return self._undecided(stop.value, done, waits_for) if mode is Mode.DRY else done
        except StateFailed as failure:
            part = made(plan, look) if plan and failure.changes is None else {}
            return self._failed(chunk, failure, mode, part, waits_for)
        except RunnerError as error:
            return Result(chunk, False, str(error), plan.changes if plan else {})
        except NOT_THE_STATES:
            raise
        except BaseException as error:
            told = " (what it had planned may have been changed in part)" if plan else ""
            return Result(chunk, False, apology(error) + told, made(plan, look) if plan else {})

    def _undecided(self, outcome: object, done: Result, waits_for: Waits) -> Result:
        """Nothing to do because something is not there: None where it may be there by then."""
        missing = list(outcome.missing) if isinstance(outcome, Done) else []
        by = self.pending.may_bring(missing, waits_for()) if missing else ""
        if not by:
            return done
        return done._replace(
            result=None,
            comment=f"{done.comment}; decided when {by} is done",
            exact=False,
            undecided=True,
        )

    def _failed(
        self,
        chunk: Chunk,
        failure: StateFailed,
        mode: Mode,
        planned: Mapping[str, Value],
        waits_for: Waits,
    ) -> Result:
        provider = (
            self.pending.brings(failure.missing, waits_for())
            if failure.missing and mode is not Mode.REAL
            else ""
        )
        if provider:
            if mode is Mode.DRY:  # its own plan is not known, but what it is for will be there
                self.pending.note(chunk, [(chunk.state, chunk.name)])
            told = f"{failure.message} (depends on {provider})"
            return Result(chunk, None, told, exact=False, undecided=True)
        changes = planned if failure.changes is None else failure.changes
        unstarted = bool(failure.missing) and failure.changes == {} and self.attempts == 1
        return Result(chunk, False, failure.message, changes, unstarted=unstarted)

    def _classic(self, chunk: Chunk, call: Call, mode: Mode, owe: Callable[[], None]) -> Result:
        from runner.loader.salt_returns import called, result_of

        arguments = as_said(chunk.args, call.arguments)
        if mode is Mode.REAL:
            owe()
        with changes_allowed() if mode is Mode.REAL else nullcontext():
            answer = called(call.function.function, arguments)
        result = result_of(chunk, answer)
        if mode is Mode.DRY and result.result is None:
            self.pending.note(chunk, OPEN)
        return result


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
        outcome.comment,
        planned if outcome.changes is None else outcome.changes,
        extra=outcome.extra,
    )


def _with_plan(plan: Plan, result: Result) -> Result:
    """The result with what its plan says of it: further keys, and whether its changes already are a
    reaction.
    """
    if plan.extra or plan.before:
        result = result._replace(extra={**plan.extra, **result.extra}, before=plan.before)
    if plan.reacted_by is None or any(key in plan.reacted_by for key in result.changes):
        return result
    return result._replace(reacted=False)


def _readable(result: Result) -> Result:
    """The result as every output, and the history, can write it."""
    if type(result.comment) is not str:
        result = result._replace(comment=text_of(result.comment))
    if not result.changes and not result.extra:
        return result
    return result._replace(changes=plain(result.changes), extra=plain(result.extra))


def _clock(now: float) -> str:
    """Salt's start_time: the local time of day with microseconds."""
    return time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1_000_000):06d}"
