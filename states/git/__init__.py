# SPDX-License-Identifier: Apache-2.0
"""Git repositories. Each function has a file of its own, imported when a tree uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from modules import cmd
from runner.api import claims, on_demand
from runner.api.kinds import comes_after

if TYPE_CHECKING:
    from runner.api.claims import Claim

from states._run_as import dry_run_check as dry_run_check

DECIDES = {"config_set": "value multivar"}
TOLD_APART_BY = "repo user global"
MEANS = {"user": cmd.caller}

FUNCTIONS = {
    "cloned": "cloned",
    "config_set": "config",
    "config_unset": "config",
    "detached": "detached",
    "latest": "latest",
    "present": "present",
}


autorequire = comes_after(
    "A clone comes after the folders above it, its user, its keys and git itself.",
    ("pkg", "git"),
    above="target",
    user="user",
)


def owns(
    fun: str, name: str, target: object = None, separate_git_dir: object = None, **_: object
) -> Iterator[Claim]:
    """That there is something where the clone is to be."""
    paths = [name, separate_git_dir] if fun == "present" else [target]
    for path in paths:
        if not fun.startswith("config") and isinstance(path, str):
            yield claims.Claim(claims.PRESENT, path.rstrip("/"))


__getattr__, __dir__ = on_demand(globals(), FUNCTIONS)
