# SPDX-License-Identifier: Apache-2.0
"""Desktop applications of flatpak."""

from __future__ import annotations

from collections.abc import Iterator

from modules.desktop import flatpak
from runner.api import OPEN, Name, Plan, Planned
from states._tools import ensure

OPPOSITE = {"installed": "uninstalled"}


def installed(location: Name, name: Name) -> Planned:
    """Make sure that an application or a runtime is installed.

    location: The remote that it comes from.
    name: The application.

        org.gimp.GIMP:
          flatpak.installed:
            - location: flathub

    Behaviour: Salt 3007's flatpak.installed.
    """
    return (
        yield from ensure(
            lambda: flatpak.is_installed(name),
            f'Package "{name}" is already installed',
            Plan(
                {"old": None, "new": name},
                f'Package "{name}" would have been installed',
                provides=OPEN,
            ),
            lambda: flatpak.install(location, name),
            f'Package "{name}" was installed',
            f'Package "{name}" failed to install',
        )
    )


def uninstalled(name: Name) -> Planned:
    """Make sure that an application or a runtime is not installed.

    name: The application.

        org.gimp.GIMP:
          flatpak.uninstalled: []

    Behaviour: Salt 3007's flatpak.uninstalled.
    """
    return (
        yield from ensure(
            lambda: not flatpak.is_installed(name),
            f'Package "{name}" is not installed',
            Plan({"old": name, "new": None}, f'Package "{name}" would have been uninstalled'),
            lambda: flatpak.uninstall(name),
            f'Package "{name}" uninstalled',
            f'Package "{name}" failed to uninstall',
        )
    )


def add_remote(name: Name, location: Name) -> Planned:
    """Make sure that there is a remote that applications come from.

    name: The remote.
    location: The address of its .flatpakrepo, or of the repository.

        flathub:
          flatpak.add_remote:
            - location: https://flathub.org/repo/flathub.flatpakrepo

    Behaviour: Salt 3007's flatpak.add_remote.
    """
    return (
        yield from ensure(
            lambda: flatpak.is_remote_added(name),
            f'Remote "{name}" already exists',
            Plan(
                {"old": None, "new": name}, f'Remote "{name}" would have been added', provides=OPEN
            ),
            lambda: flatpak.add_remote(name, location),
            f'Remote "{name}" was added',
            f'Failed to add remote "{name}"',
        )
    )


def autorequire(name: str, location: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """Applications come after flatpak and the remote that they come from."""
    yield "pkg", "flatpak"
    if location and ":" not in location:
        yield "flatpak", location


__all__ = ["add_remote", "autorequire", "installed", "uninstalled"]
