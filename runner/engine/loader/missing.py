# SPDX-License-Identifier: Apache-2.0
"""What Salt has and runner has not, with what to write instead (`runner doc --missing`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Protocol

from runner.engine.loader import unsupported
from runner.engine.loader.registry import StateFunction
from runner.language.arguments import lacking as lacking_rows
from runner.language.arguments.schema import Schema, known, schema_of
from runner.model.diagnostics import nearest, suggestion
from runner.model.errors import RunnerError
from runner.model.text_tables import text_beside

Advice = Mapping[str, str | None]  # the name of a function -> what to write instead


class NamedFunctions(Protocol):
    """The registry as this file sees it."""

    def functions(self, module: str) -> list[str]: ...
    def modules(self) -> list[str]: ...
    def state(self, name: str) -> StateFunction: ...
    def state_functions(self, module: str) -> list[str]: ...
    def state_modules(self) -> list[str]: ...


def of_salt(kind: str) -> Iterator[str]:
    """The functions of Salt 3007.4 and 3008.3 on Linux. kind: state or function."""
    text = text_beside("runner.engine.loader", "salt_functions.txt")
    for line in text.splitlines():
        line_kind, module, *names = line.split()
        if line_kind == kind:
            yield from (f"{module}.{name}" for name in names)


def missing(
    registry: NamedFunctions, prefix: str = "", elsewhere: Collection[str] = ()
) -> dict[str, Advice]:
    """The states, the functions and the arguments of states of Salt that runner lacks, where the
    function's name begins with a prefix. Raises RunnerError where neither has one of such a name.

    elsewhere: the functions that runner has outside of its registry.
    """
    asked = prefix.partition(".")[0]
    modules = {"state": registry.state_modules(), "function": registry.modules()}
    functions = {"state": registry.state_functions, "function": registry.functions}
    advice = {"state": unsupported.of_state, "function": unsupported.of_function}
    lacking: dict[str, Advice] = {}
    every_name = list(elsewhere)
    for kind, names in modules.items():
        near = [name for name in names if name.startswith(asked)]
        own = _names(near, functions[kind]) | set(elsewhere)
        salts = list(of_salt(kind))
        every_name += [*own, *salts]
        lacking[f"{kind}s"] = {
            name: advice[kind](name)
            for name in salts
            if name not in own and name.startswith(prefix)
        }
    lacking["arguments"] = {
        f"{name}: {argument}": row.text
        for name, argument in lacking_arguments(registry)
        if name.startswith(prefix)
        and (row := lacking_rows.row(name, argument))
        and row.becomes == lacking_rows.REFUSED
    }
    if not any(name.startswith(prefix) for name in every_name):
        every = {name.partition(".")[0] for name in (*every_name, *chain(*modules.values()))}
        near_name = nearest(asked, every)
        raise RunnerError(
            f"neither Salt nor runner has a function whose name begins with {prefix}",
            hint=suggestion(near_name)
            if near_name
            else "`runner doc --missing` lists all that runner lacks",
        )
    return lacking


def arguments_of_salt() -> Iterator[tuple[str, list[str]]]:
    """The functions of Salt's that runner has, with the arguments that Salt's take, be it that they
    hand them on.
    """
    text = text_beside("runner.engine.loader", "salt_arguments.txt")
    for line in text.splitlines():
        name, _, arguments = line.partition(": ")
        yield name, arguments.split()


def lacking_arguments(registry: NamedFunctions) -> Iterator[tuple[str, str]]:
    """The arguments of Salt's functions that those of runner lack."""
    for name, arguments in arguments_of_salt():
        module, _, function = name.partition(".")
        if function not in registry.state_functions(module):
            continue
        state = registry.state(name)
        reaction = known(state.mod_watch) if state.mod_watch else frozenset()
        schema = schema_of(state.function)
        for argument in arguments:
            if argument not in reaction and not _takes(schema, argument):
                yield name, argument


def _takes(schema: Schema, argument: str) -> bool:
    rule = None if schema.leftover else schema.open
    named = rule is not None and (rule.shape.names is None or rule.shape.names(argument))
    return named or argument in schema.names


def _names(modules: Iterable[str], functions: Callable[[str], Iterable[str]]) -> set[str]:
    return {f"{module}.{name}" for module in modules for name in functions(module)}
