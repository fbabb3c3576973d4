# SPDX-License-Identifier: Apache-2.0
"""Packages of the machine's package manager."""

from __future__ import annotations

from modules import file, pkg
from modules.pkg import PackageTarget, Transaction
from runner.api import (
    OPEN,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
    claims,
    here,
    requires_feature,
)
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite, Removal
from states._tools import Variables
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation
from states.pkg._autoremoved import autoremoved
from states.pkg._declared import declared
from states.pkg._downloaded import downloaded
from states.pkg._groups import group_installed, patch_downloaded, patch_installed
from states.pkg._holds import held, unheld
from states.pkg._installed import installed, mod_aggregate
from states.pkg._modules import module_disabled, module_enabled
from states.pkg._path_rules import diverted, statoverride, statoverride_absent, undiverted
from states.pkg._selection import AnyInstalling, Installing, Names, Upgrading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Annotated, Any

    from runner.api.claims import Claim, Trap

PROVIDERS = pkg.PROVIDERS
COMES_LAST = frozenset({"autoremoved", "declared"})
NON_IDEMPOTENT = {"installed": "with reinstall it does so in each run"}


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raises StateFailed when the caller may not change selection, or nobody may."""
    pkg.refuse_image()
    file.refuse_put(pkg.provider().DATABASE)


def autoalias(name: str, pkgs: Names | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """A state is each of its pkgs."""
    for entry in pkgs or ():
        yield "pkg", next(iter(entry), "") if isinstance(entry, dict) else entry


def traps(fun: str, name: str, pkgs: object = None, **_: object) -> Iterator[Trap]:
    """Several packages, or one with its version, in the place of one name."""
    if fun not in ("installed", "latest", "removed", "purged", "held") or pkgs:
        return
    words = name.replace(",", " ").split()
    if len(words) > 1 and not name.startswith("@"):  # a group has a name of several words
        hint = f"write `- pkgs: [{', '.join(words)}]`"
    elif len(words) == 1 and "=" in name:
        package = name.partition("=")[0].rstrip("<>")
        version = name.removeprefix(package).lstrip("=")
        hint = f"write `- name: {package}` and `- version: '{version}'`"
    else:
        return
    yield claims.Trap("name", f"{name!r} is taken for the name of one package", hint)


def latest(
    name: Name,
    pkgs: Names | None = None,
    refresh: bool | None = None,
    watch_flags: bool = True,
    how: AnyInstalling = Installing(),
) -> Planned:
    """Make sure that packages are installed in their newest version.

    name: One package, or with pkgs only the state's name.
    pkgs: As of pkg.installed.
    refresh: Renew the package lists first; false does not.
    watch_flags: Ignored; it is for Gentoo.

        openssl:
          pkg.latest:
            - refresh: True
    """
    names = list(selection.wanted(name, None, pkgs, None))
    if refresh is not False:
        selection.refresh_lists(how.cache_valid_time)
    present = simulation.present()
    newest = simulation.candidates(names)
    unknown = [package for package in names if package not in newest and package not in present]
    if unknown:
        raise StateFailed(f"No information found for '{unknown[0]}'.", missing=selection.LISTS)
    old = [
        package
        for package in names
        if package in newest and not _has(present, package, newest[package])
    ]
    if not old:
        return (
            f"Package {names[0]} is already up-to-date"
            if len(names) == 1
            else f"All packages are up-to-date ({', '.join(sorted(names))})."
        )
    options = how.options()
    targets = {package: PackageTarget(package, newest[package]) for package in old}
    asked = {
        package: PackageTarget(package) if package not in present else targets[package]
        for package in old
    }
    at_least = {
        package: {"old": present.get(package, ""), "new": newest[package]} for package in old
    }

    def planned(changes: pkg.Changes) -> Plan:
        simulation.plan(changes)
        comment = f"The following packages would be installed/upgraded: {', '.join(old)}"
        return Plan(changes, comment, provides=simulation.brought(changes))

    def with_needs() -> Plan:
        changes = simulation.to_install(asked, options)
        if changes is None:
            install = Transaction("install", tuple(asked.values()), options)
            simulation.refuse(install, selection.ERROR)
        return planned(changes or at_least)

    yield simulation.ahead(planned(at_least), with_needs)
    selection.answer(how.debconf)
    transaction = Transaction("install", tuple(targets.values()), options)
    with pkg.environment(how.env):
        done = selection.carried_out(transaction, present, selection.ERROR, _not_updated)
    comment = (
        f"The following packages were successfully installed/upgraded: {', '.join(sorted(old))}"
    )
    current = sorted(set(names) - set(old))
    comment += (
        f" The following packages were already up-to-date: {', '.join(current)}" if current else ""
    )
    return Done(comment, done)


def _not_updated(names: Collection[str]) -> str:
    if len(names) == 1:
        return f"Package {next(iter(names))} failed to update."
    return f"The following packages failed to update: {', '.join(sorted(names))}"


def _has(present: Mapping[str, str], name: str, version: str) -> bool:
    """Return whether a package is there in a version, be it among others."""
    return version in present.get(name, "").split(",")


def removed(
    name: Name,
    version: Name | None = None,
    pkgs: Names | None = None,
    normalize: bool = True,
    ignore_epoch: bool = False,
) -> Planned:
    """Make sure that packages are not installed; their configuration stays.

    name: One package, or with pkgs only the state's name.
    version: Remove it only in this version.
    pkgs: Several packages.
    normalize, ignore_epoch: as of pkg.installed.

        telnetd:
          pkg.removed: []
    """
    present = simulation.present()
    wanted = selection.wanted(name, version, pkgs, None, normalize)
    fits = selection.fits
    there = [
        package
        for package, want in wanted.items()
        if package in present and fits(present[package], want, ignore_epoch)
    ]
    if not there:
        matching = " (matching specified versions)" if any(wanted.values()) else ""
        return f"All specified packages{matching} are already absent"
    at_least = {package: {"old": present[package], "new": ""} for package in there}

    def planned(changes: pkg.Changes) -> Plan:
        simulation.plan(changes)
        comment = f"The following packages will be removed: {', '.join(there)}."
        return Plan(changes, comment, provides=OPEN)

    yield simulation.ahead(
        planned(at_least), lambda: planned(simulation.to_remove(there) or at_least)
    )
    done = selection.carried_out(Transaction("remove", tuple(map(PackageTarget, there))), present)
    return Done(_gone("removed", wanted, there), done)


def _gone(word: str, wanted: Iterable[str], there: Sequence[str]) -> str:
    missing = sorted(set(wanted) - set(there))
    if not missing:
        return f"All targeted packages were {word}."
    names = ", ".join(sorted(there))
    return (
        f"The following packages were not installed: {', '.join(missing)} The following packages"
        f" were {word}: {names}."
    )


def purged(
    name: Name,
    version: Name | None = None,
    pkgs: Names | None = None,
    normalize: bool = True,
    ignore_epoch: bool = False,
) -> Planned:
    """Make sure that packages and their configuration are gone.

    name, version, pkgs, normalize, ignore_epoch: As of pkg.removed.

        telnetd:
          pkg.purged: []
    """
    present = simulation.present()
    leftovers = pkg.leftovers()
    wanted = selection.wanted(name, version, pkgs, None, normalize)
    there = [
        package
        for package, want in wanted.items()
        if selection.fits(present.get(package), want, ignore_epoch) or package in leftovers
    ]
    if not there:
        return "None of the targeted packages are installed or partially installed"
    removed = {
        package: {"old": present[package], "new": ""} for package in there if package in present
    }
    gone = {
        package: {"old": leftovers[package], "new": ""} for package in there if package in leftovers
    }

    def planned(going: pkg.Changes) -> Plan:
        simulation.plan({**gone, **going})
        comment = f"The following packages will be purged: {', '.join(there)}."
        return Plan({"removed": gone, "installed": going}, comment, provides=OPEN)

    def with_others() -> Plan | None:
        return planned(simulation.to_purge(tuple(removed)) or removed) if removed else None

    yield simulation.ahead(planned(removed), with_others)
    done = selection.carried_out(Transaction("purge", tuple(map(PackageTarget, there))), present)
    return Done(_gone("purged", wanted, there), {"removed": gone, "installed": done})


@requires_feature("upgradable")
def uptodate(
    name: Name,
    refresh: bool = False,
    pkgs: Names | None = None,
    dist_upgrade: bool | None = None,
    security: Annotated[bool, requires_feature("security_updates")] = False,
    how: Upgrading = Installing(),
) -> Planned:
    """Make sure that all packages, or some, are in their newest version. What the package manager
    keeps back is told as a warning; at the end of the run, as of each that changes packages, which
    services run on with replaced libraries: `service.current` restarts them.

    name: Names the state.
    refresh: Renew the package lists first.
    pkgs: Only these packages.
    dist_upgrade: Also those whose new version needs further packages, or has others removed, which
      is so without it (but zypper stays within its release); false leaves them as they are.
    security: Only versions that mend security problems, by the archive that they come from (apt)
      or their advisories (dnf).

        all packages:
          pkg.uptodate:
            - refresh: True
            - security: True
    """
    if refresh:
        selection.refresh_lists(how.cache_valid_time)
    options = how.options()._replace(security=security)
    everything = pkg.upgrade_transaction(dist_upgrade, options)
    names = [selection.name_of(entry) for entry in pkgs or ()]
    newer, back = simulation.to_upgrade(everything)
    here.follows(repr(newer))
    kept = [package for package in back if not names or package in names]
    told = f" (kept back: {', '.join(kept)})" if kept else ""
    if kept:
        here.warn(f"kept back by the package manager: {', '.join(kept)}")
    changes = {
        package: change for package, change in newer.items() if not names or package in names
    }
    if not changes:
        return f"System is already up-to-date{told}"
    simulation.plan(changes)
    provides = simulation.brought(changes)
    yield Plan(changes, f"System update will be performed{told}", provides=provides)
    present = pkg.list_pkgs()
    chosen = Transaction("upgrade", tuple(map(PackageTarget, changes)), options)
    with pkg.environment(how.env):
        done = selection.carried_out(chosen if names else everything, present)
    return Done(f"Upgrade ran successfully{told}", done)


REACTS = ("installed", "latest")  # a watched change makes others look again, no more


def mod_watch(
    name: Name,
    sfun: Line,
    version: Name | None = None,
    pkgs: Names | None = None,
    sources: Names | None = None,
    reinstall_on_refresh: bool = False,
) -> Planned:
    """Look again because something that is watched changed.

    version, sources: as of pkg.installed.
    reinstall_on_refresh: Install the packages anew.
    """
    if sfun == "installed" or (sfun == "latest" and reinstall_on_refresh):
        return (
            yield from installed(
                name, version, pkgs=pkgs, sources=sources, reinstall=reinstall_on_refresh
            )
        )
    if sfun == "latest":
        return (yield from latest(name, pkgs, refresh=False))
    if sfun in ("removed", "purged"):
        return (yield from (removed if sfun == "removed" else purged)(name, version, pkgs))
    raise StateFailed(f"pkg.{sfun} does not work with the watch requisite")


def _packages(
    name: str, pkgs: Names | None = None, sources: Names | None = None, **arguments: Any
) -> Iterator[Removal]:
    """Each package that is named; what comes with it, the package manager knows of."""
    for entry in sources or pkgs or [name]:
        version = next(iter(entry.values())) if isinstance(entry, dict) else None
        wanted = None if sources else version or (None if pkgs else arguments.get("version"))
        package = selection.name_of(entry)
        yield Removal(package, check={"version": wanted} if wanted else {})
        yield Removal(package, function="purged", made=False)


def _held_names(name: str, pkgs: Names | None = None, **_: object) -> Iterator[Removal]:
    for entry in pkgs or [name]:
        package = selection.name_of(entry)
        yield Removal(package, check={}, thing=f"{package}, held")


def owns(fun: str, name: str, **arguments: Any) -> Iterator[Claim]:
    """The one version that a package has to have."""
    for removal in _packages(name, **arguments) if fun in ("installed", "latest") else ():
        version = "latest" if fun == "latest" else str((removal.check or {}).get("version") or "")
        if version and not version.startswith(tuple("<>=!~")) and "*" not in version:
            yield claims.Claim(claims.VALUE, f"pkg {removal.name}", "version", values=(version,))


autorequire = comes_after(
    "An override comes after the user and the group that it names.", user="user", group="group"
)
OPPOSITE = {
    "installed": Opposite("removed", things=_packages),
    "latest": Opposite("removed", things=_packages),
    "held": Opposite("unheld", things=_held_names),
    "diverted": "undiverted",
    "statoverride": "statoverride_absent",
}


def prune_check(
    fun: str, names: Sequence[str], going: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Packages that others need, or this machine."""
    if fun != "removed":
        return
    vital = pkg.indispensable()
    expected = {*names, *(thing.removeprefix("pkg ") for thing in going)}
    needed = (simulation.to_remove(names) or {}).keys() - expected
    for name in names:
        others = (simulation.to_remove([name]) or {}).keys() - expected if needed else ()
        if others:
            yield name, f"other packages need it: {', '.join(sorted(others))}"
        elif name in vital:
            yield name, "this machine, or runner, works by it, or it is held"
