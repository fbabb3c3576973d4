# SPDX-License-Identifier: Apache-2.0
"""The names that a command line may use: SLS files, IDs, functions, runs. For completion: quick,
and nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from runner.engine.loader import module_sources
from runner.engine.loader.builtin import HOOKS
from runner.engine.loader.registry import Registry
from runner.history import query
from runner.language.arguments.schema import schema_of
from runner.model.errors import RunnerError
from runner.pipeline.gathering import all_requests
from runner.pipeline.session import Session
from runner.sources.config.options import Options
from runner.support.files.text import text_to_show

Named = tuple[str, str]  # what to type, a word on it
ID = re.compile(r"^(?![#{%\s-])(?:'([^'{}]+)'|\"([^\"{}]+)\"|([^{}#'\"]+?)):(?:\s|$)", re.M)
NOT_IDS = frozenset(["include", "extend", "exclude", "chain", "defaults"])


def sls(options: Options) -> Iterator[Named]:
    """The SLS files of the tree."""
    for request in all_requests(Session(options)):
        if options.saltenv in (None, request.env):
            yield request.sls, ""


def ids(options: Options) -> Iterator[Named]:
    """The IDs that stand in the SLS files as they are, and those of the last run."""
    session = Session(options)
    for request in all_requests(session):
        path = session.tree.sls_path(request.sls, request.env) or ""
        for match in ID.finditer(text_to_show(path)):
            id_ = match[1] or match[2] or match[3]
            if id_ not in NOT_IDS:
                yield id_, request.sls
    with suppress(RunnerError):
        for result in query.run_details(options.state_dir, "last")["results"]:
            yield result["id"], result["function"]


def runs(options: Options) -> Iterator[Named]:
    """The runs of the history, the newest first."""
    yield "last", ""
    for run in query.runs(options.state_dir, 50):
        yield str(run["id"]), f"{run['started']} {run['command']}"


def states(options: Options, typed: str) -> Iterator[Named]:
    """State functions; before a module is clear only modules."""
    registry = Session(options).registry
    yield from _functions(typed, registry, "states", registry.state_modules())


def functions(options: Options, typed: str) -> Iterator[Named]:
    """Execution functions; before a module is clear only modules."""
    registry = Session(options).registry
    yield from _functions(typed, registry, "modules", registry.modules())


def _functions(typed: str, registry: Registry, kind: str, modules: list[str]) -> Iterator[Named]:
    fitting = [module for module in modules if module.startswith(typed.partition(".")[0])]
    exact = [module for module in fitting if typed.startswith(f"{module}.")] or (
        fitting if len(fitting) == 1 else []
    )
    if not exact:
        yield from ((f"{module}.", "") for module in fitting)
    for module in exact:
        yield from ((f"{module}.{name}", about) for name, about in offered(registry, kind, module))


def offered(registry: Registry, kind: str, module: str) -> Iterator[Named]:
    """The functions of a module; of the tree's own as they are written, since to load them runs
    them.
    """
    state = kind == "states"
    sources = registry.sources(kind, module)
    if sources:
        functions = module_sources.functions(sources)
        yield from (
            (function.name, function.about)
            for function in functions
            if not (state and function.name in HOOKS)
        )
        return
    for name in registry.state_functions(module) if state else registry.functions(module):
        full = f"{module}.{name}"
        function = registry.state(full).function if state else registry.function(full)
        yield name, (function.__doc__ or "").strip().split("\n")[0]


def arguments(options: Options, function: str, state: bool) -> Iterator[Named]:
    """The arguments of a state or execution function as `key=`."""
    for name, about in arguments_of(Session(options).registry, function, state):
        yield f"{name}=", about


def arguments_of(registry: Registry, function: str, state: bool) -> Iterator[Named]:
    """The arguments of a function, each with what it takes where that is known. Raises
    UnknownFunction.
    """
    module, _, name = function.partition(".")
    sources = registry.sources("states" if state else "modules", module)
    if sources:
        for declared in module_sources.functions(sources):
            if declared.name == name:
                yield from ((argument, "") for argument in declared.arguments)
        return
    called = registry.state(function).function if state else registry.definition(function)
    for name, parameter in schema_of(called).parameters.items():
        yield name, parameter.shape.title


def modules(options: Options) -> Iterator[Named]:
    """The state modules that tell what is there (`runner resource`)."""
    registry = Session(options).registry
    for module in registry.state_modules():
        sources = registry.sources("states", module)
        if sources:
            tells = any(
                function.name == "resources" for function in module_sources.functions(sources)
            )
        else:
            tells = registry.resources(module) is not None
        if tells:
            yield module, ""


def environments(options: Options) -> Iterator[Named]:
    """The environments of the states."""
    yield from ((env, "") for env in options.file_roots)
