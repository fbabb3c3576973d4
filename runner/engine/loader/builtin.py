# SPDX-License-Identifier: Apache-2.0
"""The folders of built-in modules, `states` and `modules`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, cached_property

import runner
from runner.engine.loader.tree_modules import virtual_name
from runner.model.errors import RunnerError
from runner.model.families import FAMILIES
from runner.support.own_modules import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
    from importlib.util import find_spec

    spec = find_spec(module)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return hasattr(import_module(module), function)
    with open(spec.origin or "", "rb") as file:
        return b"\ndef %s(" % function.encode() in file.read()
