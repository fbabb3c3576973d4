"""Commands that look: what the tree says, what is wrong with it, what was done earlier. A sister of run.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from runner import automatic, graph, high, lint, low, requisites, signature
from runner import manual as manuals
from runner import why as whys
from runner.api import Resource, StateFailed
from runner.compiling import (
    Gathered,
    all_requests,
    compile_chunks,
    gather,
    make_binder,
    read_pillar,
    requests,
    top_file,
    top_requests,
    without_states,
)
from runner.config import Options
from runner.debts import Ledger
from runner.errors import CompileError, Diagnostic, RunnerError
from runner.highdata import HighData
from runner.history import past as earlier
from runner.lock import held
from runner.model import Chunk, Debt, Edge, Relations
from runner.session import Session


def check(options: Options, names: Iterable[str] = (), lenient: bool = False) -> list[Diagnostic]:
    """All mistakes of the tree, or of some SLS files of it.

    lenient: unknown arguments and states, which Salt compiles, are warnings only.
    """
    session = Session(replace(options, unknown_states="fail") if lenient else options)
    names = list(names)
    try:
        with session.opened():
            read_pillar(session)
            wanted = requests(session, names) if names else all_requests(session)
            compiled, problems = compile_chunks(session, gather(session, wanted), strict=not lenient)
    except RunnerError as error:
        return list(error.diagnostics)
    if compiled is None:
        return lint.kept(problems)
    reacts = compiled.binder.reacting(compiled.chunks)
    return lint.kept([*compiled.warnings, *lint.warnings(compiled.chunks, compiled.relations, reacts)])


def show(options: Options, what: str, names: Iterable[str] = (), secrets: bool = False) -> Any:
    """What a stage makes of the tree, in Salt's shape. secrets: show them, too."""
    session = Session(options)
    found = _shown(session, what, list(names))
    return found if secrets else session.run.secrets.mask(found)


def _shown(session: Session, what: str, names: list[str]) -> Any:
    options = session.options
    if what == "debts":
        return [_debt(debt) for debt in _owed(Ledger(options.state_dir, looking=True))]
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


def picture(options: Options, names: Sequence[str] = ()) -> tuple[dict[str, Any], list[Diagnostic]]:
    """What waits for what in the highstate (or in some SLS files), and the cycles in it: no hindrance here."""
    from runner.drawing import picture as drawn

    session = Session(options)
    with session.opened():
        read_pillar(session)
        data, problems = gather(session, requests(session, names) if names else top_requests(session))
        chunks, relations = _related(session, data, problems)
        knots: list[frozenset[Edge]] = []
        order: tuple[int, ...] = ()
        binder = make_binder(session)
        binder.check(chunks)
        links = automatic.links(chunks, binder.related) if options.auto_relationships else ()
        try:
            order, links = automatic.fitted(graph.arrange(chunks, relations), relations, links)
        except CompileError as error:
            knots, problems = graph.knots(relations), [*problems, *error.diagnostics]
        relations = automatic.reacting(relations, links, chunks)
        found: dict[str, Any] = session.run.secrets.mask(drawn(chunks, relations, order, knots))
    return found, problems


def why(options: Options, wanted: str, names: Sequence[str] = (), with_run: bool = False) -> list[dict[str, Any]]:
    """Why a state (ID, name or `state: name`) is in the highstate (or in some SLS files) as it is.

    with_run: what became of it in the last run, too.
    """
    session = Session(options)
    with session.opened():
        read_pillar(session)
        gathered = gather(session, requests(session, names) if names else top_requests(session))
        compiled, problems = compile_chunks(session, gathered, strict=False)
        if compiled is None:
            raise CompileError(problems)
        lines = {(line.env, line.sls): f"{line.target} at {line.place.source}" for line in top_file(session).lines}
        top = {} if names else lines
        chunks, scopes = compiled.chunks, gathered[0].scopes
        found = whys.explained(wanted, chunks, compiled.relations, compiled.order, scopes, top)
    if with_run:
        found = [each | {"last_run": earlier.of_state(options.state_dir, each["name"])} for each in found]
    masked: list[dict[str, Any]] = session.run.secrets.mask(found)
    return masked


