# SPDX-License-Identifier: Apache-2.0
"""Packages: each call goes to the provider that suits this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modules import _paths
from modules.pkg._indispensable import indispensable
from modules.pkg._outcome import NotDone, carry_out, refuse_image, set_holds
from modules.pkg._planned import (
    asks_ahead,
    brought,
    leftovers,
    list_pkgs,
    note_coming,
    note_plan,
    planned_changes,
)
from modules.pkg._queries import (
    file_list,
    group_info,
    info_installed,
    list_downloaded,
    list_holds,
    list_repo_pkgs,
    owner,
    owners,
    shipped,
    show,
    verify,
)
from modules.pkg._repositories import del_repo, get_repo, list_repos, mod_repo, write_repository
from modules.pkg._run import environment
from modules.pkg.package_manager import (
    Changes,
    InstallOptions,
    Need,
    Override,
    PackageGroup,
    PackageManager,
    PackageTarget,
    RepositoryChange,
    RepositorySettings,
    Shipped,
    Simulation,
    Transaction,
    Versions,
)
from modules.pkg.providers import PROVIDERS, provider, require
from runner.api import StateFailed, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    from modules.pkg._action import Action

    T = TypeVar("T")

Names = str | Sequence[str | Mapping[str, "Any"]] | None


def install(
    name: str | None = None,
    refresh: bool = False,
    fromrepo: str | None = None,
    skip_verify: bool = False,
    pkgs: Names = None,
    sources: Sequence[Mapping[str, str]] | None = None,
    reinstall: bool = False,
    version: str | None = None,
    only_upgrade: bool = False,
    install_recommends: bool = True,
    **_: Any,
) -> Changes:
    """Install packages; what changed, by package with its old and new version.

    name: one, or several with commas. version: of the one. pkgs: several, `- name` or `- name:
    version`. sources: `- name: path` of .deb files. refresh: renew the package lists before.
    fromrepo: the release to install from.

        tool:
          module.run:
            - pkg.install:
              - name: tool
              - refresh: true
    """
    if refresh:
        provider().renew_db()
    wanted = [(name, version)] if name and version and not pkgs else _wanted(name, pkgs)
    targets = _files(sources) if sources else [PackageTarget(*pair) for pair in wanted]
    options = InstallOptions(
        repository=fromrepo or "",
        recommended=install_recommends,
        only_upgrade=only_upgrade,
        reinstall=reinstall,
        # an older version is asked for by name
        downgrade=not sources and any(exact for _name, exact in wanted),
        unsigned=skip_verify,
    )
    manager = provider()
    before = manager.list_pkgs()
    carry_out(Transaction("install", tuple(_some(targets)), options))
    return _changed(before)


def remove(name: str | None = None, pkgs: Names = None, **_: Any) -> Changes:
    """Remove packages; what changed. Packages that are not installed are passed over."""
    return _removed(name, pkgs, purge=False)


def purge(name: str | None = None, pkgs: Names = None, **_: Any) -> Changes:
    """Remove packages and their configuration; what changed."""
    return _removed(name, pkgs, purge=True)


def upgrade(refresh: bool = True, dist_upgrade: bool = False, **_: Any) -> Changes:
    """Bring all packages to their newest version; what changed. refresh: renew the package lists
    before.

    dist_upgrade: also those whose new version needs further packages, or has others removed.
    """
    if refresh:
        provider().renew_db()
    before = provider().list_pkgs()
    carry_out(Transaction("full-upgrade" if dist_upgrade else "upgrade"))
    return _changed(before)


@for_states
def upgrade_transaction(
    dist_upgrade: bool | None = None, options: InstallOptions | None = None
) -> Transaction:
    """Return the transaction that brings all packages to their newest version.

    dist_upgrade: whatever that takes, or not; None: as is usual with the package manager.
    """
    if dist_upgrade is None:
        dist_upgrade = not provider().has("distribution_upgrades")
    action: Action = "full-upgrade" if dist_upgrade else "upgrade"
    return Transaction(action, (), options or InstallOptions())


def autoremove(list_only: bool = False, purge: bool = False) -> Any:
    """Remove the packages that nothing needs any more; what changed. list_only: only name them."""
    chosen = sorted(provider().simulate(Transaction("autoremove")).changes or {})
    if list_only:
        return chosen
    before = provider().list_pkgs()
    if chosen:
        carry_out(Transaction("purge" if purge else "remove", _targets(chosen)))
    return _changed(before)


def list_upgrades(
    refresh: bool = True, dist_upgrade: bool | None = None, **_: Any
) -> dict[str, str]:
    """The packages that have a newer version, with it. refresh: renew the package lists before (not
    in a dry run).
    """
    if refresh:
        provider().refresh_db()
    changes = provider().simulate(upgrade_transaction(dist_upgrade)).changes or {}
    return {name: change["new"] for name, change in changes.items() if change["new"]}


def upgrade_available(name: str, **_: Any) -> bool:
    """Return whether a package has a newer version than the one that is installed."""
    newest = provider().candidates((name,)).get(name, "")
    return bool(newest) and newest != provider().list_pkgs().get(name)


def hold(name: str | None = None, pkgs: Names = None, **_: Any) -> dict[str, dict[str, Any]]:
    """Keep packages at the version that they have; by package what changed.

    {{ salt['pkg.hold'](pkgs=['nginx', 'redis']) }}
    """
    names = _some([package for package, _version in _wanted(name, pkgs)])
    manager = require("holdable", "pkg.hold")
    held = manager.held()
    set_holds([package for package in names if package not in held])
    return {
        package: _told(
            package, package not in held, ("install", "hold"), "being held", "set to be held"
        )
        for package in names
    }


def unhold(name: str | None = None, pkgs: Names = None, **_: Any) -> dict[str, dict[str, Any]]:
    """Let packages change their version again; by package what changed."""
    names = _some([package for package, _version in _wanted(name, pkgs)])
    manager = require("holdable", "pkg.unhold")
    held = manager.held()
    set_holds([], [package for package in names if package in held])
    return {
        package: _told(
            package,
            package in held,
            ("hold", "install"),
            "no longer being held",
            "set not to be held",
        )
        for package in names
    }


def _told(name: str, changed: bool, states: tuple[str, str], done: str, was: str) -> dict[str, Any]:
    changes = dict(zip(("old", "new"), states, strict=True)) if changed else {}
    is_done = done if done.startswith("no ") else f"now {done}"
    comment = f"Package {name} is {is_done}." if changed else f"Package {name} is already {was}."
    return {"name": name, "changes": changes, "result": True, "comment": comment}


def _removed(name: str | None, pkgs: Names, purge: bool) -> Changes:
    before = provider().list_pkgs()
    known = {*before, *(provider().leftovers() if purge else ())}
    there = [package for package, _version in _wanted(name, pkgs) if package in known]
    if there:
        carry_out(Transaction("purge" if purge else "remove", _targets(there)))
    return _changed(before)


def _wanted(name: str | None, pkgs: Names) -> list[tuple[str, str]]:
    """Names with the versions that are asked for ("" for any)."""
    given: Iterable[Any] = (
        pkgs if pkgs and not isinstance(pkgs, str) else str(pkgs or name or "").split(",")
    )
    requested: list[tuple[str, str]] = []
    for entry in given:
        pairs = entry.items() if isinstance(entry, Mapping) else [(entry, "")]
        requested += [
            (str(key).strip(), "" if value in (None, "latest") else str(value))
            for key, value in pairs
            if key
        ]
    return requested


def _files(sources: Sequence[Mapping[str, str]]) -> list[PackageTarget]:
    targets = []
    for name, url in ((name, str(url)) for source in sources for name, url in source.items()):
        path = _paths.fetched(url) if "://" in url else url
        if path is None:
            raise StateFailed(f"{url} does not exist")
        targets.append(PackageTarget(name, path=path))
    return targets


def _targets(names: Iterable[str]) -> tuple[PackageTarget, ...]:
    return tuple(map(PackageTarget, names))


def _some(names: list[T]) -> list[T]:
    if not names:
        raise StateFailed("no package is named: give `name` or `pkgs`")
    return names


def _changed(before: Mapping[str, str]) -> Changes:
    after = provider().list_pkgs()
    names = sorted({*before, *after})
    return {
        name: {"old": before.get(name, ""), "new": after.get(name, "")}
        for name in names
        if before.get(name) != after.get(name)
    }


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def version(*names: str, **kwargs: Any) -> Any:
    """The installed version of a package ("" when it is not); of several, a mapping.

    {{ salt['pkg.version']('nginx') }}
    """
    installed = list_pkgs()
    versions = {name: installed.get(name, "") for name in names}
    return versions[names[0]] if len(names) == 1 else versions


def latest_version(*names: str, refresh: bool = False, **kwargs: Any) -> Any:
    """The newest version that could be installed ("" when the newest is); of several, a mapping."""
    installed = list_pkgs()
    newest = provider().candidates(tuple(names))
    versions = {
        name: "" if newest.get(name) == installed.get(name) else newest.get(name, "")
        for name in names
    }
    return versions[names[0]] if len(names) == 1 else versions


available_version = latest_version


def is_installed(name: str, **kwargs: Any) -> bool:
    """Return whether a package is installed."""
    return name in list_pkgs()


def version_cmp(
    pkg1: str | float, pkg2: str | float, ignore_epoch: bool = False, **kwargs: Any
) -> int:
    """-1, 0 or 1: how one version compares with another."""
    pkg1, pkg2 = str(pkg1), str(pkg2)  # a version that YAML read as a number
    if ignore_epoch:
        pkg1, pkg2 = pkg1.split(":", 1)[-1], pkg2.split(":", 1)[-1]
    return provider().compare(pkg1, pkg2)


def refresh_db(**kwargs: Any) -> bool:
    """Renew the package lists (not in a dry run)."""
    return bool(provider().refresh_db())
