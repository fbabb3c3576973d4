# SPDX-License-Identifier: Apache-2.0
"""Plans that are kept and applied: `--plan`, `runner apply`, `--ask`.

To apply a plan is to plan once more, from the same tree, under the lock that the run then holds: if
everything is still as the plan says, the same states are run for real.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator

from runner import __version__
from runner.api import running
from runner.engine.interrupts import ending
from runner.history.recorder import About
from runner.history.saved_plan import plan_file
from runner.history.saved_plan.comparison import RealState, done_otherwise, no_longer_true
from runner.history.saved_plan.machine_key import MachineKey, machine_key, passing_key
from runner.history.saved_plan.observations import Observation, before_state, state_after
from runner.history.saved_plan.plan import (
    PlannedState,
    PlanRequest,
    SavedPlan,
    chunk_digests,
    identity_of,
    outcome_digest,
    planned_state,
)
from runner.history.saved_plan.tree_revision import TreeRoot, changed_roots, tree_roots
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError, UsageError
from runner.model.events import Warned
from runner.model.highdata import of_one
from runner.model.places import of_host
from runner.model.records import Record
from runner.model.result import HIGHSTATE, Report, Result
from runner.pipeline.compile import Compiled, Compiling, of_gathered, of_requests
from runner.pipeline.lock import held
from runner.pipeline.session import Listeners, Session, of_named
from runner.pipeline.stages import about_run, compile_tree, new_run_id, recorded, run_compiled
from runner.sources.config.options import Options
from runner.support.redaction import HIDDEN, Secrets, command_line

SHOWN = 100  # differences that a refusal lists
REFUSED = "plan"  # the code of what a plan forbids


class Destination(Record):
    """Where a plan is kept. sign: signs its contents; None for a plan that is not signed."""

    path: str
    typed: str  # the command line, for people
    sign: Callable[[bytes], bytes] | None = None


class Planned(Record):
    """A plan and the report of its dry run. plan: None when the dry run was interrupted."""

    plan: SavedPlan | None
    report: Report


def make(
    options: Options, request: PlanRequest, destination: Destination, listeners: Listeners = ()
) -> Planned:
    """Plan, and keep the plan in a file."""
    options = of_named(options, request.command == "sls")
    session = Session(options, tuple(listeners))
    run_id = new_run_id()
    with (
        ending(options.timeout),
        recorded(session, run_id, _about(session, request)),
        held(options.state_dir, options.wait),
    ):
        key = machine_key(options.state_dir, make=True)
        assert key is not None, "it is made"
        planned = _planned(session, request, key, run_id, destination.typed)
        if planned.plan is not None:
            data = plan_file.text_of(planned.plan, key)
            signature = destination.sign(data) if destination.sign else b""
            plan_file.remove(destination.path + ".sig")
            plan_file.write(destination.path, data)
            if signature:
                plan_file.write(destination.path, signature, ".sig")
        return planned


def apply(
    options: Options,
    plan: SavedPlan,
    key: MachineKey,
    allow_other_tree: bool = False,
    listeners: Listeners = (),
) -> Report:
    """Do what a plan says, or nothing: raises CompileError with what holds no longer. A dry run
    only compares.
    """
    options = of_named(options, plan.request.command == "sls")
    acting = Session(options, tuple(listeners))
    with (
        ending(options.timeout),
        recorded(acting, new_run_id(), _about(acting, plan.request)),
        held(options.state_dir, options.wait),
    ):
        return _applied(acting, plan, key, allow_other_tree)


def ask(
    options: Options,
    request: PlanRequest,
    confirmed: Callable[[Report], bool],
    planning: Listeners = (),
    listeners: Listeners = (),
) -> tuple[Report, bool]:
    """Plan, ask, and do it: the report, and whether anything was done. planning: what follows the
    dry run; listeners: the real one.
    """
    options = of_named(options, request.command == "sls")
    looking = Session(_dry(options), tuple(planning))
    run_id, key = new_run_id(), passing_key()
    with (
        ending(options.timeout),
        recorded(looking, run_id, _about(looking, request)),
        held(options.state_dir, options.wait),
    ):
        plan, report = _planned(looking, request, key, run_id)
        if plan is None or not report.changed or not confirmed(report):
            return report, False
        acting = Session(options, tuple(listeners))
        with recorded(acting, new_run_id(), _about(acting, request)):
            return _applied(acting, plan, key), True


# ---------------------------------------------------------------- planning


def _planned(
    session: Session,
    request: PlanRequest,
    key: MachineKey,
    run_id: str,
    typed: str = "",
    in_history: bool = True,
) -> Planned:
    """The plan of a dry run that is made now."""
    options, results = session.options, _ObservedResults(session, key)
    roots = _roots(options, key)
    report = run_compiled(
        session,
        compile_tree(session, _compiling(session, request)),
        run_id,
        _about(session, request),
        ready=lambda compiled: _refuse_secrets(session, request),
        observe=results,
        in_history=in_history,
    )
    if report.interrupted:
        return Planned(None, report)
    states = _states(session, results, key)
    if changes := changed_roots(roots, _roots(options, key)):
        raise _refusal("the tree was changed while the plan was made", changes, "make it again")
    plan = SavedPlan(
        made=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        version=__version__,
        machine=options.id,
        host=socket.gethostname(),
        user=str(os.geteuid()),
        key=key.identity,
        config=_config(options),
        typed=str(session.run.secrets.mask(typed)),
        request=request,
        pillar=pillar_digest(options, key),
        roots=roots,
        states=states,
    )
    return Planned(plan, report)


def _config(options: Options) -> str:
    return of_host(str(options.raw.get("conf_file") or ""))


def pillar_digest(options: Options, key: MachineKey) -> str:
    """The keyed hash of the pillar of the command line; empty without one."""
    return key.digest(options.pillar) if options.pillar else ""


def _roots(options: Options, key: MachineKey) -> tuple[TreeRoot, ...]:
    return tree_roots((options.file_roots, options.pillar_roots), key)


class _ObservedResults:
    """The results of a run as they are, secrets included, each with what its state left."""

    def __init__(self, session: Session, key: MachineKey) -> None:
        self._session, self._key = session, key
        self._all: list[tuple[Result, tuple[Observation, ...]]] = []

    def __call__(self, result: Result) -> None:
        with running(self._session.current()):
            after = state_after(result, self._session.run.call, self._key)
        self._all.append((result, after))

    def __iter__(self) -> Iterator[tuple[Result, tuple[Observation, ...]]]:
        return iter(self._all)


def _states(
    session: Session, results: _ObservedResults, key: MachineKey
) -> tuple[PlannedState, ...]:
    """The states of a plan, with what they find on the machine as it is, whatever a dry run has
    planned.
    """
    secrets = session.run.secrets
    present = Session(session.options)
    with running(present.current()):
        return tuple(
            planned_state(
                result,
                secrets.result(result),
                _shown(before_state(result, present.run.call, key), result, secrets),
                _shown(after, result, secrets),
                key,
            )
            for result, after in results
        )


def _shown(
    observations: tuple[Observation, ...], result: Result, secrets: Secrets
) -> tuple[Observation, ...]:
    """Observations without secrets in their names."""
    silent = bool(result.chunk.args.get("no_log"))
    return tuple(
        Observation(
            f"{HIDDEN} {number}" if silent else str(secrets.mask(item.subject)),
            secrets.mask(item.facts),
        )
        for number, item in enumerate(observations, 1)
    )


def _refuse_secrets(session: Session, request: PlanRequest) -> None:
    """Raise UsageError for a state of the command line whose arguments are secrets: a plan keeps
    them, and no secrets.
    """
    for key, value in request.arguments.items():
        word = f"{key}={value}"
        silent = (key == "no_log" and value) or (key == "show_changes" and value is False)
        shown = [session.run.secrets.mask(word)]
        if silent or command_line(shown, session.options.secret_keys) != [word]:
            raise UsageError(
                f"a plan of `single` keeps its arguments, and {key} is a secret or says so",
                hint="write the state in an SLS file, and its secret in the pillar",
            )


def _compiling(session: Session, request: PlanRequest) -> Compiling:
    if request.command == "single":
        return of_gathered(session, lambda: (of_one(request.names[0], request.arguments), []))
    return of_requests(session, request.names if request.command == "sls" else None)


def _about(session: Session, request: PlanRequest) -> Callable[[Secrets], About]:
    """Return what the history is told of a run for a request."""
    scope = HIGHSTATE if request.command == "highstate" else ""
    of_tree = request.command != "single"
    return lambda secrets: about_run(session, secrets, scope, of_tree)


def _dry(options: Options) -> Options:
    return options._replace(test=True, raw={**options.raw, "test": True})


# ---------------------------------------------------------------- applying


def _applied(
    acting: Session, plan: SavedPlan, key: MachineKey, allow_other_tree: bool = False
) -> Report:
    options, request = acting.options, plan.request
    _check_tree(plan, options, key, allow_other_tree)
    looking = Session(_dry(options), acting.listeners if options.test else ())
    now, report = _planned(looking, request, key, new_run_id(), in_history=options.test)
    if now is None:
        return report
    if differences := no_longer_true(plan.states, now.states):
        raise _refusal("the plan no longer holds; nothing was changed", differences, _hint(plan))
    if options.test:
        return report
    results = _ObservedResults(acting, key)

    def check(compiled: Compiled) -> None:
        """Raise CompileError where what is about to run is not what was planned."""
        if acting.options.test:
            raise _refusal("the pillar says `test: true`; nothing was changed", [], "")
        _check_tree(now, options, key, allow_other_tree)
        _check_compiled(compiled, now, looking.run.secrets, key)

    run_id = new_run_id()
    report = run_compiled(
        acting,
        compile_tree(acting, _compiling(acting, request)),
        run_id,
        _about(acting, request),
        ready=check,
        observe=results,
    )
    _report_differences(acting, plan, results, key)
    return report


def _check_tree(plan: SavedPlan, options: Options, key: MachineKey, allow_other: bool) -> None:
    """Raise CompileError where the tree is not that of the plan, before any of it is rendered."""
    if allow_other:
        return
    if changes := changed_roots(plan.roots, _roots(options, key)):
        hint = "make the plan again; --allow-other-tree compares the states alone"
        message = "the tree is not the one that the plan was made from; nothing was changed"
        raise _refusal(message, changes, hint)


def _check_compiled(compiled: Compiled, plan: SavedPlan, secrets: Secrets, key: MachineKey) -> None:
    """Raise CompileError where the tree compiles to something else than a moment ago, as a template
    with random values, or one that asks for `opts.test`.
    """
    planned = {state.identity: state for state in plan.states}
    differences = []
    for step in compiled.steps:
        state = planned.get(identity_of(step.chunk, step.chunk.tag, key))
        title = secrets.name(f"{step.chunk.function} {step.chunk.id}")
        if state is None:
            differences.append(f"{title}: it is new")
        elif (state.arguments, state.requisites) != chunk_digests(step.chunk, key):
            differences.append(f"{title}: its arguments or requisites are others")
    if differences:
        message = "the tree compiles to something else in a real run; nothing was changed"
        raise _refusal(message, differences, "does a template use random values, or `opts.test`?")


def _hint(plan: SavedPlan) -> str:
    return f"make it again: {plan.typed}" if plan.typed else "run the command again"


def _refusal(message: str, differences: list[str], hint: str) -> CompileError:
    problems = [Diagnostic(message, None, hint or None, REFUSED)]
    problems += [Diagnostic(line, code=REFUSED) for line in differences[:SHOWN]]
    if len(differences) > SHOWN:
        problems.append(Diagnostic(f"and {len(differences) - SHOWN} more", code=REFUSED))
    return CompileError(problems)


def _report_differences(
    session: Session, plan: SavedPlan, results: _ObservedResults, key: MachineKey
) -> None:
    """Warn of what the real run did otherwise than its plan said."""
    secrets = session.run.secrets
    real = [
        RealState(
            identity_of(result.chunk, result.tag, key),
            outcome_digest(result._replace(result=None), key),
            secrets.result(result),
            _shown(after, result, secrets),
        )
        for result, after in results
    ]
    warnings = tuple(
        Diagnostic(f"otherwise than planned: {line}", code=REFUSED, severity="warning")
        for line in done_otherwise(plan.states, real)
    )
    if warnings:
        session.emit(Warned(warnings))


def checked(plan: SavedPlan, options: Options, key: MachineKey) -> None:
    """Raise RunnerError where a plan is applied with other settings than it was made with."""
    config = _config(options)
    if config != plan.config:
        made_with = f"the configuration {plan.config}" if plan.config else "no configuration file"
        raise RunnerError(
            f"the plan was made with {made_with}, and this is {config or 'without one'}",
            hint=plan_file.how_to_apply(plan, "FILE"),
            code=REFUSED,
        )
    if pillar_digest(options, key) != plan.pillar:
        if plan.pillar:
            message = "the plan was made with another --pillar"
            hint = "a plan keeps no values of the pillar: give the same --pillar again"
        else:
            message, hint = "the plan was made without --pillar", "leave it out"
        raise RunnerError(message, hint=hint, code=REFUSED)
