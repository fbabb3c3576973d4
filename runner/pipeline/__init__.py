"""The pipeline on one screen: a line for each stage, values in between.

Options -> SLS names -> high data -> chunks -> relations -> order -> results
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, forget_looks, running
from runner.config.load import Options
from runner.engine.context import Current, Execution
from runner.engine.executor import Executor
from runner.engine.interrupts import ending
from runner.engine.invoke import Invoker
from runner.engine.reaction_journal import ReactionJournal
from runner.engine.reactions import ReactionTracker
from runner.engine.run_plan import RunPlan
from runner.engine.step_hooks import refusals
from runner.history import revision
from runner.history.recorder import About, History
from runner.history.store import open_history, readable
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.model.events import Warned
from runner.model.highdata import Made, of_one, of_states
from runner.model.places import Source, Value
from runner.model.result import Report
from runner.output.log import LOG
from runner.pipeline.aborted import recorded
from runner.pipeline.compile import Compiled, compile_chunks
from runner.pipeline.highstate import (
    Gathered,
    gather,
    learn_secrets,
    missing_sls,
    read_pillar,
    requests,
    top_requests,
)
from runner.pipeline.lock import held
from runner.pipeline.session import Listeners, Session
from runner.pipeline.temp_files import Temporaries
from runner.redaction import Secrets, command_line

if TYPE_CHECKING:
    from runner.history.undo import Undo


def highstate(options: Options, listeners: Listeners = ()) -> Report:
    """Bring the machine to everything that the top file gives it."""
    session = Session(options, tuple(listeners))
    return _run_pipeline(session, lambda: gather(session, top_requests(session)))


def sls(options: Options, names: Iterable[str], listeners: Listeners = ()) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(options, tuple(listeners))
    return _run_pipeline(session, lambda: gather(session, requests(session, names)))


def outside(options: Options, path: str, name: str, listeners: Listeners = ()) -> Report:
    """Bring the machine to what an SLS file says that lies in no tree. name: what its states have
    as their SLS.
    """
    session = Session(options, tuple(listeners))

    def gathered() -> Gathered:
        wanted = [request._replace(outside=True) for request in requests(session, [name])]
        return gather(session, wanted, session.reading(name, path))

    return _run_pipeline(session, gathered)


def single(
    options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()
) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    return _run_pipeline(session, lambda: (of_one(function, arguments), []), of_tree=False)


def several(options: Options, states: Made, listeners: Listeners = ()) -> Report:
    """Run states that a command made: ID -> (function, arguments)."""
    session = Session(options, tuple(listeners))
    return _run_pipeline(session, lambda: (of_states(states), []), of_tree=False)


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
    options: Options, number: str | None, listeners: Listeners = ()
) -> tuple[Undo, bool, int | None]:
    """Restore the files that a run altered: what is done, whether anything was (not in a dry run),
    and the number of an earlier run that could be undone instead.
    """
    from runner.history import undo as undoing

    session = Session(options, tuple(listeners))
    with (
        ending(options.timeout),
        held(options.state_dir, options.wait),
        session.opened(),
        readable(),
    ):
        connection = open_history(options.state_dir)
        functions = session.registry.function
        plan = undoing.plan(connection, options.state_dir, number, functions)
        other = undoing.earlier(connection, plan.run)
        learn_secrets(session)
        session.run.secrets.recall(options.state_dir)
        if options.test or (plan.refused and not plan.restored):
            return (
                plan.masked(lambda text: str(session.run.secrets.mask(text, former=True))),
                False,
                other,
            )
        about = _about(session, "undo", session.run.secrets)
        past = History(options.state_dir, about, (), options.history_runs, options.history_days)
        session.run.listeners.add(past)
        with (
            _temp_file_cleanup(session) as intends,
            past.around(_run_id(), len(plan.steps)) as left_out,
            changes_allowed(),
        ):
            session.run.begin(Execution(intends=intends))
            plan = undoing.carry_out(plan, connection, options.state_dir, functions)
            left_out += [f"{step.was.path} was left out: {step.refused}" for step in plan.refused]
        _warn(session, past.problem and f"this undo is not kept in the history: {past.problem}")
        return (
            plan.masked(lambda text: str(session.run.secrets.mask(text, former=True))),
            True,
            other,
        )


# ---------------------------------------------------------------- stages


def _run_pipeline(
    session: Session, gathered: Callable[[], Gathered], of_tree: bool = True
) -> Report:
    """Compile, check, run; nobody else does meanwhile. of_tree: whether the states are those of a
    tree.
    """
    options, run_id = session.options, _run_id()

    def about(secrets: Secrets) -> About:
        return _about(session, "test" if session.options.test else "run", secrets)._replace(
            judged=of_tree
        )

    with (
        ending(options.timeout),
        recorded(session, run_id, about),
        held(options.state_dir, options.wait),
    ):
        compiled = _compiled(session, gathered)
        warnings = [
            *session.watch.problems(),
            *_shuffled(session),
            *map(session.run.secrets.diagnostic, compiled.warnings),
        ]
        _emit_warnings(session, warnings, of_tree=True)
        report = _executed(session, compiled, run_id, about(session.run.secrets))
        _emit_warnings(session, session.watch.problems(), of_tree=True)
        return report


def _compiled(session: Session, gathered: Callable[[], Gathered]) -> Compiled:
    """SLS files -> chunks in their order; all mistakes at once."""
    with session.opened(), LOG.timed("compiled"):
        read_pillar(session)
        LOG.arguments = True
        if session.run.pillar.get("test") and not session.options.real:
            session.only_look()
        compiled, problems = compile_chunks(session, gathered(), strict=session.options.strict)
        problems = problems if compiled is None else refusals(compiled.steps)
        if compiled is None or problems:
            raise CompileError(problems)
        session.watch.refuse()
        return compiled


def _executed(session: Session, compiled: Compiled, run_id: str, about: About) -> Report:
    """Chunks in their order -> results, with the pending reactions and the history of the run."""
    options, run = session.options, session.run
    run.secrets.recall(options.state_dir, remember=True)
    plan = _run_plan(options, compiled, run_id)
    journal = ReactionJournal(options.state_dir)
    tracker = ReactionTracker(journal, plan, required=options.durable == "required")
    past = History(
        options.state_dir, about, compiled.chunks, options.history_runs, options.history_days
    )
    run.listeners.add(past)
    with _temp_file_cleanup(session) as intends:
        run.begin(
            Execution(
                tuple(compiled.steps[position].chunk for position in compiled.order),
                compiled.left_out,
                lambda: missing_sls(session, compiled.sls_files),
                reload=lambda what: _reload(session, what),
                intends=intends,
            )
        )
        report = Executor(plan, run, Invoker(run, compiled.binder.call), tracker, past.origin)()
    for note in [*journal.notes, *past.notes, *run.listeners.lost]:
        _warn(session, note)
    _warn(session, past.problem and f"the history of this run is not kept: {past.problem}")
    _warn(session, tracker.unprotected and f"not protected against a kill: {tracker.unprotected}")
    return report


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
    commit, dirty = revision.revision_of(roots[0]) if roots else (None, None)
    program = "runner-salt-call" if session.options.raw.get("as_salt") else "runner"
    command = secrets.mask(
        " ".join([program, *command_line(sys.argv[1:], session.options.secret_keys)])
    )
    pillar = session.run.pillar if "run" in session.__dict__ else {}
    return About(command, kind, commit, dirty, pillar, secrets.tag)


def _run_id() -> str:
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
