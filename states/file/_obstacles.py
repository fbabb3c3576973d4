# SPDX-License-Identifier: Apache-2.0
"""The obstacles that keep the caller from carrying a plan out: a read-only file system, missing
rights.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from modules import file, pkg
from runner.api import Plan

DRESS = {"mode", "user", "group", "attrs", "ownership", "selinux", "lsattr"}
GONE = ("removed", "deleted")
ITSELF = {
    "diff",
    "new",
    "old",
    "newfile",
    "touched",
    *DRESS,
}  # keys that are about the path of the state


def dry_run_check(
    plan: Plan,
    name: str,
    user: Any = None,
    group: Any = None,
    follow: bool = True,
    unlocks: bool = False,
) -> None:
    """Raise StateFailed when a file state would fail because it may not write. unlocks: it takes
    the attributes away that keep it from that.
    """
    provided = plan.provides if isinstance(plan.provides, Iterable) else ()
    for fact in provided:
        if isinstance(fact, tuple) and fact[0] == "no file":
            file.refuse_put(fact[1])
    if ("hard link", name) in provided:
        user = group = None  # those of folders above it; its own are those of the file
    for path, kind, keys in _operations(name, plan.changes):
        if not path.startswith("/"):
            continue
        real = file.real_path(path) if follow and kind not in ("put", "folder", "removal") else path
        if kind == "dress":
            file.refuse_chmod(real, unlocks)
        elif kind == "touch":
            file.refuse_touch(real)
        elif kind == "rewrite":
            file.refuse_rewrite(real, unlocks)
        elif kind == "removal":
            file.refuse_removal(path)
        else:
            file.refuse_put(path, direct=kind == "folder")
        if kind != "touch" and (kind != "dress" or keys & {"user", "group"}):
            file.refuse_owner(path, user, group)


def _operations(name: str, changes: Mapping[str, Any]) -> Iterator[tuple[str, str, set[str]]]:
    """The paths that a plan changes, each with how and with the keys of its changes."""
    own = set()
    for key, value in changes.items():
        if key in GONE:
            removed = value if isinstance(value, list | tuple) else [value]
            yield from (
                (os.path.join(name, path), "removal", set())
                for path in removed
                if isinstance(path, str)
            )
        elif key.startswith("/"):
            parts = value if isinstance(value, Mapping) else {}
            yield key, _kind(parts), {*parts}
        elif key in ITSELF:
            own.add(key)
    if own:
        yield name, _kind({key: changes[key] for key in own}), own


def _kind(parts: Mapping[str, Any]) -> str:
    keys = parts.keys()
    if keys == {"touched"}:
        return "touch"
    if keys and keys <= DRESS:
        return "dress"
    if "directory" in keys:
        return "folder"
    return "rewrite" if "diff" in keys and parts["diff"] != "New file" else "put"


def prune_check(paths: Sequence[str], going: Collection[str]) -> Iterator[tuple[str, str]]:
    """The paths that have to stay, and why. going: all that is to be removed."""
    owners = pkg.owners(paths)
    staying: set[str] = set()
    for path in sorted(paths, key=len, reverse=True):  # what is in a folder before the folder
        why = f"it belongs to the package {owners[path]}" if path in owners else ""
        if not why and file.is_dir(path) and not file.is_link(path):
            names = [f"{path.rstrip('/')}/{name}" for name in sorted(file.listdir(path))]
            stays = [name for name in names if name not in going or name in staying]
            why = f"it holds {stays[0]}, which stays" if stays else ""
        if why:
            staying.add(path)
            yield path, why
