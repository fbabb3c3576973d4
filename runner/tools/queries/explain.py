# SPDX-License-Identifier: Apache-2.0
"""Commands that explain: show graph, why, doc, schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from runner.engine.loader import missing as loader_missing
from runner.engine.step_hooks import automatic_links
from runner.history import query as earlier
from runner.language.arguments import bind
from runner.language.compiler import auto_requisites, ordering
from runner.model.chunk import Edge
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.output.manual import descriptions, sls_schema
from runner.output.manual import pages as manuals
from runner.output.manual import reference as manual_reference
from runner.pipeline import node_scope
from runner.pipeline.compile import compile_chunks, make_binder
from runner.pipeline.gathering import gather, related
from runner.pipeline.node_scope import requests, top_requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session, of_named
from runner.sources.config import key_manual
from runner.sources.config.options import Options
from runner.support import drawing
from runner.tools.queries import why as whys


def picture(options: Options, names: Sequence[str] = ()) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The dependencies in the highstate (or in some SLS files), and the cycles in it: which
    are no errors here.
    """
    session = Session(of_named(options, names))
    with session.opened():
        read_pillar(session)
        data, problems = gather(
            session, requests(session, names) if names else top_requests(session)
        )
        chunks, relations = related(session, data, problems)
        cyclic_edges: list[frozenset[Edge]] = []
        order: tuple[int, ...] = ()
        steps, _ = make_binder(session).steps(chunks)  # it learns the secrets, too
        links: tuple[auto_requisites.Link, ...] = ()
        if options.auto_relationships:
            links = automatic_links(steps)
        try:
            nodes = ordering.sequence(chunks, relations)
            nodes, links = auto_requisites.fitted(chunks, relations, nodes, links)
            order = ordering.arrange(nodes)
        except CompileError as error:
            cyclic_edges, problems = (
                ordering.cyclic_edges(chunks, relations),
                [*problems, *error.diagnostics],
            )
        relations = auto_requisites.reacting(relations, links, chunks)
        graph: dict[str, Any] = session.run.secrets.mask(
            drawing.picture(chunks, relations, order, cyclic_edges)
        )
    return graph, problems


def why(
    options: Options,
    wanted: str,
    names: Sequence[str] = (),
    with_run: bool = False,
    listeners: Listeners = (),
) -> list[dict[str, Any]]:
    """Why a state (ID, name or `state: name`) is in the highstate (or in some SLS files) as it is.
    Raises CompileError when the states cannot be compiled.

    with_run: what became of it in the last run, too.
    """
    session = Session(of_named(options, names), tuple(listeners))
    with session.opened():
        read_pillar(session)
        gathered = gather(session, requests(session, names) if names else top_requests(session))
        compiled, problems = compile_chunks(session, gathered, strict=False)
        if compiled is None:
            raise CompileError(problems)
        top = (
            {}
            if names
            else {str(line.place): line.target for line in node_scope.top_file(session).lines}
        )
        run = whys.ExplainedRun(
            compiled.chunks, compiled.relations, compiled.order, gathered[0], top
        )
        states = whys.explained(wanted, run)
    if with_run:
        states = [
            state | {"last_run": earlier.last_result(options.state_dir, state["tag"])}
            for state in states
        ]
    masked: list[dict[str, Any]] = session.run.secrets.mask(states)
    return masked


def manual(options: Options, name: str | None) -> Any:
    """The contents of the manual (without a name), or the pages of a module or function."""
    registry = Session(options).registry
    return manuals.contents(registry) if name is None else manuals.pages(registry, name)


def manual_of_modules(options: Options) -> dict[str, list[str]]:
    """The execution modules with their functions."""
    return manuals.execution(Session(options).registry)


def missing(
    options: Options, prefix: str, elsewhere: Collection[str]
) -> dict[str, Mapping[str, str | None]]:
    """Return what Salt has and runner lacks, with what to write instead. elsewhere: the functions
    that the command line has.
    """
    return loader_missing.missing(Session(options).registry, prefix, elsewhere)


def modules(options: Options) -> dict[str, list[str]]:
    """The names of the modules that there are, by their kinds."""
    registry = Session(options).registry
    return {"states": registry.state_modules(), "functions": registry.modules()}


def reference(options: Options) -> dict[str, str]:
    """The whole manual as Markdown: path -> text."""
    configuration = {"configuration.md": key_manual.page()}
    return {**manual_reference.files(Session(options).registry), **configuration}


def schema(options: Options) -> dict[str, Any]:
    """The JSON Schema of SLS files, with the tree's own states."""
    registry = Session(options).registry
    functions: dict[str, sls_schema.Function] = {}
    modules = manuals.contents(registry)
    for module, names in modules.items():
        for name in (f"{module}.{function}" for function in names):
            state = registry.state(name)
            reacting = bind.known(state.mod_watch) - {"name", "sfun"} if state.mod_watch else ()
            functions[name] = (
                descriptions.describe_for_editors(registry, name),
                bind.json_schema(state.function),
                reacting,
            )
    return sls_schema.schema(functions, set(registry.state_modules()) - modules.keys())
