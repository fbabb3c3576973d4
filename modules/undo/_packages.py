# SPDX-License-Identifier: Apache-2.0
"""Packages as they were: one transaction installs former versions, another removes what was not
there.
"""

from __future__ import annotations

from collections.abc import Callable

from modules import pkg
from modules.pkg import InstallOptions, PackageTarget, Transaction
from modules.pkg._former import all_packages, automatic_packages, former_holds
from modules.undo._kind import ABSENT, Changes, Future, State, UndoKind
from runner.api import FormerState, StateFailed

OPTIONS = InstallOptions(recommended=False, downgrade=True, change_held=True)


def _transactions(changes: Changes) -> list[Transaction]:
    """Return what brings packages back, in order: what is installed may conflict with what goes."""
    wanted = [
        PackageTarget(name, version)
        for name, (was, _) in changes.items()
        if was
        for version in [was["version"].rpartition(",")[2]]
    ]
    gone = [PackageTarget(name) for name, (was, _) in changes.items() if not was]
    made = []
    if wanted:
        made.append(Transaction("install", tuple(wanted), OPTIONS))
    if gone:
        made.append(Transaction("remove", tuple(gone), OPTIONS))
    return made


def _restore(changes: Changes) -> None:
    for transaction in _transactions(changes):
        present = all_packages().state
        left = tuple(
            target
            for target in transaction.targets
            if present.get(target.name, ABSENT).get("version", "") != (target.version or "")
        )
        if left:
            _run(transaction._replace(targets=left))


def _run(transaction: Transaction) -> None:
    """Carry out a transaction; a package that was added for others stays one."""
    manager = pkg.provider()
    names = {target.name for target in transaction.targets} & pkg.list_pkgs().keys()
    marked = manager.has("install_reasons") and transaction.action == "install"
    added = names - set(manager.manually_installed()) if marked else set()
    pkg.carry_out(transaction)
    if added:
        manager.mark(sorted(added), [])


def _refused(changes: Changes, future: Future) -> dict[str, str]:
    """Leave out what cannot be had any more, then what would have others change along, until the
    package manager's own simulation changes nothing else.
    """
    refused = _unavailable(changes)
    for name, (was, _) in changes.items():
        if not was and future("held package", name):  # not by this run, which would let it go first
            refused[name] = "it is held"
    while True:
        rest = {name: change for name, change in changes.items() if name not in refused}
        more = _simulated(rest)
        if not more:
            return refused
        refused |= more


def _unavailable(changes: Changes) -> dict[str, str]:
    refused = {}
    for name, (was, _) in changes.items():
        if not was:
            continue
        known = pkg.provider().versions(name)
        version = was["version"].rpartition(",")[2]
        if version not in known:
            have = f"there are {', '.join(known)}" if known else "there is none"
            refused[name] = f"version {version} is nowhere to be had any more ({have})"
    return refused


def _simulated(changes: Changes) -> dict[str, str]:
    """The packages whose restoring would change others than those that are restored."""
    goal = {name: was.get("version", "") for name, (was, _) in changes.items()}
    done: dict[str, str] = {}  # by the transactions before it
    for transaction in _transactions(changes):
        others = _others(transaction, goal, done)
        if not others:
            done |= {target.name: target.version or "" for target in transaction.targets}
            continue
        alone = {
            target.name: why
            for target in transaction.targets
            if (why := _others(transaction._replace(targets=(target,)), goal, done))
        }
        return alone or {target.name: others for target in transaction.targets}
    return {}


def _others(transaction: Transaction, goal: dict[str, str], done: dict[str, str]) -> str:
    """Return what a transaction would change beyond the goal, in words; empty for nothing.

    done: the versions that packages will have by then, where the package manager can be asked so.
    """
    manager = pkg.provider()
    try:
        if done and manager.has("simulates_plans"):
            held = tuple(sorted(manager.held()))
            simulation = manager.simulate_after(transaction, tuple(sorted(done.items())), held)
        else:
            simulation = manager.simulate(transaction)
    except StateFailed as failure:
        return failure.message
    if simulation.refusal:
        return simulation.refusal
    changes = simulation.changes or {}
    removed = [name for name, new in _beyond(changes, goal) if not new]
    if removed:
        return f"{', '.join(removed)} would be removed along with it"
    others = [f"{name} {new}" for name, new in _beyond(changes, goal)]
    return f"it needs {', '.join(others)}, too" if others else ""


def _beyond(changes: dict[str, dict[str, str]], goal: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(
        (name, change["new"]) for name, change in changes.items() if goal.get(name) != change["new"]
    )


def _of(look: Callable[[], FormerState]) -> Callable[[str], State]:
    """A look at one package, or without a name at all, by a look at all."""

    def state(name: str) -> State:
        found = look().state
        return found.get(name, {}) if name else found

    return state


def _was_so(changes: Changes) -> tuple[list[str], list[str]]:
    """The packages of which something was so, and the others."""
    named = {name: bool(was) for name, (was, _) in changes.items()}
    return [name for name in named if named[name]], [name for name in named if not named[name]]


def _restore_holds(changes: Changes) -> None:
    pkg.set_holds(*_was_so(changes))


def _restore_reasons(changes: Changes) -> None:
    pkg.provider().mark(*_was_so(changes))


def _unmarkable(changes: Changes, future: Future) -> dict[str, str]:
    return {name: "it will not be installed" for name in changes if not future("package", name)}


# what the scripts of packages change
BY_SCRIPTS = ("user", "group", "service", "alternatives")
PACKAGE = UndoKind(_of(all_packages), _restore, _refused, along=BY_SCRIPTS)
HELD = UndoKind(_of(former_holds), _restore_holds)
AUTOMATIC = UndoKind(_of(automatic_packages), _restore_reasons, _unmarkable, part_of="package")
