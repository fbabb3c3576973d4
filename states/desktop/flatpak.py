# SPDX-License-Identifier: Apache-2.0
"""Desktop applications of flatpak."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

from modules import cmd
from modules.desktop import flatpak
from runner.api import OPEN, Name, Planned, StateFailed
from runner.api.kinds import Kind, Wording
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check

Method = Literal["system", "user"]
DECIDES = {"add_remote": "location"}
TOLD_APART_BY = "method user"
MEANS = {"user": cmd.caller}
OPPOSITE = {"installed": Opposite("uninstalled", by=("method", "user"))}
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


def installed(
    location: Name, name: Name, method: Method = "system", user: Name | None = None
) -> Planned:
    """Make sure that an application or a runtime is installed.

    location: The remote that it comes from, of the same method and user.
    name: The application.
    method: `system` for all users, `user` for one alone.
    user: Whose it is with `method: user`; without it that of whoever runs runner.

        org.gimp.GIMP:
          flatpak.installed:
            - location: flathub

    Behaviour: Salt 3007's flatpak.installed, which knows no method and user.
    """
    of = _installation(method, user)
    there = partial(flatpak.is_installed, name, *of)
    return PACKAGE.present(there, lambda: flatpak.install(location, name, *of), name=name)


def uninstalled(name: Name, method: Method = "system", user: Name | None = None) -> Planned:
    """Make sure that an application or a runtime is not installed.

    name: The application.
    method, user: as of flatpak.installed.

        org.gimp.GIMP:
          flatpak.uninstalled: []

    Behaviour: Salt 3007's flatpak.uninstalled, which knows no method and user.
    """
    of = _installation(method, user)
    there = partial(flatpak.is_installed, name, *of)
    return PACKAGE.absent(there, lambda: flatpak.uninstall(name, *of), name=name)


def add_remote(
    name: Name, location: Name, method: Method = "system", user: Name | None = None
) -> Planned:
    """Make sure that there is a remote that applications come from.

    name: The remote.
    location: The address of its .flatpakrepo, or of the repository.
    method, user: as of flatpak.installed.

        flathub:
          flatpak.add_remote:
            - location: https://flathub.org/repo/flathub.flatpakrepo
            - method: user
            - user: zoe

    Behaviour: Salt 3007's flatpak.add_remote, which knows no method and user.
    """
    of = _installation(method, user)
    there = partial(flatpak.is_remote_added, name, *of)
    return REMOTE.present(there, lambda: flatpak.add_remote(name, location, *of), name=name)


def _installation(method: str, user: str | None) -> tuple[str, str | None]:
    """Where applications are. Raises StateFailed for a user where they are all users'."""
    if user and method != "user":
        raise StateFailed("`user` is for `method: user`; with `method: system` all users have it")
    return method, user


def autorequire(
    name: str, location: str | None = None, user: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """Applications come after flatpak, the user whose they are, and the remote that they come
    from.
    """
    yield "pkg", "flatpak"
    if user:
        yield "user", user
    if location and ":" not in location:
        yield "flatpak", location
