# SPDX-License-Identifier: Apache-2.0
"""What stands in for the changers of package managers in a dry run, by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modules import _paths, file
from modules._planned.machine import looks_kept
from modules._planned.overlay import planned_machine
from modules.pkg import _scripts
from modules.pkg._ahead import PlannedPackage, planned_packages
from modules.pkg._laid import former_package, install, take_away
from modules.pkg._planned import asks_ahead
from modules.pkg._scripts import calculated
from modules.pkg.package_manager import NEEDS, PROVIDES, PackageManager, Transaction
from modules.pkg.providers import provider
from modules.service._planned import plan_enabled, plan_running
from runner.api import Unforeseen, here, leave_pending

COMMANDS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/games")


def run(transaction: Transaction) -> None:
    """Make what the state that runs now has noted true for the looks that follow."""
    with looks_kept("packages", "candidates"):
        _plan(transaction)
    calculated.keep()


def _plan(transaction: Transaction) -> None:
    tag = here.chunk.tag if here.chunk else ""
    machine = planned_machine()
    if tag not in machine.simulated:
        raise Unforeseen(str(transaction))
    machine.carried_out.add(tag)
    changes = machine.simulated[tag]
    purges = transaction.action == "purge"
    if purges:
        machine.purged.update(target.name for target in transaction.targets)
    elif transaction.action == "install":
        machine.purged.difference_update(target.name for target in transaction.targets)
    if not asks_ahead():
        leave_pending()
        return
    manager = provider()
    going = [name for name, change in changes.items() if not change["new"]]
    pending = _take_away(manager, going, purges)
    packages = planned_packages(manager, changes, transaction)
    if pending is None or packages is None:  # nobody knows what they bring, or take away
        leave_pending()
        return
    ordered = _in_order(sorted(packages, key=lambda package: [*changes].index(package.name)))
    opened = [*_scripts.follow(ordered, "preinst")]
    install(manager, packages, transaction.options.replace_configuration)
    opened += _scripts.follow(ordered, "postinst")
    for hook in manager.hooks(ordered) if manager.has("hooks") else ():
        opened += _scripts.follow_hook(hook)
    _scripts.note_open(opened)
    leave_pending([*pending, *(fact for each in opened for fact in each.facts)])


def _in_order(packages: Sequence[PlannedPackage]) -> list[PlannedPackage]:
    """Return packages behind those that they need."""
    providing = {package.name: package for package in packages}
    for package in packages:
        for name in package.contents.control.get(PROVIDES, "").split():
            providing.setdefault(name, package)
    ordered: dict[str, PlannedPackage] = {}
    visited: set[str] = set()

    def visit(package: PlannedPackage) -> None:
        if package.name in visited:
            return
        visited.add(package.name)
        for name in package.contents.control.get(NEEDS, "").split():
            if name in providing:
                visit(providing[name])
        ordered[package.name] = package

    for package in packages:
        visit(package)
    return [*ordered.values()]


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


def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Plan that packages are held, and others are not."""
    planned_machine().holds.update({**dict.fromkeys(release, False), **dict.fromkeys(names, True)})