def manual(options: Options, name: str | None) -> Any:
    """The contents of the manual (without a name), or the pages of a module or function."""
    registry = Session(options).registry
    return manuals.contents(registry) if name is None else manuals.pages(registry, name)


def resource(options: Options, state: str, names: Sequence[str] = ()) -> list[Resource]:
    """What is there now of a kind of state: all, or what is named."""
    session = Session(options)
    registry = session.registry
    with session.opened():
        hook = registry.resources(state)
        if hook is None:
            able = [each for each in registry.state_modules() if registry.resources(each)]
            known = "does not tell what is there" if registry.has_state(state) else "is no state module"
            raise RunnerError(f"{state} {known}", hint=f"these do: {', '.join(able)}")
        try:
            found = [(each, list(hook(each))) for each in names or (None,)]
        except StateFailed as failure:
            raise RunnerError(failure.message) from None
    if not all(isinstance(one, Resource) for _, listed in found for one in listed):
        raise RunnerError(f"what {state}.resources gives are no Resource values")
    missing = [each for each, listed in found if each is not None and not listed]
    if missing:
        raise RunnerError(f"there is no {state} {missing[0]}", hint=f"`runner resource {state}` lists all")
    return [each for _, listed in found for each in listed]


def schema(options: Options) -> dict[str, Any]:
    """The JSON Schema of SLS files, with the tree's own states."""
    return manuals.schema(Session(options).registry, signature.json_schema)


def past(options: Options, words: Sequence[str], limit: int = 20, real: bool = False) -> Any:
    """What the history says. words: nothing for the list of runs, or `show RUN`, or `diff RUN RUN`.

    real: list neither dry runs nor undos.
    """
    if not words:
        return earlier.runs(options.state_dir, limit, real)
    if words[0] == "show":
        return earlier.one(options.state_dir, words[1])
    return earlier.difference(options.state_dir, words[1], words[2])


def forget(options: Options, wanted: Sequence[str] | None) -> list[dict[str, str]]:
    """Forget the debts of some reactors (ID or name), or of all (None); the debts that were forgotten."""
    ledger = Ledger(options.state_dir)
    with held(options.state_dir, options.wait):
        found = [debt for debt in _owed(ledger) if wanted is None or set(debt.reactor.split("_|-")[1:3]) & set(wanted)]
        unknown = set(wanted or ()) - {part for debt in found for part in debt.reactor.split("_|-")[1:3]}
        if unknown:
            raise RunnerError(f"{sorted(unknown)[0]} owes nothing", hint="`runner show debts` lists what is owed")
        try:
            for debt in found:
                ledger.settle(debt.reactor, debt.source, (debt.kind,))
        except OSError as error:
            raise RunnerError(f"the list of reactions owed cannot be written: {error}") from None
    return [_debt(debt) for debt in found]


def _refuse(problems: list[Diagnostic]) -> None:
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise CompileError(errors)


def _show_low(session: Session, gathered: Gathered, what: str) -> Any:
    return graph.lowstate(*_related(session, *gathered, reconcile=what != "low-sls"))


def _related(
    session: Session, data: HighData, problems: list[Diagnostic], reconcile: bool = True
) -> tuple[tuple[Chunk, ...], Relations]:
    """The chunks and what waits for what; mistakes on the way end it, those of arguments are not looked for."""
    _refuse(problems)
    chunks, found = low.lower(data, reconcile, session.arguments_of, session.defaults)
    _refuse(found)
    relations, unmet = requisites.resolve(chunks, without_states(data))
    _refuse(unmet)
    return chunks, relations


def _owed(ledger: Ledger) -> tuple[Debt, ...]:
    try:
        return ledger.all()
    except OSError as error:
        raise RunnerError(f"the list of reactions owed cannot be read: {error}") from None


def _debt(debt: Any) -> dict[str, str]:
    return {key: getattr(debt, key) for key in ("reactor", "kind", "source", "run", "time", "place")}
