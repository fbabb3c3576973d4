# SPDX-License-Identifier: Apache-2.0
"""The pipeline on one screen: a line for each stage, values in between.

Options -> SLS names -> high data -> chunks -> relations -> order -> results
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, forget_looks, running
from runner.engine.context import Current, Execution
from runner.engine.executor import Executor
from runner.engine.interrupts import ending
from runner.engine.invoke import Invoker
from runner.engine.reaction_journal import ReactionJournal
from runner.engine.reactions import ReactionTracker
from runner.engine.run_plan import RunPlan
from runner.engine.step_hooks import refusals
from runner.history import revision
from runner.history.made import HIGHSTATE
from runner.history.recorder import About, History
from runner.history.store import open_history, readable
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.events import Warned
from runner.model.highdata import Made, of_one, of_states
from runner.model.places import Source, Value
from runner.model.result import Report, Result
from runner.pipeline.aborted import note_not_started, recorded
from runner.pipeline.compile import Compiled, Compiling, of_gathered, of_requests
from runner.pipeline.highstate import (
    Gathered,
    gather,
    learn_secrets,
    missing_sls,
    read_pillar,
    requests,
)
from runner.pipeline.lock import held
from runner.pipeline.orphans import declared, tree_of
from runner.pipeline.requisite_graph import requisite_graph
from runner.pipeline.session import Listeners, Session, of_named
from runner.pipeline.temp_files import Temporaries
from runner.pipeline.watchers import WatchersByTag, no_watchers
from runner.sources.config.options import Options
from runner.support.log import LOG
from runner.support.redaction import Secrets, command_line

if TYPE_CHECKING:
    from runner.pipeline.undone import Undone


Confirm = Callable[[Chunk], bool]  # asks whether a state is to run


def highstate(
    options: Options,
    listeners: Listeners = (),
    ready: Callable[[Compiled], None] = lambda compiled: None,
    confirm: Confirm | None = None,
) -> Report:
    """Bring the machine to everything that the top file gives it. ready: called before the first
    state runs.
    """
    session = Session(options, tuple(listeners), confirm)
    return _run_pipeline(session, of_requests(session), HIGHSTATE, ready=ready)


def without_tree(options: Options, error: RunnerError, listeners: Listeners = ()) -> NoReturn:
    """Note a highstate that has no tree: `runner pull` could not get one. Raises the error."""
    session = Session(options, tuple(listeners))

    def about(secrets: Secrets) -> About:
        return about_run(session, secrets, HIGHSTATE)

    note_not_started(session, new_run_id(), about, error)
    raise error


def sls(
    options: Options,
    names: Iterable[str],
    listeners: Listeners = (),
    confirm: Confirm | None = None,
) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(of_named(options), tuple(listeners), confirm)
    return _run_pipeline(session, of_requests(session, list(names)))


def outside(options: Options, path: str, name: str, listeners: Listeners = ()) -> Report:
    """Bring the machine to what an SLS file says that lies in no tree. name: what its states have
    as their SLS.
    """
    session = Session(of_named(options), tuple(listeners))

    def gathered() -> Gathered:
        wanted = [request._replace(outside=True) for request in requests(session, [name])]
        return gather(session, wanted, session.reading(name, path))

    return _run_pipeline(session, of_gathered(session, gathered))


def single(
    options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()
) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (of_one(function, arguments), []))
    return _run_pipeline(session, gathered, of_tree=False)


def several(options: Options, states: Made, listeners: Listeners = ()) -> Report:
    """Run states that a command made: ID -> (function, arguments)."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (of_states(states), []))
    return _run_pipeline(session, gathered, of_tree=False)


def prune(options: Options, listeners: Listeners = ()) -> Report:
    """Remove what earlier highstates made and no state of today's tree declares."""
    from runner.pipeline.orphans import forget_gone, orphans

    session = Session(options, tuple(listeners))
    gone: list[str] = []

    def gathered() -> Gathered:
        found = orphans(options)
        gone.extend(found.gone)
        for orphan in found.changed:
            _warn(session, f"{orphan.thing} is left: {orphan.stays}")
        return of_states(found.states), []

    report = _run_pipeline(session, of_gathered(session, gathered), of_tree=False)
    if not options.test:
        forget_gone(options, gone)
    return report


