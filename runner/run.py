"""The pipeline on one screen: a line for each stage, values in between.

Options -> SLS names -> high data -> chunks -> relations -> order -> results
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from runner import graph, high, low, pillar, requisites, signature, top
from runner.api import armed, forget_looks, running
from runner.binding import Binder
from runner.config import Options
from runner.debts import Debts, Ledger
from runner.errors import CompileError, Diagnostic, RunnerError
from runner.execute import Executor, Work
from runner.high import Request
from runner.highdata import HighData, of_one
from runner.invoke import Invoker
from runner.lock import held
from runner.model import Chunk, Relations, Report, Value
from runner.session import Listeners, Session


class Compiled(NamedTuple):
    """A tree that is ready to run, with the warnings that compiling it gave."""

    chunks: tuple[Chunk, ...]
    relations: Relations
    order: tuple[int, ...]
    binder: Binder
    warnings: tuple[Diagnostic, ...]


def highstate(options: Options, listeners: Listeners = ()) -> Report:
    """Bring the machine to everything that the top file gives it."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: _gather(session, _top_requests(session)))


def sls(options: Options, names: Iterable[str], listeners: Listeners = ()) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: _gather(session, _requests(session, names)))


def single(options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    return _carry_out(session, lambda: (of_one(function, arguments), []))


def call(options: Options, function: str, args: Iterable[Value], kwargs: Mapping[str, Value]) -> Any:
    """Call one execution function."""
    session = Session(options)
    with running(session.current()):
        _read_pillar(session)
        found = session.registry.function(function)
        if options.test:
            return found(*args, **kwargs)
        with armed():
            return found(*args, **kwargs)


def check(options: Options, names: Iterable[str] = ()) -> list[Diagnostic]:
    """All mistakes of the tree, or of some SLS files of it."""
    session = Session(options)
    names = list(names)
    try:
        with running(session.current()):
            _read_pillar(session)
            requests = _requests(session, names) if names else _all_requests(session)
            compiled, problems = _compile(session, _gather(session, requests), strict=True)
    except RunnerError as error:
        return list(error.diagnostics)
    return problems if compiled is None else list(compiled.warnings)


def show(options: Options, what: str, names: Iterable[str] = ()) -> Any:
    """What a stage makes of the tree, in Salt's shape."""
    session = Session(options)
    if what == "debts":
        return [_debt(debt) for debt in Ledger(options.state_dir).all()]
    with running(session.current()):
        if what == "grains":
            return dict(session.grains)
        _read_pillar(session)
        if what == "pillar":
            return dict(session.run.pillar)
        if what == "top":
            return _top(session).as_data()
        named = what in ("sls", "low-sls")
        gathered = _gather(session, _requests(session, names) if named else _top_requests(session))
        if what in ("sls", "highstate"):
            _refuse(gathered[1])
            return high.as_data(gathered[0])
        return _show_low(session, gathered, what)


# ---------------------------------------------------------------- stages


Gathered = tuple[HighData, list[Diagnostic]]


def _carry_out(session: Session, gather: Any) -> Report:
    """Compile, check, run; nobody else does meanwhile."""
    with held(session.options.state_dir):
        return _locked(session, gather)


def _locked(session: Session, gather: Any) -> Report:
    with running(session.current()):
        _read_pillar(session)
        compiled, problems = _compile(session, gather(), strict=session.options.strict)
    if compiled is None:
        raise CompileError(problems)
    _tell(compiled.warnings)
    session.run.reload = lambda what: _reload(session, what)
    session.run.chunks = tuple(compiled.chunks[position] for position in compiled.order)
    work = Work(
        compiled.chunks,
        compiled.relations,
        compiled.order,
        reacts=compiled.binder.reacting(compiled.chunks),
        failhard=session.options.failhard,
        run_id=f"{time.strftime('%Y%m%d%H%M%S')}-{uuid.uuid4().hex[:6]}",
    )
    debts: Debts = Ledger(session.options.state_dir)
    return Executor(work, session.run, Invoker(session.run, compiled.binder), debts)()


def _read_pillar(session: Session) -> None:
    options = session.options
    envs = list(options.pillar_roots)
    found = top.names(session.read_pillar_top, envs, session.matches, options.pillarenv, pillar=True)
    stage = pillar.Pillar(
        session.read_pillar,
        options.pillar_source_merging_strategy,
        options.pillar_merge_lists,
        read_with=session.read_pillar,
        names=session.pillar_tree.sls_names,
        optional=found.optional,
        includes_win=options.pillar_includes_override_sls,
    )
    session.run.pillar = stage.compile(found.requests(), options.pillar)


def _reload(session: Session, what: str) -> None:
    """What `reload_modules`, `reload_grains` and `reload_pillar` of a state ask for."""
    with running(session.current()):
        forget_looks(None)
        _look_again(session, what)


def _look_again(session: Session, what: str) -> None:
    if what == "modules":
        session.registry.refresh()
    elif what == "grains":
        session.reload_grains()
    else:
        _read_pillar(session)


def _gather(session: Session, requests: Iterable[Request]) -> Gathered:
    gatherer = high.Gatherer(session.read, session.tree.sls_names, session.options.state_auto_order)
    return gatherer.gather(requests), gatherer.problems


def _compile(session: Session, gathered: Gathered, strict: bool) -> tuple[Compiled | None, list[Diagnostic]]:
    data, problems = gathered
    chunks, found = low.lower(data)
    problems = [*problems, *found]
    chunks = _selected(session.options, chunks)
    registry = session.registry
    secret = session.run.secrets.add
    binder = Binder(registry.state, signature.bind, signature.known, secret, session.options.unknown_states == "fail")
    problems += binder.check(chunks)
    # with a broken file in the run, what it would have declared is not missing: one mistake, one error
    broken = any(problem.severity == "error" for problem in problems)
    relations, unmet = requisites.resolve(chunks, _empty(data))
    problems += [] if broken else unmet
    if strict:
        problems = [_strict(problem) for problem in problems]
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    order = graph.arrange(chunks, relations)
    return Compiled(chunks, relations, order, binder, tuple(problems)), problems


def _strict(problem: Diagnostic) -> Diagnostic:
    if problem.code != "unknown-argument":
        return problem
    return Diagnostic(problem.message.removesuffix("; it is ignored"), problem.source, problem.hint, problem.code)


def _empty(data: HighData) -> frozenset[str]:
    declared = {declaration.sls for declaration in data.declarations.values()}
    return frozenset(sls for _, sls in data.rendered if sls not in declared)


def _selected(options: Options, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """`--exclude` leaves IDs and SLS files out, `--only` keeps some with all that they need."""
    if options.exclude:
        out = set(options.exclude)
        chunks = tuple(chunk for chunk in chunks if chunk.id not in out and chunk.sls not in out)
    if not options.only:
        return chunks
    relations, _ = requisites.resolve(chunks, frozenset())
    wanted = [number for number, chunk in enumerate(chunks) if {chunk.id, chunk.name} & set(options.only)]
    unknown = set(options.only) - {name for number in wanted for name in (chunks[number].id, chunks[number].name)}
    if unknown:
        raise RunnerError(f"--only {sorted(unknown)[0]}: no state of this run has that ID or name")
    kept: set[int] = set()
    while wanted:
        number = wanted.pop()
        if number not in kept:
            kept.add(number)
            wanted += [edge.target for edge in relations.of(number)]
    return tuple(chunk for number, chunk in enumerate(chunks) if number in kept)


def _refuse(problems: list[Diagnostic]) -> None:
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise CompileError(errors)


def _tell(warnings: Iterable[Diagnostic]) -> None:
    import sys

    warnings = list(warnings)
    if warnings:
        import os

        from runner.output import diagnostics, text

        diagnostics.show(warnings, sys.stderr, text.wants_colour(sys.stderr, os.environ))


# ---------------------------------------------------------------- what to run


def _top(session: Session) -> top.Top:
    options = session.options
    return top.names(
        session.read_top,
        list(options.file_roots),
        session.matches,
        options.saltenv,
        strategy=options.top_file_merging_strategy,
        env_order=options.env_order,
        state_top_saltenv=options.state_top_saltenv,
        default_top=options.default_top,
    )


def _top_requests(session: Session) -> list[Request]:
    found = _top(session)
    requests = [Request(sls, env, place) for env, sls, place in found.requests()]
    if not requests:
        raise RunnerError("No Top file or master_tops data matches found.", hint="`runner show top` shows what matches")
    return requests


def _requests(session: Session, names: Iterable[str]) -> list[Request]:
    return [Request(name, session.options.saltenv or "base") for name in names]


def _all_requests(session: Session) -> list[Request]:
    return [Request(name, env) for env in session.options.file_roots for name in session.tree.sls_names(env)]


def _show_low(session: Session, gathered: Gathered, what: str) -> Any:
    data, problems = gathered
    _refuse(problems)
    chunks, found = low.lower(data, reconcile=what != "low-sls")
    _refuse(found)
    relations, unmet = requisites.resolve(chunks, _empty(data))
    _refuse(unmet)
    if what == "graph":
        return graph.dot(chunks, relations)
    return graph.lowstate(chunks, relations)


def _debt(debt: Any) -> dict[str, str]:
    return {key: getattr(debt, key) for key in ("reactor", "kind", "source", "run", "time", "place")}
