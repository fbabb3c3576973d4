"""The obstacles that keep the caller from carrying a plan out: a read-only file system, missing
rights.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from modules import file
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
    plan: Plan, name: str, user: Any = None, group: Any = None, follow: bool = True
) -> None:
    """Raise StateFailed when a file state would fail because it may not write."""
    for kind, path in plan.provides if isinstance(plan.provides, Iterable) else ():
        if kind == "no file":
            file.refuse_put(path)
    for path, kind, keys in _operations(name, plan.changes):
        if not path.startswith("/"):
            continue
        real = file.real_path(path) if follow and kind != "put" else path
        if kind == "dress":
            file.refuse_chmod(real)
        elif kind == "touch":
            file.refuse_touch(real)
        elif kind == "rewrite":
            file.refuse_rewrite(real)
        else:
            file.refuse_put(path)
        if kind != "touch" and (kind != "dress" or keys & {"user", "group"}):
            file.refuse_owner(path, user, group)


def unchecked(plan: Plan, check_cmd: object) -> None:
    """Raise StateFailed when new contents are to be checked by a program that is not there."""
    if check_cmd and "diff" in plan.changes:
        file.refuse_check(str(check_cmd))


def _operations(name: str, changes: Mapping[str, Any]) -> Iterator[tuple[str, str, set[str]]]:
    """The paths that a plan changes, each with how and with the keys of its changes."""
    own = set()
    for key, value in changes.items():
        if key in GONE:
            removed = value if isinstance(value, list | tuple) else [value]
            yield from (
                (os.path.join(name, path), "put", set())
                for path in removed
                if isinstance(path, str)
            )
        elif key.startswith("/"):
            keys = set(value) if isinstance(value, Mapping) else set()
            yield key, _kind(keys), keys
        elif key in ITSELF:
            own.add(key)
    if own:
        yield name, _kind(own), own


def _kind(keys: set[str]) -> str:
    if keys == {"touched"}:
        return "touch"
    if keys and keys <= DRESS:
        return "dress"
    return "rewrite" if "diff" in keys else "put"
