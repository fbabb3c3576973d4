# SPDX-License-Identifier: Apache-2.0
"""What Salt has and runner has not, with what to write instead (`runner doc --missing`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib.resources import files
from itertools import chain
from typing import Protocol

from runner.engine.loader import unsupported
from runner.model.diagnostics import nearest, suggestion
from runner.model.errors import RunnerError

Advice = Mapping[str, str | None]  # the name of a function -> what to write instead


class Registry(Protocol):
    """The registry as this file sees it."""

    def functions(self, module: str) -> list[str]: ...
    def modules(self) -> list[str]: ...
    def state_functions(self, module: str) -> list[str]: ...
    def state_modules(self) -> list[str]: ...


def of_salt(kind: str) -> Iterator[str]:
    """The functions of Salt 3007.4 and 3008.3 on Linux. kind: state or function."""
    text = files("runner.engine.loader").joinpath("salt_functions.txt").read_text(encoding="ascii")
    for line in text.splitlines():
        line_kind, module, *names = line.split()
        if line_kind == kind:
            yield from (f"{module}.{name}" for name in names)


def missing(
    registry: Registry, prefix: str = "", elsewhere: Collection[str] = ()
) -> dict[str, Advice]:
    """The states and the functions of Salt whose names begin with a prefix and that runner lacks.
    Raises RunnerError where neither has one of such a name.

    elsewhere: the functions that runner has outside of its registry.
    """
    asked = prefix.partition(".")[0]
    modules = {"state": registry.state_modules(), "function": registry.modules()}
    functions = {"state": registry.state_functions, "function": registry.functions}
    advice = {"state": unsupported.of_state, "function": unsupported.of_function}
    lacking: dict[str, Advice] = {}
    known = list(elsewhere)
    for kind, names in modules.items():
        near = [name for name in names if name.startswith(asked)]
        own = _names(near, functions[kind]) | set(elsewhere)
        salts = list(of_salt(kind))
        known += [*own, *salts]
        lacking[f"{kind}s"] = {
            name: advice[kind](name)
            for name in salts
            if name not in own and name.startswith(prefix)
        }
    if not any(name.startswith(prefix) for name in known):
        every = {name.partition(".")[0] for name in (*known, *chain(*modules.values()))}
        near_name = nearest(asked, every)
        raise RunnerError(
            f"neither Salt nor runner has a function whose name begins with {prefix}",
            hint=suggestion(near_name)
            if near_name
            else "`runner doc --missing` lists all that runner lacks",
        )
    return lacking


def _names(modules: Iterable[str], functions: Callable[[str], Iterable[str]]) -> set[str]:
    return {f"{module}.{name}" for module in modules for name in functions(module)}
