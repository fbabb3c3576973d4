"""Commands that explain: show graph, why, doc, schema. A sister of run.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner import automatic, graph, node, signature
from runner import manual as manuals
from runner import why as whys
from runner.compiling import compile_chunks, make_binder
from runner.config import Options
from runner.errors import CompileError, Diagnostic
from runner.gathering import gather, read_pillar, related, requests, top_requests
from runner.history import past as earlier
from runner.model import Edge
from runner.session import Session


def picture(options: Options, names: Sequence[str] = ()) -> tuple[dict[str, Any], list[Diagnostic]]:
    """What waits for what in the highstate (or in some SLS files), and the cycles in it: no hindrance here."""
    from runner.drawing import picture as drawn

    session = Session(options)
    with session.opened():
        read_pillar(session)
        data, problems = gather(session, requests(session, names) if names else top_requests(session))
        chunks, relations = related(session, data, problems)
        knots: list[frozenset[Edge]] = []
        order: tuple[int, ...] = ()
        binder = make_binder(session)
        binder.check(chunks)
        links = automatic.links(chunks, binder.related) if options.auto_relationships else ()
        try:
            order, links = automatic.fitted(graph.arrange(chunks, relations), relations, links)
        except CompileError as error:
            knots, problems = graph.knots(chunks, relations), [*problems, *error.diagnostics]
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
        top = {} if names else {str(line.place.source): line.target for line in node.top_file(session).lines}
        run = whys.Run(compiled.chunks, compiled.relations, compiled.order, gathered[0], top)
        found = whys.explained(wanted, run)
    if with_run:
        found = [each | {"last_run": earlier.of_state(options.state_dir, each["tag"])} for each in found]
    masked: list[dict[str, Any]] = session.run.secrets.mask(found)
    return masked


def manual(options: Options, name: str | None) -> Any:
    """The contents of the manual (without a name), or the pages of a module or function."""
    registry = Session(options).registry
    return manuals.contents(registry) if name is None else manuals.pages(registry, name)


def manual_of_modules(options: Options) -> dict[str, list[str]]:
    """The execution modules with their functions."""
    return manuals.execution(Session(options).registry)


def reference(options: Options) -> dict[str, str]:
    """The whole manual as Markdown: path -> text."""
    from runner.output import reference

    return reference.files(Session(options).registry)


def schema(options: Options) -> dict[str, Any]:
    """The JSON Schema of SLS files, with the tree's own states."""
    from runner import sls_schema

    registry = Session(options).registry
    found: dict[str, sls_schema.Function] = {}
    there = manuals.contents(registry)
    for module, names in there.items():
        for name in (f"{module}.{each}" for each in names):
            state = registry.state(name)
            reacting = signature.known(state.mod_watch) - {"name", "sfun"} if state.mod_watch else ()
            found[name] = (manuals.said_of_all(registry, name), signature.json_schema(state.function), reacting)
    return sls_schema.schema(found, signature.GLOBAL_ARGUMENTS, set(registry.state_modules()) - there.keys())
