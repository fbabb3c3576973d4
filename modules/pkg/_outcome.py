# SPDX-License-Identifier: Apache-2.0
"""Transactions and holds, and whether they came to what they were for: a package manager that ends
without an error may have done nothing.
"""

from __future__ import annotations

import os

from modules import _paths, file
from modules.pkg._run import error_list
from modules.pkg.package_manager import (
    Changes,
    PackageManager,
    PackageTarget,
    Transaction,
    Versions,
)
from modules.pkg.providers import provider
from runner.api import CommandFailed, StateFailed, for_states, planned_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OSTREE = "/run/ostree-booted"


class NotDone(CommandFailed):
    """The package manager said that it did what is not there. packages: those that it is about."""

    packages: frozenset[str] = frozenset()


@for_states
def refuse_image() -> None:
    """Raise StateFailed where packages are those of the image that the system was started from, as
    with bootc and rpm-ostree.
    """
    if _paths.exists(OSTREE) and not _paths.access("/usr", os.W_OK):
        raise StateFailed(
            "the packages are those of the image that this system was started from (OSTree), and"
            " /usr is read-only: let the build of the image install them (`RUN runner highstate"
            " --image`), or layer them (`rpm-ostree install`), and reboot"
        )


def _carry_out(transaction: Transaction) -> None:
    manager = provider()
    try:
        file.refuse_put("/usr/bin")  # where the packages of all managers have files
    except StateFailed:
        remounts: Callable[[], bool] | None = getattr(manager, "remounts", None)
        if remounts is None or not remounts():
            raise
    manager.run(transaction)


@planned_as(_carry_out)
@for_states
def carry_out(transaction: Transaction) -> None:
    """Carry out a transaction. Raises CommandFailed with what the package manager says, NotDone
    where it says nothing and not all was done.
    """
    refuse_image()
    manager = provider()
    upgrades = _upgrades(manager, transaction)
    manager.run(transaction)
    _refuse(manager, _undone(manager, transaction, upgrades))


def _hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    if names or release:
        provider().hold(names, release)


@planned_as(_hold)
@for_states
def set_holds(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version, and let others go. Raises CommandFailed as carry_out does."""
    if not names and not release:
        return
    manager = provider()
    manager.hold(names, release)
    held = manager.held()
    undone = {name: "is not held" for name in names if name not in held}
    undone |= {name: "is still held" for name in release if name in held}
    _refuse(manager, undone)


def _refuse(manager: PackageManager, undone: Mapping[str, str]) -> None:
    if undone:
        lines = (
            f"{manager.NAMES[0]} ended without an error, but {name} {what}"
            for name, what in undone.items()
        )
        failure = NotDone(error_list(*lines))
        failure.packages = frozenset(undone)
        raise failure


def _upgrades(manager: PackageManager, transaction: Transaction) -> Changes:
    """Return what a transaction about all packages is to change, as the manager tells it."""
    if transaction.targets or not transaction.action.endswith("upgrade"):
        return {}
    return manager.simulate(transaction).changes or {}


def _undone(
    manager: PackageManager, transaction: Transaction, upgrades: Changes
) -> Mapping[str, str]:
    """Return what is not as it should be: package -> what is the matter."""
    present = manager.list_pkgs()
    if transaction.action in ("remove", "purge"):
        left = manager.leftovers() if transaction.action == "purge" else {}
        gone = [manager.normal(target.name) for target in transaction.targets]
        undone = {name: "is still installed" for name in gone if name in present}
        return undone | {name: "has still its configuration" for name in gone if name in left}
    if transaction.action == "install":
        return dict(_missing(manager, transaction, present))
    return {
        name: f"is still there in version {change['old']}"
        for name, change in upgrades.items()
        if change["new"] and change["old"] and present.get(name) == change["old"]
    }


def _missing(
    manager: PackageManager, transaction: Transaction, present: Versions
) -> Iterator[tuple[str, str]]:
    for target in transaction.targets:
        name, version = _asked(manager, target)
        if name not in present:
            if not transaction.options.only_upgrade and not _is_provided(manager, name, present):
                yield name, "is not installed"
        elif version and not any(
            manager.compare(there, version) == 0 for there in present[name].split(",")
        ):
            yield name, f"is there in version {present[name]} instead of {version}"


def _asked(manager: PackageManager, target: PackageTarget) -> tuple[str, str]:
    if target.path:
        return manager.normal(target.name), manager.file_info(target.path)[1]
    return manager.normal(target.name), target.version


def _is_provided(manager: PackageManager, name: str, present: Versions) -> bool:
    """Return whether an installed package provides a name."""
    if not manager.has("capabilities"):
        return False
    return manager.resolve_capabilities((name,)).get(name, "") in present
