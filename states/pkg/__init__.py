"""Packages of the machine's package manager."""

from __future__ import annotations

from modules import pkg
from runner.api import OPEN, Done, Plan, Planned, StateFailed, requires_feature
from states.pkg import _wanted as packages
from states.pkg._download import downloaded
from states.pkg._install import installed, mod_aggregate
from states.pkg._wanted import Names

PROVIDERS = pkg.PROVIDERS
UNCONVERGING = {"installed": "with reinstall it does so in each run"}


def latest(
    name: str,
    pkgs: Names | None = None,
    refresh: bool | None = None,
    cache_valid_time: int = 0,
    fromrepo: str | None = None,
    skip_verify: bool = False,
    install_recommends: bool = True,
    only_upgrade: bool = False,
) -> Planned:
    """Make sure that packages are installed in their newest version. Arguments as those of pkg.installed.

        openssl:
          pkg.latest:
            - refresh: True

    Behaviour: Salt 3008's pkg.latest.
    """
    names = list(packages.wanted(name, None, pkgs, None))
    if refresh is not False:
        packages.refresh_lists(cache_valid_time)
    present = pkg.list_pkgs()
    newest = pkg.provider().candidates(tuple(names))
    unknown = [each for each in names if each not in newest and each not in present]
    if unknown:
        raise StateFailed(f"No information found for '{unknown[0]}'.")
    old = [each for each in names if newest.get(each, present.get(each)) != present.get(each)]
    if not old:
        return (
            f"Package {names[0]} is already up-to-date"
            if len(names) == 1
            else f"All packages are up-to-date ({', '.join(sorted(names))})."
        )
    options = packages.options(fromrepo, skip_verify, install_recommends, only_upgrade)
    targets = [f"{each}={newest[each]}" for each in old]
    changes = pkg.provider().simulate("install", targets, options) or {
        each: {"old": present.get(each, ""), "new": newest[each]} for each in old
    }
    yield Plan(changes, f"The following packages would be installed/upgraded: {', '.join(old)}", provides=OPEN)
    pkg.provider().install(targets, options)
    done = packages.differences(present, pkg.list_pkgs())
    return Done(f"The following packages were successfully installed/upgraded: {', '.join(old)}", done)


def removed(name: str, version: str | None = None, pkgs: Names | None = None) -> Planned:
    """Make sure that packages are not installed; their configuration stays.

    name: one package. version: only this version. pkgs: several.

        telnetd:
          pkg.removed: []

    Behaviour: Salt 3008's pkg.removed.
    """
    present = pkg.list_pkgs()
    wanted = packages.wanted(name, version, pkgs, None)
    there = [each for each, want in wanted.items() if each in present and packages.fits(present[each], want)]
    if not there:
        return "All specified packages are already absent"
    plain = {each: {"old": present[each], "new": ""} for each in there}
    changes = pkg.provider().simulate("remove", there) or plain
    yield Plan(changes, f"The following packages will be removed: {', '.join(there)}.", provides=OPEN)
    pkg.provider().remove(there)
    return Done("All targeted packages were removed.", packages.differences(present, pkg.list_pkgs()))


def purged(name: str, version: str | None = None, pkgs: Names | None = None) -> Planned:
    """Make sure that packages and their configuration are gone. Arguments as those of pkg.removed.

        telnetd:
          pkg.purged: []

    Behaviour: Salt 3008's pkg.purged.
    """
    known = pkg.provider().states()
    there = [
        each
        for each in packages.wanted(name, version, pkgs, None)
        if known.get(each, ("", ""))[0] not in ("", "not-installed")
    ]
    if not there:
        return "None of the targeted packages are installed or partially installed"
    present = pkg.list_pkgs()
    yield Plan(
        {"removed": {}, "installed": {}}, f"The following packages will be purged: {', '.join(there)}.", provides=OPEN
    )
    pkg.provider().remove(there, purge=True)
    gone = {each: {"old": known[each][1], "new": ""} for each in there if known[each][0] == "config-files"}
    return Done(
        "All targeted packages were purged.",
        {"removed": gone, "installed": packages.differences(present, pkg.list_pkgs())},
    )


