# SPDX-License-Identifier: Apache-2.0
"""The configuration that a pulled tree brings, below the machine's own.

The machine's keys win; where both have a mapping of names (grains, pillar, vars, nodegroups), they
are put together, and the machine's names win.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from runner.model import said_in
from runner.model.diagnostics import Diagnostic
from runner.model.errors import UsageError
from runner.sources.config.file import (
    LoadYaml,
    expand,
    is_within,
    own_grains_of,
    place_of,
    read_settings,
)
from runner.support.redaction.keys import KEYS

FILE = "runner.yaml"
MACHINES = ("id", "root", "tree", "report", "cachedir", "state_dir")  # what no tree can know
TOGETHER = ("grains", "pillar", "vars", "nodegroups")
FOLDERS = (
    "module_dirs",
    "states_dirs",
    "grains_dirs",
    "utils_dirs",
    "render_dirs",
    "returner_dirs",
)
USUAL = {"file_roots": ("states", "salt"), "pillar_roots": ("pillar",)}


def settings_of(
    folder: str, load_yaml: LoadYaml, warnings: list[Diagnostic], files: list[str]
) -> dict[str, Any]:
    """The settings of a tree, with absolute paths. Raises UsageError and CompileError for mistakes
    in them, and for roots that lead out of the tree.

    files: gets the files that were read.
    """
    path = os.path.join(folder, FILE)
    own = read_settings(path, load_yaml, warnings, files, folder) if os.path.isfile(path) else {}
    said = own.pop(said_in.KEY, {})  # by files that it includes
    warnings += _ignored(path, own)
    settings = {key: own[key] for key in own if key not in (*MACHINES, "include")}
    settings.pop("default_include", None)
    for key in USUAL:
        settings[key] = dict(_roots(path, key, own.get(key), folder))
    for key in filter(settings.get, FOLDERS):
        settings[key] = [_inside(path, key, each, folder) for each in settings[key]]
    grains = {**own_grains_of(path, load_yaml), **(own.get("grains") or {})}
    said = dict.fromkeys(own, (path, folder)) | said
    return {**settings, "grains": grains, said_in.KEY: said}


def no_settings(trees: str) -> dict[str, Any]:
    """The settings before there is a tree: roots where none are. trees: the folder of trees."""
    return {
        key: {"base": [os.path.join(trees, "current", names[0])]} for key, names in USUAL.items()
    }


def combined(machine: Mapping[str, Any], tree: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of both, the machine's first."""
    own = {key: value for key, value in machine.items() if value is not None}
    of_tree, of_own = tree.get(said_in.KEY, {}), own.get(said_in.KEY, {})
    said = {key: of_tree[key] for key in of_tree if key not in own}
    said |= {key: of_own[key] for key in of_own if key in own}
    both = {**tree, **own, said_in.KEY: said}
    for key in TOGETHER:
        if isinstance(machine.get(key), dict) and isinstance(tree.get(key), dict):
            both[key] = {**tree[key], **machine[key]}
    if tree.get("secret_keys") is not None:  # it may name more, but uncover nothing
        named = machine.get("secret_keys")
        more = [key for key in tree["secret_keys"] if not str(key).startswith("!")]
        both["secret_keys"] = [*(KEYS if named is None else named), *more]
    return both


def _ignored(path: str, settings: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for key in MACHINES:
        if key in settings:
            yield Diagnostic(
                f"{key} of a tree is not used",
                place_of(path, key),
                "it belongs in the configuration of the machine",
                "config",
                "warning",
            )


def _roots(
    path: str, key: str, configured: Mapping[Any, Any] | None, folder: str
) -> Iterator[tuple[str, list[str]]]:
    """The roots of each environment, in the tree."""
    if not configured:
        there = [name for name in USUAL[key] if os.path.isdir(os.path.join(folder, name))]
        yield "base", [os.path.join(folder, name) for name in there or USUAL[key][:1]]
        return
    for env, roots in configured.items():
        named = [roots] if isinstance(roots, str) else roots or ()
        yield (
            str(env),
            [
                _inside(path, key, root, folder)
                for pattern in named
                for root in expand(os.path.join(folder, str(pattern)))
            ],
        )


def _inside(path: str, key: str, name: str, folder: str) -> str:
    """A folder of the tree. Raises UsageError for one elsewhere."""
    at = os.path.normpath(os.path.join(folder, name))
    if not is_within(folder, at):
        raise UsageError(
            f"{key} leads out of the tree, to {at}",
            place_of(path, key),
            "the roots of a tree are relative to it; those of the machine belong in its own"
            " configuration",
            "config",
        )
    return at
