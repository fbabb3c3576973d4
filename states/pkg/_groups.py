# SPDX-License-Identifier: Apache-2.0
"""Groups of packages and advisories, which only some package managers have."""

from __future__ import annotations

from modules import pkg
from runner.api import OPEN, Done, Line, NonEmptyLine, OneOrMany, Plan, Planned, StateFailed
from states.pkg import _selection as selection
from states.pkg._installed import installed
from states.pkg._selection import Downloading, Installing


def group_installed(
    name: NonEmptyLine,
    skip: OneOrMany[Line] | None = None,
    include: OneOrMany[Line] | None = None,
    refresh: bool | None = None,
    how: Downloading = Installing(),
) -> Planned:
    """Make sure that a group of packages is installed: its mandatory and default packages.

    name: The group.
    skip: Default packages of the group that are left out.
    include: Further packages beside those of the group.
    refresh: As of pkg.installed.

        development-tools:
          pkg.group_installed:
            - skip: [gdb]

    Behaviour: Salt 3008's pkg.group_installed; it needs a package manager with groups.
    """
    manager = pkg.require("groups", "pkg.group_installed")
    group = manager.group(name)
    if group is None:
        raise StateFailed(f"Group '{name}' not found", missing=selection.LISTS)
    left_out = {*(skip or ())}
    if invalid := sorted(left_out & {*group.mandatory}):
        raise StateFailed(
            f"The following packages are mandatory and cannot be skipped: {', '.join(invalid)}"
        )
    names = [*group.mandatory, *(package for package in group.default if package not in left_out)]
    names += [package for package in include or () if package not in names]
    if not names:
        return f"Group '{name}' has no packages to install"
    return (yield from installed(name, pkgs=list(names), refresh=refresh, how=how))


def patch_installed(
    name: NonEmptyLine, advisory_ids: OneOrMany[Line] | None = None, downloadonly: bool = False
) -> Planned:
    """Make sure that the packages of an advisory are installed.

    name: The advisory, or with advisory_ids only the state's name.
    advisory_ids: Several advisories.
    downloadonly: Download the packages, and install nothing.

        SUSE-SU-2024-1:
          pkg.patch_installed: []

    Behaviour: Salt 3008's pkg.patch_installed; it needs a package manager with advisories.
    """
    return (yield from _patched(name, advisory_ids, downloadonly, "pkg.patch_installed"))


def patch_downloaded(name: NonEmptyLine, advisory_ids: OneOrMany[Line] | None = None) -> Planned:
    """Make sure that the packages of an advisory are downloaded.

    name, advisory_ids: as of pkg.patch_installed.

        SUSE-SU-2024-1:
          pkg.patch_downloaded: []

    Behaviour: Salt 3008's pkg.patch_downloaded; it needs a package manager with advisories.
    """
    return (yield from _patched(name, advisory_ids, True, "pkg.patch_downloaded"))


def _patched(name: str, advisory_ids: list[str] | None, download: bool, function: str) -> Planned:
    """Install the advisories that are not installed yet, or only download them."""
    manager = pkg.require("advisories", function)
    wanted = advisory_ids or [name]
    known = manager.advisories()
    if unknown := [advisory for advisory in wanted if advisory not in known]:
        raise StateFailed(f"No information found for '{unknown[0]}'.", missing=selection.LISTS)
    missing = [advisory for advisory in wanted if not known[advisory]]
    if not missing:
        return "Advisory is already installed" if len(wanted) == 1 else "All are already installed"
    if download and manager.has("advisory_downloads"):
        there = manager.downloaded_advisories(tuple(missing))
        missing = [advisory for advisory in missing if advisory not in there]
    if not missing:
        return (
            "Advisory is already downloaded" if len(wanted) == 1 else "All are already downloaded"
        )
    verb = "downloaded" if download else "installed"
    before = manager.list_pkgs()
    yield Plan(
        dict.fromkeys(missing, verb),
        f"The following advisories would be {verb}: {', '.join(missing)}",
        exact=False,
        why="which packages they change is known afterwards",
        provides=OPEN,
    )
    manager.patch(missing, download)
    done = f"The following advisories were {verb}: {', '.join(missing)}"
    changes = selection.differences(before, manager.list_pkgs())
    return Done(done, changes or dict.fromkeys(missing, verb))
