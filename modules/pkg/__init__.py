# SPDX-License-Identifier: Apache-2.0
"""Packages: each call goes to the provider that suits this machine."""

from __future__ import annotations

from modules.pkg._changes import (
    autoremove,
    hold,
    install,
    list_upgrades,
    purge,
    remove,
    unhold,
    upgrade,
    upgrade_available,
    upgrade_transaction,
)
from modules.pkg._indispensable import indispensable
from modules.pkg._outcome import NotDone, carry_out, refuse_image, set_holds
from modules.pkg._planned import (
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
