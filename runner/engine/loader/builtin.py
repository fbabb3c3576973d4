# SPDX-License-Identifier: Apache-2.0
"""The built-in modules, those of `states` and `modules`; what any module offers."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import os
import shutil
from collections.abc import Mapping
from functools import cache, cached_property
from types import FunctionType, ModuleType

import runner
from runner.language.salt import style as salt_style
from runner.model.errors import RunnerError
from runner.model.requisite_kinds import AUTOMATIC, COMES_LAST, STANDS_FOR
from runner.support.own_modules import FAMILIES, import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from runner.model.places import Source


HOOKS = frozenset(  # the functions of a state module that are no state functions
    [
        "mod_watch",
        "mod_aggregate",
        "mod_init",
        "pre_run_check",
        "dry_run_check",
        "prune_check",
        "resources",
        "calls",
        "its_file",
        "owns",
        "traps",
        *AUTOMATIC,
        STANDS_FOR,
    ]
)


class UnavailableError(RunnerError):
    """A module is there but cannot work (yet)."""

    code = "unavailable"

    def __init__(
        self, message: str, reason: str = "", hint: str | None = None, source: Source | None = None
    ):
        super().__init__(message, source, hint)
        self.reason = reason or message


class UnavailableFunction(UnavailableError, KeyError):
    """A function of a module that lacks its program: to a template it is not there."""


class Library(Mapping[str, str]):
    """The built-in modules of a kind: Salt's name -> import name. To find one at the top takes one
    look, and no listing of all folders.
    """

    def __init__(self, kind: str, folder: str) -> None:
        self._kind, self._folder = kind, folder

    @cached_property
    def _all(self) -> dict[str, str]:
        names = _below(self._kind, self._folder)
        for family in FAMILIES:
            names |= _below(f"{self._kind}.{family}", os.path.join(self._folder, family))
        return names

    def __getitem__(self, name: str) -> str:
        plain = name.isidentifier() and name.strip("_") == name and name not in FAMILIES
        if plain and "_all" not in self.__dict__:
            for file in (f"{name}/__init__.py", f"{name}.py"):
                if os.path.exists(os.path.join(self._folder, file)):
                    return f"{self._kind}.{name}"
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def library(kind: str) -> Library:
    """The built-in modules of a kind. Raises RunnerError when a package elsewhere hides runner's
    own.
    """
    package = import_module(kind)
    folder = os.path.dirname(package.__file__ or "")
    own = os.path.join(runner.ROOT, kind)
    if folder != own and os.path.realpath(folder) != os.path.realpath(own):
        raise RunnerError(
            f"the Python package {kind!r} at {os.path.realpath(folder)} hides runner's own",
            hint=(
                f"rename that folder, or start runner where it is not on Python's path"
                f" ({os.path.realpath(runner.ROOT)} has to come first)"
            ),
        )
    return Library(kind, folder)


def _below(package: str, folder: str) -> dict[str, str]:
    """The modules of a folder, but for the families among them."""
    names = {}
    for entry in os.scandir(folder):
        stem = entry.name.removesuffix(".py")
        if (
            stem.startswith("_")
            or stem in FAMILIES
            or not (stem != entry.name or os.path.exists(os.path.join(entry.path, "__init__.py")))
        ):
            continue
        names[virtual_name(stem)] = f"{package}.{stem}"
    return names


@cache
def declares(module: str, function: str) -> bool:
    """Return whether a built-in module has a function, by its text: to compile a tree takes no
    state module.

    >>> declares("states.service", "mod_watch"), declares("states.file", "mod_watch")
    (True, False)
    """
    spec = importlib.util.find_spec(module)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return hasattr(import_module(module), function)
    with open(spec.origin or "", "rb") as file:
        return b"\ndef %s(" % function.encode() in file.read()


# ---------------------------------------------------------------- what a module offers


def virtual_name(name: str) -> str:
    """The name that users write: a trailing underscore only kept Python's own names free (`list_`,
    `import_`).
    """
    bare = name[:-1]
    if name[-1:] != "_":
        return name
    reserved = keyword.iskeyword(bare) or hasattr(builtins, bare)
    return bare if reserved or not bare.endswith("_") else name


def lacking(module: ModuleType | None) -> str | None:
    """The program without which the functions of a module of the library are not there, if it is
    not.
    """
    program = getattr(module, "NEEDS_PROGRAM", None)
    if program is None:
        return None
    return None if shutil.which(program) else str(program)


def relationship_hooks(module: ModuleType, function: str) -> tuple[str, ...]:
    """The hooks by which a module asks for automatic relationships of the states of a function."""
    members = module.__dict__
    hooks = [name for name in (STANDS_FOR, *AUTOMATIC) if members.get(name)]
    return (*hooks, COMES_LAST) if function in members.get(COMES_LAST, ()) else tuple(hooks)


def offered(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """The function that a module offers under a name; None for what is private, imported, no
    function, or for states alone.
    """
    if name.startswith("_"):
        return None
    aliases: Mapping[str, str] = module.__dict__.get("__func_alias__", {})
    if name in aliases:
        return None
    real = next((old for old, new in aliases.items() if new == name), name)
    for candidate in (real, f"{real}_"):
        if name in HOOKS:  # they stand in the module, also where it loads its functions lazily
            function = module.__dict__.get(candidate)
        else:
            function = getattr(module, candidate, None)
        if isinstance(function, ModuleType) and name in module.__dict__.get("FUNCTIONS", ()):
            function = getattr(function, candidate, None)  # states/file/managed.py
        if isinstance(function, FunctionType) and _own(module, function):
            if "for_states" in function.__dict__:
                return None
            if "__salt__" not in module.__dict__:
                return function
            return salt_style.in_context(function)
    return None


def _own(module: ModuleType, function: FunctionType) -> bool:
    return function.__module__ == module.__name__ or function.__module__.startswith(
        f"{module.__name__}."
    )


def members(module: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    """The functions that a module offers, by the names that users write."""
    listed = getattr(module, "__load__", None) or getattr(module, "__all__", None) or dir(module)
    aliases = dict(getattr(module, "__func_alias__", {}))
    names = {aliases.get(name, virtual_name(name)) for name in listed}
    functions = [(name, offered(module, name)) for name in sorted(names)]
    return [(name, function) for name, function in functions if function is not None]


def plans(function: Callable[..., Any]) -> bool:
    """Return whether a state function of a tree is written in the new style."""
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    if not isinstance(inner, FunctionType):
        return False
    if inner.__code__.co_flags & 0x20:  # CO_GENERATOR
        return True
    answer = inner.__annotations__.get("return")
    text = answer if isinstance(answer, str) else getattr(answer, "__name__", str(answer))
    words = {word.strip() for word in str(text).replace("Generator", "Planned").split("|")}
    return any(word.split("[")[0].split(".")[-1] in ("Planned", "str", "Done") for word in words)
