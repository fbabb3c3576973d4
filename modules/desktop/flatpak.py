# SPDX-License-Identifier: Apache-2.0
"""Desktop applications, with flatpak."""

from __future__ import annotations

from modules._machine.processes import attempt
from modules._machine.tools import TOPIC, Tool, change
from modules._texts.lines import plain_name
from runner.api import CommandFailed, cached_look

NEEDS_PROGRAM = "flatpak"  # without it templates find no function of this module


def _flatpak(user: str | None) -> Tool:
    return Tool("flatpak", "flatpak", user)


@cached_look(TOPIC)
def is_installed(name: str, method: str = "system", user: str | None = None) -> bool:
    """Return whether an application or a runtime is installed.

    method: system for all users, user for one alone. user: Whose it is then; without it that of
    whoever runs runner.

    {{ salt['flatpak.is_installed']('org.gimp.GIMP') }}
    """
    words = ["info", f"--{method}", "--", plain_name(name, "name")]
    return _flatpak(user).run(*words).retcode == 0


@cached_look(TOPIC)
def remotes(method: str = "system", user: str | None = None) -> dict[str, str]:
    """The addresses of the remotes, by name. Raises CommandFailed when flatpak does not work.

    {{ salt['flatpak.remotes']() | json }}
    """
    words = ["remotes", f"--{method}", "--columns=name,url"]
    rows = [line.split("\t") for line in _flatpak(user).output(*words).splitlines()]
    return {row[0].strip(): row[-1].strip() for row in rows if row[0].strip()}


def is_remote_added(remote: str, method: str = "system", user: str | None = None) -> bool:
    """Return whether there is a remote of a name. Raises CommandFailed when flatpak does not
    work.
    """
    return remote in remotes(method, user)


def install(location: str, name: str, method: str = "system", user: str | None = None) -> str:
    """Install an application or a runtime from a remote: what flatpak prints. Raises CommandFailed
    with what flatpak has against it.

    runner call flatpak.install flathub org.gimp.GIMP
    """
    chosen = [plain_name(location, "location"), plain_name(name, "name")]
    words = ["install", f"--{method}", "--noninteractive", "-y", "--", *chosen]
    return change(words, _flatpak(user))


def uninstall(pkg: str, method: str = "system", user: str | None = None) -> str:
    """Remove an application or a runtime: what flatpak prints. Raises CommandFailed with what
    flatpak has against it.
    """
    words = ["uninstall", f"--{method}", "--noninteractive", "-y", "--", plain_name(pkg, "pkg")]
    return change(words, _flatpak(user))


def add_remote(name: str, location: str, method: str = "system", user: str | None = None) -> str:
    """Add a remote: what flatpak prints. Raises CommandFailed with what flatpak has against it.

    runner call flatpak.add_remote flathub https://flathub.org/repo/flathub.flatpakrepo
    """
    chosen = [plain_name(name, "name"), plain_name(location, "location")]
    there = is_remote_added(name, method, user)
    try:
        return change(["remote-add", f"--{method}", "--", *chosen], _flatpak(user))
    except CommandFailed:
        if not there:  # flatpak keeps a remote whose list it refused
            attempt(change, ["remote-delete", f"--{method}", "--force", "--", name], _flatpak(user))
        raise
