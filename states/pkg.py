"""Packages of the machine's package manager."""

from __future__ import annotations

import re
from typing import Any

from modules import pkg
from runner.api import OPEN, CommandFailed, Done, Plan, Planned, StateFailed, requires_feature

PROVIDERS = pkg.PROVIDERS
RELATIONS = {"<": "lt", "<=": "le", "=": "eq", "==": "eq", "!=": "ne", ">=": "ge", ">": "gt"}
Names = list[Any]


def installed(
    name: str,
    version: str | None = None,
    pkgs: Names | None = None,
    sources: Names | None = None,
    refresh: bool | None = None,
    cache_valid_time: int = 0,
    fromrepo: str | None = None,
    skip_verify: bool = False,
    install_recommends: bool = True,
    only_upgrade: bool = False,
) -> Planned:
    """Make sure that packages are installed.

    name, version: one package; the version may have an operator and a glob (`>=1.2`, `1.2*`). pkgs: several, each a
    name or `name: version`. sources: several as `name: path of a .deb file`. refresh: renew the package lists first
    (without it: only when a package is not known). cache_valid_time: seconds for which the lists need no renewal.
    fromrepo: the release to install from. skip_verify: do not check signatures. install_recommends: also what is
    recommended. only_upgrade: only what is installed already.

        web server:
          pkg.installed:
            - pkgs: [nginx, certbot: '>=2.0']

    Behaviour: Salt 3008's pkg.installed.
    """
    wanted = _wanted(name, version, pkgs, sources)
    present = pkg.list_pkgs()
    missing = {each: want for each, want in wanted.items() if not _fits(present.get(each), want, bool(sources))}
    if not missing:
        several = pkgs is not None or sources is not None or version is None
        return "All specified packages are already installed" if several else _already(wanted)
    changes, targets = _targets(missing, present, sources is not None, refresh, cache_valid_time)
    options = _options(fromrepo, skip_verify, install_recommends, only_upgrade)
    simulated = pkg.provider().simulate("install", targets, options)
    yield Plan(
        simulated or changes,
        f"The following packages would be installed/updated: {', '.join(missing)}",
        sure=simulated is not None,
        why="the package lists do not know it yet" if simulated is None else None,
        provides=OPEN,
    )
    try:
        pkg.provider().install(targets, options)
    except CommandFailed as failure:
        text = f"Problem encountered installing package(s). Additional info follows:\n\n{failure.message}"
        raise StateFailed(text, changes=_changes(present, pkg.list_pkgs())) from None
    done = _changes(present, pkg.list_pkgs())
    return Done(f"The following packages were installed/updated: {', '.join(missing)}", done)


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
    names = list(_wanted(name, None, pkgs, None))
    if refresh is not False:
        _refresh(cache_valid_time)
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
    options = _options(fromrepo, skip_verify, install_recommends, only_upgrade)
    targets = [f"{each}={newest[each]}" for each in old]
    changes = pkg.provider().simulate("install", targets, options) or {
        each: {"old": present.get(each, ""), "new": newest[each]} for each in old
    }
    yield Plan(changes, f"The following packages would be installed/upgraded: {', '.join(old)}", provides=OPEN)
    pkg.provider().install(targets, options)
    done = _changes(present, pkg.list_pkgs())
    return Done(f"The following packages were successfully installed/upgraded: {', '.join(old)}", done)


def removed(name: str, version: str | None = None, pkgs: Names | None = None) -> Planned:
    """Make sure that packages are not installed; their configuration stays.

    name: one package. version: only this version. pkgs: several.

        telnetd:
          pkg.removed: []

    Behaviour: Salt 3008's pkg.removed.
    """
    present = pkg.list_pkgs()
    wanted = _wanted(name, version, pkgs, None)
    there = [each for each, want in wanted.items() if each in present and _fits(present[each], want, False)]
    if not there:
        return "All specified packages are already absent"
    plain = {each: {"old": present[each], "new": ""} for each in there}
    changes = pkg.provider().simulate("remove", there) or plain
    yield Plan(changes, f"The following packages will be removed: {', '.join(there)}.", provides=OPEN)
    pkg.provider().remove(there)
    return Done("All targeted packages were removed.", _changes(present, pkg.list_pkgs()))


def purged(name: str, version: str | None = None, pkgs: Names | None = None) -> Planned:
    """Make sure that packages and their configuration are gone. Arguments as those of pkg.removed.

        telnetd:
          pkg.purged: []

    Behaviour: Salt 3008's pkg.purged.
    """
    known = pkg.provider().states()
    there = [
        each for each in _wanted(name, version, pkgs, None) if known.get(each, ("", ""))[0] not in ("", "not-installed")
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
        "All targeted packages were purged.", {"removed": gone, "installed": _changes(present, pkg.list_pkgs())}
    )


