# SPDX-License-Identifier: Apache-2.0
"""Packages as the plans of a dry run so far would leave them.

A state notes the changes of its Plan, which the package manager's own solver gave (`note_plan`);
the transaction that would make them makes them true for the looks that follow. What is asked of a
provider itself (`provider().list_pkgs()`) is about the machine as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modules import _paths, file
from modules.pkg.package_manager import Changes, Transaction, Versions
from modules.pkg.providers import provider
from modules.service._planned import plan
from runner.api import OPEN, Unforeseen, for_states, here, leave_pending

COMMANDS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/games")
_NOTED = "pkg.planned"  # by the tag of a state, the changes of its Plan
_HOLDS = "pkg.planned holds"  # package -> whether it will be held


@for_states
def note_plan(changes: Changes) -> None:
    """Keep in mind what the state that runs now will do."""
    if here.dry and here.chunk:
        here.store(_NOTED)[here.chunk.tag] = changes


@for_states
def brought(changes: Changes) -> list[Any]:
    """Return what changes provide: packages, and what goes with others, which nobody knows."""
    packages = [("pkg", name) for name, change in changes.items() if change["new"]]
    return packages if len(packages) == len(changes) else [*packages, OPEN]


@for_states
def planned_changes() -> dict[str, str]:
    """The packages that the plans of this dry run change, with the version that they will have; ""
    for those that will be gone.
    """
    if not here.dry:  # what is only planned (no-op) is not there for a state that runs
        return {}
    versions: dict[str, str] = {}
    for tag, changes in here.store(_NOTED).items():
        done = here.results.get(tag)
        # others were looked at for another state, or failed after all
        if tag in _carried_out() or (done is not None and done.result is None):
            versions |= {name: change["new"] for name, change in changes.items()}
    return versions


def list_pkgs(**_: Any) -> Versions:
    """The installed packages with their versions; in a dry run those that will be installed."""
    installed = provider().list_pkgs()
    if not (changes := planned_changes()):
        return installed
    return {name: version for name, version in {**installed, **changes}.items() if version}


@for_states
def leftovers() -> Versions:
    """Return what purge would still take away of packages that are not (wholly) installed, or will
    not be.
    """
    manager = provider()
    left = manager.leftovers()
    if not (changes := planned_changes()):
        return left
    installed = manager.list_pkgs()
    leaves = getattr(manager, "leaves_configuration", lambda name: False)
    removed = {name: version for name, version in installed.items() if changes.get(name) == ""}
    removed = {name: version for name, version in removed.items() if leaves(name)}
    gone = {name for name in {*left, *removed} if changes.get(name) or name in _purged()}
    return {name: version for name, version in {**left, **removed}.items() if name not in gone}


def held() -> list[str]:
    """The packages that stay at their version, or will."""
    holds: Mapping[str, bool] = here.store(_HOLDS) if here.dry else {}
    names = provider().held()
    if not holds:
        return names
    return sorted(
        name for name, is_held in {**dict.fromkeys(names, True), **holds}.items() if is_held
    )


def plan_transaction(transaction: Transaction) -> None:
    """Make what the state that runs now has noted true for the looks that follow. What files,
    users and services that brings stays open.
    """
    tag = here.chunk.tag if here.chunk else ""
    if tag not in here.store(_NOTED):
        raise Unforeseen(str(transaction))
    _carried_out().add(tag)
    for name, change in here.store(_NOTED)[tag].items():
        if not change["new"] and name in provider().list_pkgs():
            _take_away(name)
    if transaction.action == "purge":
        _purged().update(target.name for target in transaction.targets)
    elif transaction.action == "install":
        _purged().difference_update(target.name for target in transaction.targets)
    leave_pending()


def _take_away(name: str) -> None:
    """Plan that the commands and the units of an installed package are gone, and what it ran."""
    if not provider().has("ownership"):
        return
    for path in provider().file_list(name):
        folder, _, file_name = path.rpartition("/")
        is_unit = folder.endswith("/systemd/system")
        if not (is_unit or folder in COMMANDS) or _paths.isdir(path):
            continue
        file.remove(path)
        if is_unit:
            plan("running", file_name, False)
            plan("enabled", file_name, False)


def plan_holds(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Plan that packages are held, and others are not."""
    here.store(_HOLDS).update({**dict.fromkeys(release, False), **dict.fromkeys(names, True)})


def _carried_out() -> set[Any]:
    carried: set[Any] = here.store("pkg.planned transactions").setdefault("tags", set())
    return carried


def _purged() -> set[str]:
    purged: set[str] = here.store("pkg.planned transactions").setdefault("purged", set())
    return purged
