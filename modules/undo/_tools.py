# SPDX-License-Identifier: Apache-2.0
"""What programs of few machines have installed or made, as it was: asked for and restored by the
execution functions of these, which users may call, too.

What a user has is called USER/NAME.
"""

from __future__ import annotations

from typing import Any

from modules.undo._kind import Changes, Future, State, UndoKind
from runner.api import RunnerError, StateFailed, here


def _look(function: str, *values: object, **named: object) -> Any:
    """What a function says; None where its program is not there."""
    try:
        return here.call(function, *values, **named)
    except (StateFailed, RunnerError):
        return None


def _owned(name: str) -> tuple[str | None, str]:
    """Whose something is, and its own name."""
    owner, _, own = name.rpartition("/")
    return owner or None, own


def programs(module: str) -> UndoKind:
    """The programs that a module installs, each in one version."""

    def look(name: str) -> State:
        user, program = _owned(name)
        version = (_look(f"{module}.list", user=user) or {}).get(program)
        return {"version": version} if version else {}

    def restore(changes: Changes) -> None:
        for name, (was, _) in changes.items():
            user, program = _owned(name)
            if was:
                here.call(f"{module}.install", program, version=was["version"], user=user)
            else:
                here.call(f"{module}.uninstall", program, user=user)

    return UndoKind(look, restore)


def _method(name: str) -> tuple[str, str, str | None]:
    """The name of what flatpak has, the method, and the user."""
    user, own = _owned(name)
    return own, "user" if user else "system", user


def _application(name: str) -> State:
    origin = _look("flatpak.origin", *_method(name))
    return {"origin": origin} if origin else {}


def _restore_applications(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        if was:
            here.call("flatpak.install", was["origin"], *_method(name))
        else:
            here.call("flatpak.uninstall", *_method(name))


def _newest(changes: Changes) -> dict[str, str]:
    back = (name for name, (was, _) in changes.items() if was)
    return dict.fromkeys(back, "in the version that its remote has now")


def _remote(name: str) -> State:
    own, method, user = _method(name)
    address = (_look("flatpak.remotes", method, user) or {}).get(own)
    return {"location": address} if address else {}


def _restore_remotes(changes: Changes) -> None:
    for name in changes:
        here.call("flatpak.delete_remote", *_method(name))


def _refused_remotes(changes: Changes, future: Future) -> dict[str, str]:
    gone = (name for name, (was, _) in changes.items() if was)
    return dict.fromkeys(gone, "the key of a remote is not kept")


FLATPAK = UndoKind(_application, _restore_applications, notes=_newest)
FLATPAK_REMOTE = UndoKind(_remote, _restore_remotes, _refused_remotes)


def _project(name: str) -> State:
    return _look("docker_compose.state", name) or {}


def _same(was: State, now: State) -> bool:
    """Return whether containers are the same ones, be they started or not."""
    former, present = (
        [entry.rpartition(" ")[0] for entry in state.get("containers", ())] for state in (was, now)
    )
    return former == present


def _restore_projects(changes: Changes) -> None:
    for name, (was, now) in changes.items():
        if not was:
            here.call("docker_compose.down", name)
        elif not now:
            given = (was[key] for key in ("folder", "files", "services", "env_files"))
            here.call("docker_compose.up", name, *given)
        else:
            here.call("docker_compose.stop", name, _started(was))


def _started(was: State) -> list[str]:
    """The services whose containers did not all run."""
    rest = [entry.split()[0] for entry in was["containers"] if not entry.endswith(" running")]
    return [service for service in was["services"] if any(f"-{service}-" in at for at in rest)]


def _refused_projects(changes: Changes, future: Future) -> dict[str, str]:
    refused = {}
    for name, (was, now) in changes.items():
        if was and now and not _same(was, now):
            refused[name] = "its former containers are gone: `docker_compose.up` makes such again"
        elif was and not now and not all(future("path", path) for path in was["files"] or ["-"]):
            refused[name] = "its containers were made of files that are not there"
    return refused


def _notes_on_projects(changes: Changes) -> dict[str, str]:
    made = (name for name, (was, _) in changes.items() if not was)
    return dict.fromkeys(made, "volumes that it has made stay, with what is in them; images, too")


PROJECT = UndoKind(_project, _restore_projects, _refused_projects, notes=_notes_on_projects)
