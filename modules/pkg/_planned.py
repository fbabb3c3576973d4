# SPDX-License-Identifier: Apache-2.0
"""Packages as the plans of a dry run so far would leave them.

A state notes the changes of its Plan, which the package manager's own solver gave (`note_plan`);
what stands in for the transaction that would make them (`_stand_ins.py`) makes them true for the
looks that follow. What is asked of a provider itself (`provider().list_pkgs()`) is about the
machine as it is.
"""

from __future__ import annotations

from modules._machine import fetching
from modules._planned.machine import merged_names
from modules._planned.overlay import planned_machine
from modules.pkg.package_manager import Changes, Versions
from modules.pkg.providers import provider
from runner.api import OPEN, for_states, here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@for_states
def note_plan(changes: Changes) -> None:
    """Keep in mind what the state that runs now will do."""
    if here.chunk:
        planned_machine().simulated[here.chunk.tag] = changes


@for_states
def asks_ahead() -> bool:
    """Return whether the package manager may be asked for what a dry run alone wants to know."""
    return bool(fetching.settings()["packages"] != "never")


@for_states
def note_coming(changes: Changes) -> None:
    """Keep in mind what all states of a kind do together: archives are looked up once."""
    versions = {name: change["new"] for name, change in changes.items()}
    planned_machine().coming.update(versions)


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
    machine = planned_machine()
    versions: dict[str, str] = {}
    for tag, changes in machine.simulated.items():
        done = here.results.get(tag)
        # others were looked at for another state, or failed after all
        if tag in machine.carried_out or (done is not None and done.result is None):
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
    purged = planned_machine().purged
    gone = {name for name in {*left, *removed} if changes.get(name) or name in purged}
    return {name: version for name, version in {**left, **removed}.items() if name not in gone}


def held() -> list[str]:
    """The packages that stay at their version, or will."""
    return merged_names(provider().held(), planned_machine().holds)
