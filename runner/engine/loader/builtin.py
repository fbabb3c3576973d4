# SPDX-License-Identifier: Apache-2.0
"""The folders of built-in modules, `states` and `modules`."""

from __future__ import annotations

import importlib
import os
from functools import cache

import runner
from runner.engine.loader.tree_modules import virtual_name
from runner.model.errors import RunnerError
from runner.model.families import FAMILIES


def library(kind: str) -> dict[str, str]:
    """The built-in modules of a kind: Salt's name -> import name. Raises RunnerError when a package
    elsewhere hides runner's own.
    """
    package = importlib.import_module(kind)
    beside = os.path.realpath(runner.ROOT)
    folder = os.path.dirname(os.path.realpath(package.__file__ or ""))
    if folder != os.path.join(beside, kind):
        raise RunnerError(
            f"the Python package {kind!r} at {folder} hides runner's own",
            hint=(
                f"rename that folder, or start runner where it is not on Python's path ({beside}"
                " has to come first)"
            ),
        )
    names = _below(kind, folder)
    for family in FAMILIES:
        names |= _below(f"{kind}.{family}", os.path.join(folder, family))
    return names


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
        return hasattr(importlib.import_module(module), function)
    with open(spec.origin or "", "rb") as file:
        return b"\ndef %s(" % function.encode() in file.read()
