# SPDX-License-Identifier: Apache-2.0
"""pkg.downloaded: packages lie in the package manager's cache."""

from __future__ import annotations

from modules import pkg
from modules.pkg import PackageTarget, Transaction
from runner.api import Done, Name, Plan, Planned, StateFailed
from states._tools import explained
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation
from states.pkg._selection import Downloading, Installing, Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection


def downloaded(
    name: Name,
    version: Name | None = None,
    pkgs: Names | None = None,
    ignore_epoch: bool = False,
    refresh: bool | None = None,
    how: Downloading = Installing(),
) -> Planned:
    """Make sure that packages lie in the package manager's cache, ready to be installed.

    name: One package, or with pkgs only the state's name.
    version, pkgs, ignore_epoch, refresh: As of pkg.installed.

        kernel of tonight:
          pkg.downloaded:
            - name: linux-image-amd64

    Behaviour: Salt 3008's pkg.downloaded; what they depend on is downloaded too.
    """
    manager = pkg.require("downloadable", "pkg.downloaded")
    wanted = selection.wanted(name, version, pkgs, None)
    if not wanted:
        return "No packages to download provided"
    newest, _ = simulation.known(wanted, refresh, how.cache_valid_time)
    exact = {
        package: selection.version_for(package, want, ignore_epoch) or newest.get(package, "")
        for package, want in wanted.items()
    }
    unknown = [package for package in wanted if package not in newest]
    if unknown:
        raise StateFailed(
            "The following package(s) were not found, and no possible matches were found in the"
            f" package db: {', '.join(unknown)}",
            missing=selection.LISTS,
        )
    old = manager.archives()
    missing = {
        name: version
        for name, version in exact.items()
        if not _is_there(version, old.get(name, {}))
    }
    if not missing:
        matching = " (matching specified versions)" if any(wanted.values()) else ""
        return f"All specified packages{matching} are already downloaded"
    comment = f"The following packages would be downloaded: {', '.join(missing)}"
    why = "what else is downloaded with them is known afterwards"
    yield Plan(
        {package: {"old": "", "new": {want: {}}} for package, want in missing.items()},
        comment,
        exact=False,
        why=why,
    )
    with explained("An error was encountered while downloading package(s)", changes={}):
        targets = tuple(PackageTarget(package, want) for package, want in missing.items())
        manager.download(Transaction("install", targets, how.options()))
    new = manager.archives()
    changes = {
        package: {"old": old.get(package, ""), "new": new[package]}
        for package in new
        if new[package] != old.get(package)
    }
    failed = [
        f"{package}={want}" if version else package
        for package, want in missing.items()
        if not _is_there(want, new.get(package, {}))
    ]
    if failed:
        raise StateFailed(
            f"The following packages failed to download: {', '.join(failed)}", changes=changes
        )
    return Done(f"Packages downloaded: {', '.join(sorted(changes))}", changes)


def _is_there(version: str, archives: Collection[str]) -> bool:
    """Return whether a version is downloaded, be it that a state leaves out its release."""
    compare = pkg.provider().compare
    return version in archives or any(compare(other, version) == 0 for other in archives)
