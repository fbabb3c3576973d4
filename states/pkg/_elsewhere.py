"""What other package managers have and apt has not: each says what to write instead."""

from __future__ import annotations

from runner.api import Line, OneOrMany, StateFailed

ADVISORIES = (
    "The pkg.{} state is not available on this platform: advisories are dnf's and zypper's; here"
    " pkg.uptodate brings all packages to their newest version, and pkg.latest single ones"
)


def group_installed(
    name: Line, skip: OneOrMany[Line] | None = None, include: OneOrMany[Line] | None = None
) -> str:
    """Make sure that a group of packages is installed: refused, apt has no groups.

    name: the group. skip: packages that are left out. include: packages that are added.

        development-tools:
          pkg.group_installed:
            - skip: [gdb]

    Behaviour: Salt 3008's pkg.group_installed, which fails here, too.
    """
    raise StateFailed(
        "pkg.group_install not available for this platform: apt has no groups; name the packages in"
        " `pkgs` of pkg.installed, or a package that stands for them (build-essential, task-...)"
    )


def patch_installed(
    name: Line, advisory_ids: OneOrMany[Line] | None = None, downloadonly: bool = False
) -> str:
    """Make sure that the packages of an advisory are installed: refused, apt has no advisories.

    name, advisory_ids: the advisories. downloadonly: only download them.

        SUSE-SU-2024-1:
          pkg.patch_installed: []

    Behaviour: Salt 3008's pkg.patch_installed, which fails here, too.
    """
    raise StateFailed(ADVISORIES.format("patch_installed"))


def patch_downloaded(name: Line, advisory_ids: OneOrMany[Line] | None = None) -> str:
    """Make sure that the packages of an advisory are downloaded: refused, apt has no advisories.

    name, advisory_ids: the advisories.

        SUSE-SU-2024-1:
          pkg.patch_downloaded: []

    Behaviour: Salt 3008's pkg.patch_downloaded, which fails here, too.
    """
    raise StateFailed(ADVISORIES.format("patch_downloaded"))