@requires_feature("holdable")
def held(name: str, pkgs: Names | None = None, replace: bool = False) -> Planned:
    """Make sure that packages stay at their version.

    name: one package; pkgs: several. replace: other held packages are let go.

        linux-image-amd64:
          pkg.held: []

    Behaviour: Salt 3008's pkg.held.
    """
    wanted = [packages.name_of(each) for each in pkgs or [name]]
    has = pkg.provider().held()
    present = pkg.list_pkgs()
    absent = [each for each in wanted if each not in present]
    if absent:
        raise StateFailed(f"Package {absent[0]} is not installed.", lacks=("pkg", absent[0]))
    add = [each for each in wanted if each not in has]
    drop = [each for each in has if replace and each not in wanted]
    if not add and not drop:
        return "\n".join(f"Package {each} is already set to be held." for each in wanted)
    changes = {each: {"old": "install", "new": "hold"} for each in add}
    changes |= {each: {"old": "hold", "new": "install"} for each in drop}
    yield Plan(
        changes, "\n".join(f"Package {each} is set to be {'held' if each in add else 'unheld'}." for each in changes)
    )
    pkg.provider().hold(add, drop)
    return "\n".join(f"Package {each} is now being {'held' if each in add else 'unheld'}." for each in changes)


@requires_feature("holdable")
def unheld(name: str, pkgs: Names | None = None, all_: bool = False) -> Planned:
    """Make sure that packages may change their version. all: whatever is held. The rest as pkg.held.

        linux-image-amd64:
          pkg.unheld: []

    Behaviour: Salt 3008's pkg.unheld.
    """
    has = pkg.provider().held()
    wanted = has if all_ else [packages.name_of(each) for each in pkgs or [name]]
    drop = [each for each in wanted if each in has]
    if not drop:
        return "\n".join(f"Package {each} does not have hold state." for each in wanted) or "No package is held."
    told = "\n".join(f"Package {each} is set to be unheld." for each in drop)
    yield Plan({each: {"old": "hold", "new": "install"} for each in drop}, told)
    pkg.provider().hold([], drop)
    return "\n".join(f"Package {each} is now being unheld." for each in drop)


@requires_feature("upgradable")
def uptodate(name: str, refresh: bool = False, pkgs: Names | None = None) -> Planned:
    """Make sure that all packages, or some, are in their newest version.

    name: names the state. refresh: renew the package lists first. pkgs: only these.

        all packages:
          pkg.uptodate:
            - refresh: True

    Behaviour: Salt 3008's pkg.uptodate.
    """
    if refresh:
        packages.refresh_lists(0)
    newer = pkg.provider().simulate("dist-upgrade", []) or {}
    names = [packages.name_of(each) for each in pkgs or ()]
    changes = {each: change for each, change in newer.items() if not names or each in names}
    if not changes:
        return "System is already up-to-date"
    yield Plan(changes, "System update will be performed", provides=OPEN)
    present = pkg.list_pkgs()
    pkg.provider().upgrade(list(changes) if names else [])
    return Done("Upgrade ran successfully", packages.differences(present, pkg.list_pkgs()))


def mod_watch(
    name: str,
    sfun: str,
    version: str | None = None,
    pkgs: Names | None = None,
    sources: Names | None = None,
    reinstall_on_refresh: bool = False,
) -> Planned:
    """Look again because something that is watched changed.

    reinstall_on_refresh: pkg.installed and pkg.latest install the packages anew.
    """
    if sfun == "installed" or (sfun == "latest" and reinstall_on_refresh):
        return (yield from installed(name, version, pkgs=pkgs, sources=sources, reinstall=reinstall_on_refresh))
    if sfun == "latest":
        return (yield from latest(name, pkgs, refresh=False))
    if sfun in ("removed", "purged"):
        return (yield from (removed if sfun == "removed" else purged)(name, version, pkgs))
    raise StateFailed(f"pkg.{sfun} does not work with the watch requisite")


__all__ = [
    "PROVIDERS",
    "UNCONVERGING",
    "downloaded",
    "held",
    "installed",
    "latest",
    "mod_aggregate",
    "mod_watch",
    "purged",
    "removed",
    "unheld",
    "uptodate",
]
