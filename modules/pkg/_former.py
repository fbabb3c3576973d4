# SPDX-License-Identifier: Apache-2.0
"""What is installed before a change, for the history and undo: the same for all providers."""

from __future__ import annotations

from modules import file, pkg
from modules.pkg.package_manager import PackageTarget, Transaction
from runner.api import CommandFailed, FormerState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def all_packages() -> FormerState:
    """All packages with their versions, those that a killed run left unpacked, too."""
    manager = pkg.provider()
    versions = manager.list_pkgs() | getattr(manager, "unfinished", dict)()
    return FormerState("package", "", {name: {"version": versions[name]} for name in versions})


def automatic_packages() -> FormerState:
    """All packages that are installed for others. Raises CommandFailed where nobody can say."""
    manager, names = pkg.provider(), set[str]()
    if manager.has("install_reasons"):
        names = manager.list_pkgs().keys() - set(manager.manually_installed())
    return FormerState("automatic package", "", {name: {"automatic": True} for name in names})


def former_reasons(*_: object, **__: object) -> dict[str, Any]:
    """All packages that are installed for others, where the package manager can say."""
    try:
        return {"several": [automatic_packages()]}
    except CommandFailed:
        return {"several": []}


def former_packages(transaction: object = None, *_: object, **__: object) -> dict[str, Any]:
    """All packages: which ones a transaction changes shows only afterwards. Before a purge their
    configuration, too. What comes last is restored first.
    """
    purged: tuple[PackageTarget, ...] = ()
    if isinstance(transaction, Transaction) and transaction.action == "purge":
        purged = transaction.targets
    configuration = _configuration(target.name for target in purged)
    return {"several": [*former_reasons()["several"], *configuration, all_packages()]}


def _configuration(packages: Iterable[str]) -> list[dict[str, str]]:
    """The files and folders of packages below /etc, what a folder holds before it."""
    manager = pkg.provider()
    if not manager.has("ownership"):
        return []
    paths = {path for name in packages for path in manager.file_list(name)}
    return [
        {"path": path, "type": "dir" if file.is_dir(path) else "file"}
        for path in sorted(paths, reverse=True)
        if path.startswith("/etc/") and file.lexists(path)
    ]


def former_holds(*_: object, **__: object) -> FormerState:
    """All packages that stay at their version."""
    return FormerState("held package", "", {name: {"held": True} for name in pkg.provider().held()})


def nothing_lasting(*_: object, **__: object) -> dict[str, Any]:
    """Nothing to restore: package lists and downloaded packages are a cache."""
    return {}
