# SPDX-License-Identifier: Apache-2.0
"""The stages of a run, a line each, with values in between; first the runs that commands ask for,
each a way into them.

Options -> SLS names -> high data -> chunks -> relations -> order -> results
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress

from runner.api import StateFailed, forget_looks, running
from runner.engine import step_hooks
from runner.engine.context import Execution, Listener, from_first_change
from runner.engine.executor import Executor
from runner.engine.interrupts import ending
from runner.engine.invoke import Invoker
from runner.engine.reaction_journal import ReactionJournal
from runner.engine.step import RunPlan, asked
from runner.history import revision
from runner.history.recorder import About, History
from runner.model import highdata
from runner.model.chunk import Chunk
from runner.model.errors import CompileError, Diagnostic, RunnerError
from runner.model.events import Warned
from runner.model.places import Value
from runner.model.result import HIGHSTATE, Report, Result
from runner.pipeline import aborted, awake, gathering, kept_relations, orphans
from runner.pipeline.compile import Compiled, Compiling, of_gathered, of_requests
from runner.pipeline.lock import held
from runner.pipeline.node_scope import requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session, of_named, tree_of
from runner.pipeline.temp_files import Temporaries
from runner.sources.config.options import Options
from runner.support.log import LOG
from runner.support.redaction import Secrets, command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn

    from runner.pipeline.gathering import Gathered

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
    return run_pipeline(session, of_requests(session), HIGHSTATE, ready=ready)


def without_tree(options: Options, error: RunnerError, listeners: Listeners = ()) -> NoReturn:
    """Note a highstate that has no tree: `runner pull` could not get one. Raises the error."""
    session = Session(options, tuple(listeners))

    def about(secrets: Secrets) -> About:
        return about_run(session, secrets, HIGHSTATE)

    aborted.note_not_started(session, new_run_id(), about, error)
    raise error


def sls(
    options: Options,
    names: Iterable[str],
    listeners: Listeners = (),
    confirm: Confirm | None = None,
) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(of_named(options), tuple(listeners), confirm)
    return run_pipeline(session, of_requests(session, list(names)))


def outside(options: Options, path: str, name: str, listeners: Listeners = ()) -> Report:
    """Bring the machine to what an SLS file says that lies in no tree. name: what its states have
    as their SLS.
    """
    session = Session(of_named(options), tuple(listeners))

    def gathered() -> Gathered:
        wanted = [request._replace(outside=True) for request in requests(session, [name])]
        return gathering.gather(session, wanted, session.reading(name, path))

    return run_pipeline(session, of_gathered(session, gathered))


def single(
    options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()
) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (highdata.of_one(function, arguments), []))
    return run_pipeline(session, gathered, of_tree=False)


def several(options: Options, states: highdata.Made, listeners: Listeners = ()) -> Report:
    """Run states that a command made: ID -> (function, arguments)."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (highdata.of_states(states), []))
    return run_pipeline(session, gathered, of_tree=False)


def prune(options: Options, listeners: Listeners = ()) -> Report:
    """Remove what earlier highstates made and no state of today's tree declares."""
    session = Session(options, tuple(listeners))
    gone: list[str] = []

    def gathered() -> Gathered:
        found = orphans.orphans(options)
        gone.extend(found.gone)
        for orphan in found.changed:
            warn(session, f"{orphan.thing} is left: {orphan.stays}")
        return highdata.of_states(found.states), []

    report = run_pipeline(session, of_gathered(session, gathered), of_tree=False)
    if not options.test:
        orphans.forget_gone(options, gone)
    return report


