# SPDX-License-Identifier: Apache-2.0
"""The registry described: Salt's `sys.*` (loaded when one of them is called)."""

from __future__ import annotations

import fnmatch
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Protocol

from runner.language.arguments.schema import MISSING, schema_of


class ListedFunctions(Protocol):
    """The registry as these functions see it."""

    def definition(self, name: str) -> Callable[..., Any]: ...
    def functions(self, module: str) -> list[str]: ...
    def modules(self) -> list[str]: ...
    def state(self, name: str) -> Any: ...
    def state_functions(self, module: str) -> list[str]: ...
    def state_modules(self) -> list[str]: ...


RENDERERS = tuple("gpg jinja json mako py pydsl pyobjects stateconf toml yaml yamlex".split())


def list_modules(registry: ListedFunctions, *globs: str) -> list[str]:
    """The execution modules (those that match)."""
    return _matching(registry.modules(), globs)


def list_functions(registry: ListedFunctions, *words: str) -> list[str]:
    """The execution functions: all, those of modules, or those that match globs."""
    return _chosen(_names(registry.modules(), registry.functions), words)


def list_state_modules(registry: ListedFunctions, *globs: str) -> list[str]:
    """The state modules (those that match)."""
    return _matching(registry.state_modules(), globs)


def list_state_functions(registry: ListedFunctions, *words: str) -> list[str]:
    """The state functions: all, those of modules, or those that match globs."""
    return _chosen(_names(registry.state_modules(), registry.state_functions), words)


def list_renderers(registry: ListedFunctions, *globs: str) -> list[str]:
    """The renderers (those that match)."""
    return _matching(RENDERERS, globs)


def doc(registry: ListedFunctions, *words: str) -> dict[str, str]:
    """The docstrings of execution functions."""
    return {name: _said(registry.definition(name)) for name in list_functions(registry, *words)}


def state_doc(registry: ListedFunctions, *words: str) -> dict[str, str]:
    """The docstrings of state functions."""
    return {
        name: _said(registry.state(name).function)
        for name in list_state_functions(registry, *words)
    }


def argspec(registry: ListedFunctions, *words: str) -> dict[str, dict[str, Any]]:
    """The arguments of execution functions."""
    return {
        name: _arguments(registry.definition(name)) for name in list_functions(registry, *words)
    }


def state_argspec(registry: ListedFunctions, *words: str) -> dict[str, dict[str, Any]]:
    """The arguments of state functions."""
    return {
        name: _arguments(registry.state(name).function)
        for name in list_state_functions(registry, *words)
    }


def reload_modules(registry: ListedFunctions) -> None:
    """Nothing to do: each command looks at the tree anew."""


def _names(modules: Iterable[str], functions: Callable[[str], list[str]]) -> list[str]:
    return sorted(f"{module}.{name}" for module in modules for name in functions(module))


def _matching(names: Iterable[str], globs: tuple[str, ...]) -> list[str]:
    return [
        name
        for name in names
        if not globs or any(fnmatch.fnmatchcase(name, glob) for glob in globs)
    ]


def _chosen(names: list[str], words: tuple[str, ...]) -> list[str]:
    """A word is a module, or a function or glob."""
    globs = tuple(word if "." in word or "*" in word else f"{word}.*" for word in words if word)
    return _matching(names, globs)


def _said(function: Callable[..., Any]) -> str:
    return inspect.getdoc(function) or ""


def _arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """As Salt shows them: names, the defaults of the last of them, and whether it takes more."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {parameter.kind for parameter in parameters}
    known: dict[str, Any] = {
        parameter.name: MISSING if parameter.default is parameter.empty else parameter.default
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    if isinstance(function, FunctionType):  # with what decorators and groups add
        known = {name: item.default for name, item in schema_of(function).parameters.items()}
    return {
        "args": [*known] or None,
        "defaults": [default for default in known.values() if default is not MISSING] or None,
        "varargs": True if inspect.Parameter.VAR_POSITIONAL in kinds else None,
        "kwargs": True if inspect.Parameter.VAR_KEYWORD in kinds else None,
    }