def call(
    options: Options,
    function: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    listeners: Listeners = (),
) -> tuple[Any, int]:
    """The answer of one execution function, and the exit code of a command of its that failed.
    Raises RunnerError when the function fails, or would change the machine in a dry run.
    """
    session = Session(options, tuple(listeners))
    current = session.current()
    with session.opened(), running(current):
        read_pillar(session)
        LOG.arguments = True
        called = session.registry.function(function)
        _check_arguments(function, called, args, kwargs)
        called = getattr(called, "as_changer", called)
        secrets = session.run.secrets
        secrets.collect_call([list(args), dict(kwargs)], session.options.secret_keys)
        direct = Current(session.run, called_directly=True)
        with running(direct), nullcontext() if options.test else changes_allowed():
            try:
                answer = called(*args, **kwargs)
                for warning in secrets.mask([*current.warnings, *direct.warnings]):
                    _warn(session, warning)
                secrets.recall(options.state_dir)
                return secrets.mask(answer, former=True), session.run.took_failure()
            except StateFailed as failure:
                raise RunnerError(f"{function}: {failure.message}") from None
            except RunnerError:
                raise
            except ChangeNotAllowed:
                hint = "without --test it does"
                raise RunnerError(
                    f"{function} changes the machine: a dry run does not call it", hint=hint
                ) from None
            except Exception as error:
                raise _attribute_error(function, called, error) from error
            finally:
                direct.clean()


def _attribute_error(name: str, function: Callable[..., Any], error: Exception) -> Exception:
    """An exception of a function of the tree as a mistake of its author, of one of ours as what was
    given, or a bug.
    """
    import inspect
    import traceback

    code = getattr(inspect.unwrap(function), "__code__", None)
    lines = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.filename == code.co_filename
    ]
    message = f"{name}: {type(error).__name__}: {error}"
    if lines and getattr(function, "__module__", "").startswith("runner_tree_"):
        return RunnerError(message, Source(lines[-1].filename, lines[-1].lineno or 0))
    if isinstance(
        error, TypeError | ValueError | LookupError | AttributeError
    ):  # of what was given
        return RunnerError(
            message, hint=f"look at the values; `runner doc {name}` shows what it takes"
        )
    return error


