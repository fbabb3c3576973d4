"""The pipeline on one screen: a line for each stage, values in between.

Options -> SLS names -> high data -> chunks -> relations -> order -> results
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from runner import graph, high, low, permissions, requisites
from runner import undo as undoing
from runner.api import armed, forget_looks
from runner.compiling import (
    Compiled,
    Gathered,
    all_requests,
    compile_chunks,
    gather,
    read_pillar,
    requests,
    top_file,
    top_requests,
    without_states,
)
from runner.config import Options
from runner.debts import Ledger
from runner.errors import CompileError, Diagnostic, RunnerError
from runner.execute import Executor, Work
from runner.highdata import Made, of_one, of_states
from runner.history import About, History, revision
from runner.history import past as earlier
from runner.history.store import opened
from runner.interrupts import ending
from runner.invoke import Invoker
from runner.lock import held
from runner.model import Report, Value
from runner.owing import Owing
from runner.session import Listeners, Session
from runner.temporaries import Temporaries
from runner.undo import Undo


def highstate(options: Options, listeners: Listeners = ()) -> Report:
    """Bring the machine to everything that the top file gives it."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: gather(session, top_requests(session)))


def sls(options: Options, names: Iterable[str], listeners: Listeners = ()) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: gather(session, requests(session, names)))


def single(options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: (of_one(function, arguments), []))


