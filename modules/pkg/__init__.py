"""Packages: each call goes to the provider that suits this machine."""

from __future__ import annotations

from typing import Any

from modules.pkg import apt
from modules.pkg._provider import PROVIDERS, Manager, provider
from modules.pkg._repos import list_repos
from modules.pkg._salt import (
    autoremove,
    hold,
    install,
    list_upgrades,
    purge,
    remove,
    unhold,
    upgrade,
    upgrade_available,
)

__all__ = [
    "PROVIDERS",
    "Manager",
    "apt",
    "autoremove",
    "available_version",
    "hold",
    "install",
    "is_installed",
    "latest_version",
    "list_pkgs",
    "list_repos",
    "list_upgrades",
    "provider",
    "purge",
    "refresh_db",
    "remove",
    "renew_db",
    "unhold",
    "upgrade",
    "upgrade_available",
    "version",
    "version_cmp",
]


def list_pkgs(**kwargs: Any) -> dict[str, str]:
    """The installed packages with their versions."""
    return provider().list_pkgs()


def version(*names: str, **kwargs: Any) -> Any:
    """The installed version of a package ("" when it is not); of several, a mapping.

    {{ salt['pkg.version']('nginx') }}
    """
    installed = provider().list_pkgs()
    found = {name: installed.get(name, "") for name in names}
    return found[names[0]] if len(names) == 1 else found


def latest_version(*names: str, refresh: bool = False, **kwargs: Any) -> Any:
    """The newest version that could be installed ("" when the newest is); of several, a mapping."""
    installed = provider().list_pkgs()
    newest = provider().candidates(tuple(names))
    found = {
        name: "" if newest.get(name) == installed.get(name) else newest.get(name, "")
        for name in names
    }
    return found[names[0]] if len(names) == 1 else found


available_version = latest_version


def is_installed(name: str, **kwargs: Any) -> bool:
    """Whether a package is installed."""
    return name in provider().list_pkgs()


def version_cmp(
    pkg1: str | float, pkg2: str | float, ignore_epoch: bool = False, **kwargs: Any
) -> int:
    """-1, 0 or 1: how one version compares with another."""
    pkg1, pkg2 = str(pkg1), str(pkg2)  # a version that YAML read as a number
    if ignore_epoch:
        pkg1, pkg2 = pkg1.split(":", 1)[-1], pkg2.split(":", 1)[-1]
    if provider().compare(pkg1, "eq", pkg2):
        return 0
    return -1 if provider().compare(pkg1, "lt", pkg2) else 1


def refresh_db(**kwargs: Any) -> bool:
    """Renew the package lists (not in a dry run)."""
    return bool(provider().refresh_db())


def renew_db() -> None:
    """Renew the package lists because the sources changed."""
    provider().renew_db()