def _check_arguments(
    name: str, function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raises RunnerError for arguments that an execution function does not take."""
    import inspect

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        shown = ", ".join(
            str(parameter).partition(":")[0] for parameter in signature.parameters.values()
        )
        raise RunnerError(
            f"Passed invalid arguments to {name}: {error}", hint=f"it takes: {name}({shown})"
        ) from None


def undo(
    options: Options,
    number: str | None,
    listeners: Listeners = (),
    *,
    path: str = "",
    strict: bool = False,
    react: bool = False,
) -> Undone:
    """Restore what a run altered, or one path of it. strict: raise RunnerError rather than leave
    something out. react: have the states react that watch what is restored.
    """
    from runner.history import undo as undoing
    from runner.pipeline.undone import Undone, reacted

    session = Session(options, tuple(listeners))
    with (
        ending(options.timeout),
        held(options.state_dir, options.wait),
        session.opened(),
        readable(),
    ):
        connection = open_history(options.state_dir)
        functions = session.registry.function
        plan = undoing.plan(connection, options.state_dir, number, functions, path)
        other = undoing.earlier(connection, plan.run)
        if react:
            read_pillar(session)
        learn_secrets(session)
        session.run.secrets.recall(options.state_dir)
        mask = partial(session.run.secrets.mask, former=True)
        if strict:
            plan.masked(mask).refuse_part()
        if options.test or (plan.refused and not plan.restored):
            return Undone(plan.masked(mask), earlier=other)
        past = _history(session, _about(session, "undo", session.run.secrets))
        session.run.listeners.add(past)
        with (
            _temp_file_cleanup(session) as intends,
            past.around(new_run_id(), len(plan.steps) + len(plan.unknown)) as left_out,
            changes_allowed(),
        ):
            session.run.begin(Execution(intends=intends))
            plan = undoing.carry_out(plan, connection, options.state_dir, functions)
            past.note_undone(
                {step.kept.tag for step in plan.restored if step.kept.tag},
                [watcher[:5] for watcher in plan.all_watchers],
            )
            results = reacted(session, plan.watchers) if react else []
            left_out += [f"{step.subject} was left out: {step.refused}" for step in plan.refused]
            left_out += [f"{call} was left out: it cannot be undone" for call in plan.unknown]
        _warn(session, past.problem and f"this undo is not kept in the history: {past.problem}")
        done = bool(plan.restored or not plan.unknown)
        return Undone(plan.masked(mask), done, other, tuple(results))


# ---------------------------------------------------------------- stages


def _run_pipeline(
    session: Session,
    compiling: Compiling,
    scope: str = "",
    of_tree: bool = True,
    ready: Callable[[Compiled], None] = lambda compiled: None,
) -> Report:
    """Compile, check, run; nobody else does meanwhile. scope: HIGHSTATE for all states that the top
    file assigns. of_tree: whether the states are those of a tree. ready: called before the first
    state runs.
    """
    run_id = new_run_id()

    def about(secrets: Secrets) -> About:
        return about_run(session, secrets, scope, of_tree)

    with (
        ending(session.options.timeout),
        recorded(session, run_id, about),
        held(session.options.state_dir, session.options.wait),
    ):
        return compile_and_run(session, compiling, run_id, about, ready)


def about_run(session: Session, secrets: Secrets, scope: str = "", of_tree: bool = True) -> About:
    """The facts of a run for the history. scope: HIGHSTATE for all states that the top file
    assigns. of_tree: whether the states are those of a tree.
    """
    return _about(session, "test" if session.options.test else "run", secrets)._replace(
        judged=of_tree, scope=scope, tree=tree_of(session.options)
    )


def compile_and_run(
    session: Session,
    compiling: Compiling,
    run_id: str,
    about: Callable[[Secrets], About],
    ready: Callable[[Compiled], None] = lambda compiled: None,
    observe: Callable[[Result], None] = lambda result: None,
    in_history: bool = True,
) -> Report:
    """Compile, check, run, while the caller holds the lock.

    about: the facts of the run for the history, given the secrets that are known by then. ready:
    called before the first state runs. observe: gets each result, secrets included.
    """
    compiled = _compiled(session, compiling)
    ready(compiled)
    warnings = [
        *session.watch.problems(),
        *_shuffled(session),
        *map(session.run.secrets.diagnostic, compiled.warnings),
    ]
    _emit_warnings(session, warnings, of_tree=True)
    facts = about(session.run.secrets)
    report = _executed(session, compiled, run_id, facts, observe, in_history)
    _emit_warnings(session, session.watch.problems(), of_tree=True)
    return report


def _compiled(session: Session, compiling: Compiling) -> Compiled:
    """SLS files -> chunks in their order; all mistakes at once."""
    with session.opened(), LOG.timed("compiled"):
        read_pillar(session)
        LOG.arguments = True
        if session.run.pillar.get("test") and not session.options.real:
            session.only_look()
        compiled, problems = compiling()
        problems = problems if compiled is None else refusals(compiled.steps)
        if compiled is None or problems:
            raise CompileError(problems)
        session.watch.refuse()
        return compiled


def _executed(
    session: Session,
    compiled: Compiled,
    run_id: str,
    about: About,
    observe: Callable[[Result], None],
    in_history: bool,
) -> Report:
    """Chunks in their order -> results, with the pending reactions and the history of the run."""
    options, run = session.options, session.run
    run.secrets.recall(options.state_dir, remember=True)
    plan = _run_plan(options, compiled, run_id)
    journal = ReactionJournal(options.state_dir)
    tracker = ReactionTracker(journal, plan, required=options.durable == "required")
    past = _history(session, about, plan)
    if about.scope == HIGHSTATE and not options.test:
        past.declared = lambda: declared(compiled, session)
    if in_history:
        run.listeners.add(past)
    with _temp_file_cleanup(session) as intends:
        run.begin(
            Execution(
                tuple(compiled.steps[position].chunk for position in compiled.order),
                compiled.left_out,
                lambda: missing_sls(session, compiled.sls_files),
                **({"confirm": session.confirm} if session.confirm else {}),
                reload=lambda what: _reload(session, what),
                intends=intends,
                observe=observe,
            )
        )
        report = Executor(plan, run, Invoker(run, compiled.binder.call), tracker, past.origin)()
    for note in [*journal.notes, *past.notes, *run.listeners.lost]:
        _warn(session, note)
    _warn(session, past.problem and f"the history of this run is not kept: {past.problem}")
    _report_orphans(session, past.orphans)
    _warn(session, tracker.unprotected and f"not protected against a kill: {tracker.unprotected}")
    return report


def _report_orphans(session: Session, number: int) -> None:
    if number:
        things = "1 thing" if number == 1 else f"{number} things"
        message = f"no state declares {things} of earlier highstates any more"
        note = Diagnostic(message, None, "`runner orphans` shows what", "orphans", "info")
        _emit_warnings(session, [note], of_tree=True)


def _history(session: Session, about: About, plan: RunPlan | None = None) -> History:
    """The history of a run that begins. plan: of its states; None: it runs none."""
    options = session.options

    def look(kind: str, name: str) -> Mapping[str, Any]:
        try:
            with running(session.current()):
                state: Mapping[str, Any] = session.registry.function("undo.look")(kind, name)
                return state
        except (RunnerError, StateFailed) as problem:
            return {"unknown": str(problem)}

    chunks = () if plan is None else tuple(step.chunk for step in plan.steps)
    watchers = WatchersByTag(plan, session.run.secrets) if plan else no_watchers
    keep = (options.history_runs, options.history_days)
    return History(
        *(options.state_dir, about, chunks, *keep),
        look=look,
        along=lambda kind: session.registry.function("undo.along")(kind),
        watchers=watchers,
        graph=partial(requisite_graph, plan, session.run.secrets) if plan else lambda: "",
    )


def _run_plan(options: Options, compiled: Compiled, run_id: str) -> RunPlan:
    return RunPlan(
        compiled.steps,
        compiled.relations,
        compiled.order,
        verify=options.verify,
        max_parallel=max(0, options.state_max_parallel),
        failhard=options.failhard,
        run_id=run_id,
    )


@contextmanager
def _temp_file_cleanup(session: Session) -> Iterator[Callable[[str], None]]:
    """Remove the temporary files of a killed run. Gives the function that notes new ones."""
    if session.options.test:
        yield lambda path: None
        return
    temporaries = Temporaries(session.options.state_dir)
    for path in temporaries.sweep():
        _warn(session, f"{path} was left by a run that was killed; it is removed")
    try:
        yield temporaries.note
    finally:
        temporaries.done()


def _shuffled(session: Session) -> list[Diagnostic]:
    seed = session.options.shuffle
    message = f"shuffled with seed {seed}: --shuffle {seed} gives this order again"
    return [] if seed is None else [Diagnostic(message, severity="info", code="shuffled")]


def _about(session: Session, kind: str, secrets: Secrets) -> About:
    """The facts of a run for the history; it may have ended before its pillar was read."""
    roots = [root for roots in session.options.file_roots.values() for root in roots]
    state = revision.revision_of(roots[0]) if roots else (None, None)
    checkouts = getattr(session.options.file_roots, "checkouts", {})  # see gitfs.EnvironmentRoots
    fetched = [root for root in roots if root in checkouts]
    if state[0] is None and fetched:
        state = (checkouts[fetched[0]].target.commit, False)
    program = "runner-salt-call" if session.options.raw.get("as_salt") else "runner"
    command = secrets.mask(
        " ".join([program, *command_line(sys.argv[1:], session.options.secret_keys)])
    )
    pillar = session.run.pillar if "run" in session.__dict__ else {}
    return About(command, kind, *state, pillar, secrets.tag)


def new_run_id() -> str:
    """The ID of a run that begins now."""
    return f"{time.strftime('%Y%m%d%H%M%S')}-{os.urandom(3).hex()}"


def _warn(session: Session, message: str) -> None:
    if message:
        _emit_warnings(session, [Diagnostic(message, severity="warning")])


def _emit_warnings(session: Session, warnings: Sequence[Diagnostic], of_tree: bool = False) -> None:
    if warnings:
        session.emit(Warned(tuple(warnings), of_tree))


def _reload(session: Session, what: str) -> None:
    """Do what `reload_modules`, `reload_grains` and `reload_pillar` of a state ask for."""
    with session.opened():
        forget_looks(None)
        _look_again(session, what)


def _look_again(session: Session, what: str) -> None:
    if what == "modules":
        session.registry.refresh()
    elif what == "grains":
        session.reload_grains()
    else:
        read_pillar(session)
