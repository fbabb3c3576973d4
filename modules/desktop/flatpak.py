# SPDX-License-Identifier: Apache-2.0
"""Desktop applications, with flatpak."""

from __future__ import annotations

from modules._machine.tools import TOPIC, Tool, change
from modules._texts.lines import plain_name
from runner.api import cached_look

NEEDS_PROGRAM = "flatpak"  # without it templates find no function of this module
_FLATPAK = Tool("flatpak", "flatpak")


@cached_look(TOPIC)
def is_installed(name: str) -> bool:
    """Return whether an application or a runtime is installed.

    {{ salt['flatpak.is_installed']('org.gimp.GIMP') }}
    """
    return _FLATPAK.run("info", "--", plain_name(name, "name")).retcode == 0


@cached_look(TOPIC)
def remotes() -> dict[str, str]:
    """The addresses of the remotes, by name. Raises CommandFailed when flatpak does not work.

    {{ salt['flatpak.remotes']() | json }}
    """
    lines = _FLATPAK.output("remotes", "--columns=name,url").splitlines()
    rows = [line.split("\t") for line in lines]
    return {row[0].strip(): row[-1].strip() for row in rows if row[0].strip()}


def is_remote_added(remote: str) -> bool:
    """Return whether there is a remote of a name. Raises CommandFailed when flatpak does not
    work.
    """
    return remote in remotes()


def install(location: str, name: str) -> str:
    """Install an application or a runtime from a remote: what flatpak prints. Raises CommandFailed
    with what flatpak has against it.

    runner call flatpak.install flathub org.gimp.GIMP
    """
    chosen = [plain_name(location, "location"), plain_name(name, "name")]
    return change(["install", "--noninteractive", "-y", "--", *chosen], _FLATPAK)


def uninstall(pkg: str) -> str:
    """Remove an application or a runtime: what flatpak prints. Raises CommandFailed with what
    flatpak has against it.
    """
    words = ["uninstall", "--noninteractive", "-y", "--", plain_name(pkg, "pkg")]
    return change(words, _FLATPAK)


def add_remote(name: str, location: str) -> str:
    """Add a remote: what flatpak prints. Raises CommandFailed with what flatpak has against it.

    runner call flatpak.add_remote flathub https://flathub.org/repo/flathub.flatpakrepo
    """
    chosen = [plain_name(name, "name"), plain_name(location, "location")]
    return change(["remote-add", "--", *chosen], _FLATPAK)
