# SPDX-License-Identifier: Apache-2.0
"""Desktop applications of flatpak."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from modules.desktop import flatpak
from runner.api import OPEN, Name, Planned
from runner.api.kinds import Kind, Wording

OPPOSITE = {"installed": "uninstalled"}
PACKAGE = Kind(
    'Package "{name}"',
    Wording(
        "{title} is already installed",
        "{title} would have been installed",
        "{title} was installed",
        "{title} failed to install",
        {"old": None, "new": "{name}"},
        OPEN,
    ),
    removed=Wording(
        "{title} is not installed",
        "{title} would have been uninstalled",
        "{title} uninstalled",
        "{title} failed to uninstall",
        {"old": "{name}", "new": None},
    ),
)
REMOTE = Kind(
    'Remote "{name}"',
    Wording(
        "{title} already exists",
        "{title} would have been added",
        "{title} was added",
        'Failed to add remote "{name}"',
        {"old": None, "new": "{name}"},
        OPEN,
    ),
)


def installed(location: Name, name: Name) -> Planned:
    """Make sure that an application or a runtime is installed.

    location: The remote that it comes from.
    name: The application.

        org.gimp.GIMP:
          flatpak.installed:
            - location: flathub

    Behaviour: Salt 3007's flatpak.installed.
    """
    there = partial(flatpak.is_installed, name)
    return PACKAGE.present(there, lambda: flatpak.install(location, name), name=name)


def uninstalled(name: Name) -> Planned:
    """Make sure that an application or a runtime is not installed.

    name: The application.

        org.gimp.GIMP:
          flatpak.uninstalled: []

    Behaviour: Salt 3007's flatpak.uninstalled.
    """
    there = partial(flatpak.is_installed, name)
    return PACKAGE.absent(there, lambda: flatpak.uninstall(name), name=name)


def add_remote(name: Name, location: Name) -> Planned:
    """Make sure that there is a remote that applications come from.

    name: The remote.
    location: The address of its .flatpakrepo, or of the repository.

        flathub:
          flatpak.add_remote:
            - location: https://flathub.org/repo/flathub.flatpakrepo

    Behaviour: Salt 3007's flatpak.add_remote.
    """
    there = partial(flatpak.is_remote_added, name)
    return REMOTE.present(there, lambda: flatpak.add_remote(name, location), name=name)


def autorequire(name: str, location: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """Applications come after flatpak and the remote that they come from."""
    yield "pkg", "flatpak"
    if location and ":" not in location:
        yield "flatpak", location


__all__ = ["add_remote", "autorequire", "installed", "uninstalled"]
