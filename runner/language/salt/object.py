# SPDX-License-Identifier: Apache-2.0
"""`salt` as templates see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runner.model.errors import RunnerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol
else:
    Protocol = object


class UnknownFunction(RunnerError, KeyError):
    """Neither the library nor the tree has a function of this name."""

    code = "unknown-function"


class Functions(Protocol):
    """The registry as `salt` sees it."""

    def function(self, name: str) -> Callable[..., Any]: ...
    def has_function(self, name: str) -> bool: ...
    def functions(self, module: str) -> list[str]: ...
    def modules(self) -> list[str]: ...
    def has_module(self, name: str) -> bool: ...
    def function_hint(self, name: str) -> str: ...


class Salt(Mapping[str, Callable[..., "Any"]]):
    """`salt` in templates: `salt['a.b']`, `salt.a.b`, `salt.get`, `in`."""

    def __init__(self, registry: Functions) -> None:
        self._registry = registry

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if not isinstance(name, str):
            raise UnknownFunction(
                f"{name!r} is not a name of a function", hint="write salt['MODULE.FUNCTION'](...)"
            )
        return self._registry.function(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._registry.has_function(name)

    def __iter__(self) -> Iterator[str]:
        registry = self._registry
        return (
            f"{module}.{name}"
            for module in registry.modules()
            for name in registry.functions(module)
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _ASKED:
            raise AttributeError(name)
        if "." in name:  # Jinja tries the attribute when the item is not there
            return _undefined(self._registry, name)
        return (
            _Module(self._registry, name)
            if self._registry.has_module(name)
            else _no_module(self._registry, name)
        )


_ASKED = ("unsafe_callable", "alters_data")  # what Jinja's sandbox asks for


class _Module:
    """`salt.pkg` of `salt.pkg.version(...)`."""

    def __init__(self, registry: Functions, name: str) -> None:
        self._registry = registry
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._registry.function(f"{self._name}.{name}")
        except KeyError:  # there is none, or it cannot work here
            return _undefined(self._registry, f"{self._name}.{name}")


def _no_module(registry: Functions, module: str) -> Any:
    """Stands for an unknown module in a template: `is defined` is false of it, and of all that it
    would have.
    """
    from jinja2 import StrictUndefined

    class NoModule(StrictUndefined):
        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or name in _ASKED:
                raise AttributeError(name)
            return _undefined(registry, f"{module}.{name}")

    return _undefined(registry, module, NoModule)


def _undefined(registry: Functions, name: str, kind: Any = None) -> Any:
    """Stands for an unknown function in a template: `is defined` is false of it, any use says what
    was meant.
    """
    from jinja2 import StrictUndefined

    def problem(message: str) -> UnknownFunction:
        unknown = UnknownFunction(message)
        try:
            registry.function(name)
        except RunnerError as error:  # it says why: the program that it lacks
            unknown.hint, unknown.missing = error.hint, error.missing
        unknown.hint = unknown.hint or registry.function_hint(name)
        return unknown

    made: Any = kind or StrictUndefined
    return made(hint=f"'{name}' is not available", name=name, exc=problem)
