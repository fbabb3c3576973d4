# SPDX-License-Identifier: Apache-2.0
"""Desktop applications, with flatpak."""

from __future__ import annotations

from functools import partial

from modules import cron
from modules._machine.processes import attempt
from modules._machine.tools import TOPIC, Tool, change, owned
from modules._texts.lines import plain_name
from runner.api import CommandFailed, FormerState, cached_look

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
    planned: bool | None = _flatpak(user).planned.get(f"{method} {name}")
    return _flatpak(user).run(*words).retcode == 0 if planned is None else planned


@cached_look(TOPIC)
def remotes(method: str = "system", user: str | None = None) -> dict[str, str]:
    """The addresses of the remotes, by name. Raises CommandFailed when flatpak does not work.

    {{ salt['flatpak.remotes']() | json }}
    """
    words = ["remotes", f"--{method}", "--columns=name,url"]
    rows = [line.split("\t") for line in _flatpak(user).output(*words).splitlines()]
    return {row[0].strip(): row[-1].strip() for row in rows if row[0].strip()}


def origin(name: str, method: str = "system", user: str | None = None) -> str:
    """The remote that an application or a runtime came from; empty where it is not installed.
    Arguments as those of flatpak.is_installed.

    {{ salt['flatpak.origin']('org.gimp.GIMP') }}
    """
    words = ["info", f"--{method}", "--show-origin", "--", plain_name(name, "name")]
    done = _flatpak(user).run(*words)
    return "" if done.retcode else done.stdout.strip()


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
    former = partial(_former_application, name, method, user)
    return change(words, _flatpak(user), former, {f"{method} {name}": True})


def uninstall(pkg: str, method: str = "system", user: str | None = None) -> str:
    """Remove an application or a runtime: what flatpak prints. Raises CommandFailed with what
    flatpak has against it.
    """
    words = ["uninstall", f"--{method}", "--noninteractive", "-y", "--", plain_name(pkg, "pkg")]
    former = partial(_former_application, pkg, method, user)
    return change(words, _flatpak(user), former, {f"{method} {pkg}": False})


def add_remote(name: str, location: str, method: str = "system", user: str | None = None) -> str:
    """Add a remote: what flatpak prints. Raises CommandFailed with what flatpak has against it.

    runner call flatpak.add_remote flathub https://flathub.org/repo/flathub.flatpakrepo
    """
    chosen = [plain_name(name, "name"), plain_name(location, "location")]
    former = _former_remote(name, method, user)
    try:
        return change(["remote-add", f"--{method}", "--", *chosen], _flatpak(user), former)
    except CommandFailed:
        if not former.state:  # flatpak keeps a remote whose list it refused
            attempt(delete_remote, name, method, user, True)
        raise


def delete_remote(
    name: str, method: str = "system", user: str | None = None, force: bool = False
) -> str:
    """Remove a remote: what flatpak prints. Raises CommandFailed with what flatpak has against it.

    force: also where something is installed from it.
    """
    options = [f"--{method}", *(["--force"] if force else [])]
    words = ["remote-delete", *options, "--", plain_name(name, "name")]
    return change(words, _flatpak(user), _former_remote(name, method, user))


def _owner(method: str, user: str | None) -> str | None:
    """Whose it is in the names of undo; None for what all users have."""
    return (user or cron.caller()) if method == "user" else None


def _former_remote(name: str, method: str, user: str | None) -> FormerState:
    """A remote as undo restores it."""
    address = remotes(method, user).get(name)
    state = {"location": address} if address else {}
    return FormerState("flatpak remote", owned(name, _owner(method, user)), state)


def _former_application(name: str, method: str, user: str | None) -> FormerState:
    came_from = origin(name, method, user)
    state = {"origin": came_from} if came_from else {}
    return FormerState("flatpak", owned(name, _owner(method, user)), state)