# ---------------------------------------------------------------- what is wanted


def _wanted(name: str, version: str | None, pkgs: Names | None, sources: Names | None) -> dict[str, str | None]:
    """Each package with what is asked of its version, or the file it comes from."""
    if pkgs is not None and sources is not None:
        raise StateFailed("Only one of 'pkgs' and 'sources' can be used.")
    listed = sources if sources is not None else pkgs
    if listed is None:
        return {name: version}
    found: dict[str, str | None] = {}
    for entry in listed:
        if isinstance(entry, dict):
            found |= {str(key): None if value is None else str(value) for key, value in entry.items()}
        else:
            found[str(entry)] = None
    return found


def _already(wanted: dict[str, str | None]) -> str:
    (name, version), *_ = wanted.items()
    return f"Version {version} of package '{name}' is already installed"


def _fits(present: str | None, want: str | None, from_file: bool) -> bool:
    if present is None:
        return False
    if want is None or from_file or want == "latest":
        return True
    operator, bare = _operator(want)
    if operator in ("=", "==") and present == bare:
        return True
    if "*" in bare:
        import fnmatch

        return fnmatch.fnmatch(present, bare)
    return pkg.provider().compare(present, RELATIONS[operator], bare)


def _operator(want: str) -> tuple[str, str]:
    found = re.match(r"(<=|>=|==|!=|<|>|=)?\s*(.*)$", want)
    assert found
    return found[1] or "=", found[2]


def _refresh(valid: int) -> None:
    age = pkg.provider().lists_age()
    if not (valid and age is not None and age < valid):
        pkg.provider().refresh_db()


def _options(fromrepo: str | None, skip_verify: bool, recommends: bool, only_upgrade: bool) -> list[str]:
    options = ["-t", fromrepo] if fromrepo else []
    options += ["--allow-unauthenticated"] if skip_verify else []
    options += [] if recommends else ["--no-install-recommends"]
    return options + (["--only-upgrade"] if only_upgrade else [])


def _targets(
    missing: dict[str, str | None], present: dict[str, str], files: bool, refresh: bool | None, valid: int
) -> tuple[dict[str, Any], list[str]]:
    """The changes as far as they are known without asking apt, and what to tell the package manager."""
    if files:
        changes = {each: {"old": present.get(each, ""), "new": "installed"} for each in missing}
        return changes, [str(path) for path in missing.values()]
    if refresh:
        _refresh(valid)
    names = tuple(missing)
    newest = pkg.provider().candidates(names)
    if refresh is None and set(names) - set(newest):
        _refresh(valid)
        newest = pkg.provider().candidates(names)
    versions = {each: _version(each, want) for each, want in missing.items()}
    changes = {
        each: {"old": present.get(each, ""), "new": version or newest.get(each, "installed")}
        for each, version in versions.items()
    }
    return changes, [f"{each}={version}" if version else each for each, version in versions.items()]


def _version(name: str, want: str | None) -> str | None:
    """The version to install; None for the newest."""
    if want is None or want == "latest":
        return None
    operator, bare = _operator(want)
    if operator in ("=", "==") and "*" not in bare:
        return bare
    for version in pkg.provider().versions(name):
        if _fits(version, want, False):
            return version
    raise StateFailed(f"No version of '{name}' matches {want} (there are {', '.join(pkg.provider().versions(name))})")


def _changes(before: dict[str, str], after: dict[str, str]) -> dict[str, Any]:
    names = sorted(set(before) | set(after))
    return {
        name: {"old": before.get(name, ""), "new": after.get(name, "")}
        for name in names
        if before.get(name) != after.get(name)
    }


@requires_feature("holdable")
def held(name: str, pkgs: Names | None = None, replace: bool = False) -> Planned:
    """Make sure that packages stay at their version.

    name: one package; pkgs: several. replace: other held packages are let go.

        linux-image-amd64:
          pkg.held: []

    Behaviour: Salt 3008's pkg.held.
    """
    wanted = [_name_of(each) for each in pkgs or [name]]
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
    wanted = has if all_ else [_name_of(each) for each in pkgs or [name]]
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
        _refresh(0)
    newer = pkg.provider().simulate("dist-upgrade", []) or {}
    names = [_name_of(each) for each in pkgs or ()]
    changes = {each: change for each, change in newer.items() if not names or each in names}
    if not changes:
        return "System is already up-to-date"
    yield Plan(changes, "System update will be performed", provides=OPEN)
    present = pkg.list_pkgs()
    pkg.provider().upgrade(list(changes) if names else [])
    return Done("Upgrade ran successfully", _changes(present, pkg.list_pkgs()))


def _name_of(entry: Any) -> str:
    return str(next(iter(entry))) if isinstance(entry, dict) else str(entry)