def run_pipeline(
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
        return run_compiled(session, compile_tree(session, compiling), run_id, about, ready)


@contextmanager
def recorded(session: Session, run_id: str, about: Callable[[Secrets], About]) -> Iterator[None]:
    """Report what ends a run before it has started, to the listeners and the history, and let it go
    on.

    about: what the history is told of the run, given the secrets that are known by then.
    """
    try:
        yield
    except BaseException as error:
        aborted.note(session, run_id, about, error)
        raise


def about_run(session: Session, secrets: Secrets, scope: str = "", of_tree: bool = True) -> About:
    """The facts of a run for the history. scope: HIGHSTATE for all states that the top file
    assigns. of_tree: whether the states are those of a tree.
    """
    return facts_of(session, "test" if session.options.test else "run", secrets)._replace(
        judged=of_tree, scope=scope, tree=tree_of(session.options) if scope == HIGHSTATE else ""
    )


def run_compiled(
    session: Session,
    compiled: Compiled,
    run_id: str,
    about: Callable[[Secrets], About],
    ready: Callable[[Compiled], None] = lambda compiled: None,
    observe: Callable[[Result], None] = lambda result: None,
    in_history: bool = True,
    heard: Callable[[Listener], Listener] = lambda listener: listener,
) -> Report:
    """Chunks in their order -> results, while the caller holds the lock; with the pending reactions
    and the history of the run.

    about: the facts of the run for the history, given the secrets that are known by then. ready:
    called before the first state runs. observe: gets each result, secrets included. heard: what
    the history hears the run by.
    """
    ready(compiled)
    warnings = [
        *session.watch.problems(),
        *_shuffled(session),
        *map(session.run.secrets.diagnostic, compiled.warnings),
    ]
    _emit_warnings(session, warnings, of_tree=True)
    options, run = session.options, session.run
    facts = about(run.secrets)._replace(recalled=compiled.recalled)
    run.secrets.recall(options.state_dir, remember=True)
    plan = _run_plan(options, compiled, run_id)
    journal = ReactionJournal(options.state_dir, required=options.durable == "required")
    past = history(session, facts, plan)
    if facts.scope == HIGHSTATE and not options.test:
        past.declared = lambda: orphans.declared(compiled)
        past.is_part = bool(compiled.left_out)
    if in_history:
        run.listeners.add(heard(past))
    with (
        temp_file_cleanup(session) as intends,
        from_first_change(run.listeners, lambda end: awake.keep(end)),
    ):
        run.begin(
            Execution(
                tuple(compiled.steps[position].chunk for position in compiled.order),
                compiled.left_out,
                lambda: gathering.missing_sls(session, compiled.sls_files),
                **({"confirm": session.confirm} if session.confirm else {}),
                reload=lambda what, beside: _reload(session, what, beside),
                intends=intends,
                observe=observe,
            )
        )
        executor = Executor(plan, run, Invoker(run, compiled.binder.call), journal, past.origin)
        report = executor()
    session.keep_results()
    for note in [*journal.notes, *past.notes, *run.listeners.lost]:
        warn(session, note)
    warn(session, past.problem and f"the history of this run is not kept: {past.problem}")
    _report_orphans(session, past.orphans)
    why = executor.unprotected
    warn(session, why and f"not protected against a kill: {why}")
    _emit_warnings(session, session.watch.problems(), of_tree=True)
    return report


def compile_tree(session: Session, compiling: Compiling) -> Compiled:
    """SLS files -> chunks in their order; all mistakes at once."""
    with session.opened(), LOG.timed("compiled"):
        read_pillar(session)
        LOG.arguments = True
        if session.run.pillar.get("test") and not session.options.real:
            session.only_look()
        return accepted(session, compiling)


def accepted(session: Session, compiling: Compiling) -> Compiled:
    """What compiles without a mistake. Raises CompileError."""
    compiled, problems = compiling()
    if compiled is not None:
        checked = asked(compiled.steps, "pre_run_check")
        problems = step_hooks.refusals(checked) if checked else []
    if compiled is None or problems:
        raise CompileError(problems)
    session.watch.refuse()
    return compiled


def _report_orphans(session: Session, number: int) -> None:
    if number:
        things = "1 thing" if number == 1 else f"{number} things"
        message = f"no state declares {things} of earlier highstates any more"
        note = Diagnostic(message, None, "`runner orphans` shows what", "orphans", "info")
        _emit_warnings(session, [note], of_tree=True)


def history(session: Session, about: About, plan: RunPlan | None = None) -> History:
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
    relations: dict[str, Any] = {}
    if plan is not None and (plan.relations.by_holder or plan.relations.automatic):
        kept = kept_relations.KeptRelations(plan, session.run.secrets)
        relations = {"watchers": kept.watchers, "graph": kept.graph}
    keep = (options.history_runs, options.history_days)
    return History(
        options.state_dir,
        about,
        chunks,
        *keep,
        look=look,
        along=lambda kind: session.registry.function("undo.along")(kind),
        **relations,
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
def temp_file_cleanup(session: Session) -> Iterator[Callable[[str], None]]:
    """Remove the temporary files of a killed run. Gives the function that notes new ones."""
    if session.options.test:
        yield lambda path: None
        return
    temporaries = Temporaries(session.options.state_dir)
    for path in temporaries.sweep():
        warn(session, f"{path} was left by a run that was killed; it is removed")
    with suppress(OSError, RunnerError):  # no cache, or one that is not ours alone
        temporaries.sweep_scratch(session.run.cache(make=False).path)
    try:
        yield temporaries.note
    finally:
        temporaries.done()


def _shuffled(session: Session) -> list[Diagnostic]:
    seed = session.options.shuffle
    message = f"shuffled with seed {seed}: --shuffle {seed} gives this order again"
    return [] if seed is None else [Diagnostic(message, severity="info", code="shuffled")]


def facts_of(session: Session, kind: str, secrets: Secrets) -> About:
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


def warn(session: Session, message: str) -> None:
    if message:
        _emit_warnings(session, [Diagnostic(message, severity="warning")])


def _emit_warnings(session: Session, warnings: Sequence[Diagnostic], of_tree: bool = False) -> None:
    if warnings:
        session.emit(Warned(tuple(warnings), of_tree))


def _reload(session: Session, what: str, beside: Mapping[str, Any] | None) -> None:
    """Do what `reload_modules`, `reload_grains` and `reload_pillar` of a state ask for."""
    with session.opened():
        forget_looks(None)
        _look_again(session, what, beside)


def _look_again(session: Session, what: str, beside: Mapping[str, Any] | None) -> None:
    if what == "modules":
        session.registry.refresh()
    elif what == "grains":
        session.reload_grains(beside)
    else:
        read_pillar(session)