def several(options: Options, states: Made, listeners: Listeners = ()) -> Report:
    """Run states that a command made: ID -> (function, arguments)."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: (of_states(states), []))


def call(options: Options, function: str, args: Iterable[Value], kwargs: Mapping[str, Value]) -> Any:
    """Call one execution function."""
    session = Session(options)
    with session.opened():
        read_pillar(session)
        found = session.registry.function(function)
        with nullcontext() if options.test else armed():
            return session.run.secrets.mask(found(*args, **kwargs))


def check(options: Options, names: Iterable[str] = ()) -> list[Diagnostic]:
    """All mistakes of the tree, or of some SLS files of it."""
    session = Session(options)
    names = list(names)
    try:
        with session.opened():
            read_pillar(session)
            wanted = requests(session, names) if names else all_requests(session)
            compiled, problems = compile_chunks(session, gather(session, wanted), strict=True)
    except RunnerError as error:
        return list(error.diagnostics)
    return problems if compiled is None else list(compiled.warnings)


def show(options: Options, what: str, names: Iterable[str] = (), for_programs: bool = False) -> Any:
    """What a stage makes of the tree, in Salt's shape, without secrets.

    for_programs: compiled states keep what is a secret only because of its key in the pillar, so that they can be
    compared; what was decrypted is hidden always.
    """
    session = Session(options)
    found = _shown(session, what, list(names))
    compiled = what in ("sls", "low-sls", "highstate", "lowstate")
    return session.run.secrets.mask(found, named=not (compiled and for_programs))


def _shown(session: Session, what: str, names: list[str]) -> Any:
    options = session.options
    if what == "debts":
        return [_debt(debt) for debt in Ledger(options.state_dir).all()]
    with session.opened():
        if what == "grains":
            return dict(session.grains)
        read_pillar(session)
        if what == "pillar":
            return dict(session.run.pillar)
        if what == "top":
            return top_file(session).as_data()
        named = what in ("sls", "low-sls")
        gathered = gather(session, requests(session, names) if named else top_requests(session))
        if what in ("sls", "highstate"):
            _refuse(gathered[1])
            return high.as_data(gathered[0])
        return _show_low(session, gathered, what)


def past(options: Options, words: Sequence[str], limit: int = 20) -> Any:
    """What the history says. words: nothing for the list of runs, or `show RUN`, or `diff RUN RUN`."""
    if not words:
        return earlier.runs(options.state_dir, limit)
    if words[0] == "show":
        return earlier.one(options.state_dir, words[1])
    return earlier.difference(options.state_dir, words[1], words[2])


def forget(options: Options, wanted: Sequence[str] | None) -> list[dict[str, str]]:
    """Forget the debts of some reactors (ID or name), or of all (None); the debts that were forgotten."""
    ledger = Ledger(options.state_dir)
    with held(options.state_dir, options.wait):
        found = [debt for debt in ledger.all() if wanted is None or set(debt.reactor.split("_|-")[1:3]) & set(wanted)]
        unknown = set(wanted or ()) - {part for debt in found for part in debt.reactor.split("_|-")[1:3]}
        if unknown:
            raise RunnerError(f"{sorted(unknown)[0]} owes nothing", hint="`runner show debts` lists what is owed")
        for debt in found:
            ledger.settle(debt.reactor, debt.source, (debt.kind,))
    return [_debt(debt) for debt in found]


def undo(options: Options, number: str | None) -> tuple[Undo, bool]:
    """Put back the files that a run altered: what was to be done, and whether it was (not in a dry run, nor when the
    machine was changed since)."""
    session = Session(options)
    with ending(options.timeout), held(options.state_dir, options.wait), session.opened():
        connection = opened(options.state_dir)
        found = undoing.planned(connection, options.state_dir, number)
        if options.test or found.refused:
            return found, False
        with _sweeping(session), armed():
            undoing.carried_out(found, connection, options.state_dir, session.registry.function("file.put_back"))
        return found, True


# ---------------------------------------------------------------- stages


def _carry_out(session: Session, gathered: Callable[[], Gathered]) -> Report:
    """Compile, check, run; nobody else does meanwhile."""
    options = session.options
    with ending(options.timeout), held(options.state_dir, options.wait):
        return _locked(session, gathered)


def _locked(session: Session, gathered: Callable[[], Gathered]) -> Report:
    with session.opened():
        read_pillar(session)
        compiled, problems = compile_chunks(session, gathered(), strict=session.options.strict)
    if compiled is None:
        raise CompileError(problems)
    _tell([*_untrusted(session), *map(session.run.secrets.diagnostic, compiled.warnings)])
    session.run.reload = lambda what: _reload(session, what)
    session.run.chunks = tuple(compiled.chunks[position] for position in compiled.order)
    work = Work(
        compiled.chunks,
        compiled.relations,
        compiled.order,
        reacts=compiled.binder.reacting(compiled.chunks),
        noop=compiled.binder.noop(compiled.chunks, session.options.noop),
        unconverging=compiled.binder.unconverging(compiled.chunks),
        failhard=session.options.failhard,
        run_id=f"{time.strftime('%Y%m%d%H%M%S')}-{uuid.uuid4().hex[:6]}",
    )
    owing = Owing(Ledger(session.options.state_dir), work.chunks, work.relations, work.reacts, work.run_id)
    past = _history(session, compiled)
    session.run.listeners = (*session.run.listeners, past)
    executor = Executor(work, session.run, Invoker(session.run, compiled.binder), owing, past.origin)
    with _sweeping(session):
        report = executor()
    for note in past.notes:
        _warn(note)
    _warn(past.problem and f"the history of this run is not kept: {past.problem}")
    _warn(owing.unprotected and f"not protected against a kill: {owing.unprotected}")
    return report


@contextmanager
def _sweeping(session: Session) -> Iterator[None]:
    """Remove the temporary files of a run that was killed; note those of this one."""
    if session.options.test:
        yield
        return
    temporaries = Temporaries(session.options.state_dir)
    for path in temporaries.sweep():
        _warn(f"{path} was left by a run that was killed; it is removed")
    session.run.intends = temporaries.note
    try:
        yield
    finally:
        temporaries.done()


def _untrusted(session: Session) -> list[Diagnostic]:
    """Warnings about trees and configuration that others can write; errors where the configuration is strict."""
    options = session.options
    roots = [root for roots in (options.file_roots, options.pillar_roots) for each in roots.values() for root in each]
    files = [options.raw["conf_file"]] if options.raw.get("conf_file") else []
    strict = options.strict_permissions
    found = permissions.problems([*files, *roots], "error" if strict else "warning")
    if found and strict:
        raise CompileError(found)
    return found


def _history(session: Session, compiled: Compiled) -> History:
    options = session.options
    roots = [root for roots in options.file_roots.values() for root in roots]
    commit, dirty = (None, None) if options.test else revision.of_tree(roots[0]) if roots else (None, None)
    words = " ".join(["runner", *sys.argv[1:]])
    about = About(session.run.secrets.mask(words), commit, dirty, session.run.pillar, session.run.secrets.mask)
    return History(options.state_dir, about, compiled.chunks, options.history_runs, options.history_days)


def _warn(message: str) -> None:
    if message:
        _tell([Diagnostic(message, severity="warning")])


def _reload(session: Session, what: str) -> None:
    """What `reload_modules`, `reload_grains` and `reload_pillar` of a state ask for."""
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


def _refuse(problems: list[Diagnostic]) -> None:
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise CompileError(errors)


def _tell(warnings: Iterable[Diagnostic]) -> None:
    warnings = list(warnings)
    if warnings:
        import os

        from runner.output import diagnostics, text

        diagnostics.show(warnings, sys.stderr, text.wants_colour(sys.stderr, os.environ))


def _show_low(session: Session, gathered: Gathered, what: str) -> Any:
    data, problems = gathered
    _refuse(problems)
    chunks, found = low.lower(data, what != "low-sls", session.arguments_of, session.defaults)
    _refuse(found)
    relations, unmet = requisites.resolve(chunks, without_states(data))
    _refuse(unmet)
    if what == "graph":
        return graph.dot(chunks, relations)
    return graph.lowstate(chunks, relations)


def _debt(debt: Any) -> dict[str, str]:
    return {key: getattr(debt, key) for key in ("reactor", "kind", "source", "run", "time", "place")}
