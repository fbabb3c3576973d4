"""What a command line may name: SLS files, IDs, functions, runs. For completion: quick, and nothing is executed.

A sister of run.py, and like it allowed to import stages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from runner.config import Options
from runner.errors import RunnerError
from runner.gathering import all_requests
from runner.history import past
from runner.session import Session
from runner.textfiles import text_to_show

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
            found = match[1] or match[2] or match[3]
            if found not in NOT_IDS:
                yield found, request.sls
    with suppress(RunnerError):
        for result in past.one(options.state_dir, "last")["results"]:
            yield result["id"], result["function"]


def runs(options: Options) -> Iterator[Named]:
    """The runs of the history, the newest first."""
    yield "last", ""
    for run in past.runs(options.state_dir, 50):
        yield str(run["id"]), f"{run['started']} {run['command']}"


def states(options: Options, typed: str) -> Iterator[Named]:
    """State functions; before a module is clear only modules."""
    registry = Session(options).registry
    yield from _functions(
        typed, registry.state_modules(), registry.state_functions, lambda name: registry.state(name).function
    )


def functions(options: Options, typed: str) -> Iterator[Named]:
    """Execution functions; before a module is clear only modules."""
    registry = Session(options).registry
    yield from _functions(typed, registry.modules(), registry.functions, registry.function)


def _functions(
    typed: str, modules: list[str], names: Callable[[str], list[str]], found: Callable[[str], Callable[..., object]]
) -> Iterator[Named]:
    fitting = [module for module in modules if module.startswith(typed.partition(".")[0])]
    exact = [module for module in fitting if typed.startswith(f"{module}.")] or (fitting if len(fitting) == 1 else [])
    if not exact:
        yield from ((f"{module}.", "") for module in fitting)
    for module in exact:
        for name in names(module):
            if name != "mod_watch":
                text = (found(f"{module}.{name}").__doc__ or "").strip().split("\n")[0]
                yield f"{module}.{name}", text


def arguments(options: Options, function: str, state: bool) -> Iterator[Named]:
    """The arguments of a state or execution function as `key=`."""
    from runner.schema import schema_of

    registry = Session(options).registry
    found = registry.state(function).function if state else registry.definition(function)
    for name, parameter in schema_of(found).parameters.items():
        yield f"{name}=", parameter.shape.title


def modules(options: Options) -> Iterator[Named]:
    """The state modules that tell what is there (`runner resource`)."""
    registry = Session(options).registry
    yield from ((name, "") for name in registry.state_modules() if registry.resources(name))


def environments(options: Options) -> Iterator[Named]:
    """The environments of the states."""
    yield from ((env, "") for env in options.file_roots)
