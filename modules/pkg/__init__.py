"""Packages: each call goes to the provider that suits this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from modules.pkg import apt
from modules.pkg._need import Need
from runner.api import Feature, Provider, Providers


class Manager(Provider, Protocol):
    """What a package manager has to offer."""

    def database(self) -> str: ...
    def normal(self, name: str) -> str: ...
    def file_info(self, path: str) -> tuple[str, str]: ...
    def archives(self) -> dict[str, dict[str, Any]]: ...
    def download(self, targets: Sequence[str], options: Iterable[str] = ()) -> None: ...
    def states(self) -> dict[str, tuple[str, str]]: ...
    def list_pkgs(self) -> dict[str, str]: ...
    def candidates(self, names: tuple[str, ...]) -> dict[str, str]: ...
    def versions(self, name: str) -> list[str]: ...
    def compare(self, left: str, relation: str, right: str) -> bool: ...
    def simulate(
        self, action: str, targets: Sequence[str], options: Iterable[str] = ()
    ) -> dict[str, dict[str, str]] | None: ...
    def refusal(self, action: str, targets: Sequence[str], options: Iterable[str] = ()) -> str: ...
    def foresee(
        self, action: str, targets: tuple[str, ...], options: tuple[str, ...]
    ) -> dict[str, dict[str, str]] | None: ...
    def needs(self, names: tuple[str, ...]) -> dict[str, list[Need]]: ...
    def lists_age(self) -> float | None: ...
    def refresh_db(self) -> Any: ...
    def renew_db(self) -> None: ...
    def install(self, targets: Sequence[str], options: Iterable[str] = ()) -> None: ...
    def remove(self, names: Sequence[str], purge: bool = False) -> None: ...
    def held(self) -> list[str]: ...
    def hold(self, names: Sequence[str], release: Sequence[str] = ()) -> None: ...
    def upgrade(self, names: Sequence[str] = ()) -> None: ...


PROVIDERS: Providers[Manager] = Providers(
    "package manager",
    Manager,
    (apt,),
    {
        "holdable": Feature("packages can be kept at their version", ("held", "hold")),
        "upgradable": Feature("all packages can be brought to their newest version at once", ("upgrade",)),
    },
    "this machine has no apt-get",
)


def provider() -> Manager:
    """The provider that the state names with `provider:`, else the one that suits. Raises StateFailed without one."""
    return PROVIDERS()


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
    found = {name: "" if newest.get(name) == installed.get(name) else newest.get(name, "") for name in names}
    return found[names[0]] if len(names) == 1 else found


available_version = latest_version


def is_installed(name: str, **kwargs: Any) -> bool:
    """Whether a package is installed."""
    return name in provider().list_pkgs()


def version_cmp(pkg1: str | float, pkg2: str | float, ignore_epoch: bool = False, **kwargs: Any) -> int:
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
