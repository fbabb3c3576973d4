# SPDX-License-Identifier: Apache-2.0
"""Packages as the plans of a dry run so far would leave them.

A state notes the changes of its Plan, which the package manager's own solver gave (`note_plan`);
the transaction that would make them makes them true for the looks that follow. What is asked of a
provider itself (`provider().list_pkgs()`) is about the machine as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from modules import _paths, file
from modules._planned.machine import looks_kept, merged_names, planned_machine
from modules.pkg import _scripts
from modules.pkg._ahead import planned_packages
from modules.pkg._laid import former_package, install, take_away
from modules.pkg.package_manager import Changes, PackageManager, Transaction, Versions
from modules.pkg.providers import provider
from modules.service._planned import plan_enabled, plan_running
from runner.api import OPEN, Unforeseen, for_states, here, leave_pending

COMMANDS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/games")


@for_states
def note_plan(changes: Changes) -> None:
    """Keep in mind what the state that runs now will do."""
    if here.chunk:
        planned_machine().simulated[here.chunk.tag] = changes


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


def plan_transaction(transaction: Transaction) -> None:
    """Make what the state that runs now has noted true for the looks that follow."""
    with looks_kept("packages", "candidates"):
        _plan(transaction)


def _plan(transaction: Transaction) -> None:
    tag = here.chunk.tag if here.chunk else ""
    machine = planned_machine()
    if tag not in machine.simulated:
        raise Unforeseen(str(transaction))
    machine.carried_out.add(tag)
    changes = machine.simulated[tag]
    manager = provider()
    purges = transaction.action == "purge"
    going = [name for name, change in changes.items() if not change["new"]]
    pending = _take_away(manager, going, purges)
    if purges:
        machine.purged.update(target.name for target in transaction.targets)
    elif transaction.action == "install":
        machine.purged.difference_update(target.name for target in transaction.targets)
    packages = planned_packages(manager, changes, transaction)
    if pending is None or packages is None:  # nobody knows what they bring, or take away
        leave_pending()
        return
    ordered = sorted(packages, key=lambda package: [*changes].index(package.name))
    opened = [*_scripts.follow(ordered, "preinst")]
    install(manager, packages, transaction.options.replace_configuration)
    opened += _scripts.follow(ordered, "postinst")
    _scripts.note_open(opened)
    leave_pending([*pending, *(fact for each in opened for fact in each.facts)])


def _take_away(
    manager: PackageManager, names: Sequence[str], purges: bool
) -> Sequence[object] | None:
    """Plan that the files of packages are gone, and what they ran; return what stays open then:
    None for all.
    """
    pending: list[object] | None = []
    for name in names:
        former = former_package(manager, name)
        if former is None:
            _stop(manager.file_list(name) if manager.has("ownership") else ())
            pending = None
            continue
        opened = [*_scripts.follow_script(name, former.scripts, "prerm", "remove")]
        _stop(former.paths)
        take_away(manager, former, purges)
        for word in ("remove", "purge")[: 1 + purges]:
            opened += _scripts.follow_script(name, former.scripts, "postrm", word)
        if pending is not None:
            _scripts.note_open(opened)
            pending += [fact for each in opened for fact in each.facts]
        planned_machine().packages.pop(name, None)
    return pending


def _stop(paths: Iterable[str]) -> None:
    """Plan that commands and units are gone, and what they ran."""
    for path in paths:
        folder, _, name = path.rpartition("/")
        is_unit = folder.endswith("/systemd/system")
        if not (is_unit or folder in COMMANDS) or not _paths.lexists(path) or _paths.isdir(path):
            continue
        file.remove(path)
        if is_unit:
            plan_running(name, False)
            plan_enabled(name, False)


def plan_holds(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Plan that packages are held, and others are not."""
    planned_machine().holds.update({**dict.fromkeys(release, False), **dict.fromkeys(names, True)})
