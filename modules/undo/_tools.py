# SPDX-License-Identifier: Apache-2.0
"""What programs of few machines have installed or made, as it was: asked for and restored by the
execution functions of these, which users may call, too.

What a user has is called USER/NAME.
"""

from __future__ import annotations

from typing import Any

from modules.undo._kind import Future, State, UndoKind, one_by_one
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

    def restore(name: str, was: State, now: State) -> None:
        user, program = _owned(name)
        if was:
            here.call(f"{module}.install", program, version=was["version"], user=user)
        else:
            here.call(f"{module}.uninstall", program, user=user)

    return one_by_one(look, restore)


def _method(name: str) -> tuple[str, str, str | None]:
    """The name of what flatpak has, the method, and the user."""
    user, own = _owned(name)
    return own, "user" if user else "system", user


def _application(name: str) -> State:
    origin = _look("flatpak.origin", *_method(name))
    return {"origin": origin} if origin else {}


def _restore_application(name: str, was: State, now: State) -> None:
    if was:
        here.call("flatpak.install", was["origin"], *_method(name))
    else:
        here.call("flatpak.uninstall", *_method(name))


def _remote(name: str) -> State:
    own, method, user = _method(name)
    address = (_look("flatpak.remotes", method, user) or {}).get(own)
    return {"location": address} if address else {}


FLATPAK = one_by_one(
    _application,
    _restore_application,
    note=lambda name, was, now: "in the version that its remote has now" if was else "",
)
FLATPAK_REMOTE = one_by_one(
    _remote,
    lambda name, was, now: here.call("flatpak.delete_remote", *_method(name)),
    lambda name, was, now, future: "the key of a remote is not kept" if was else "",
)


def _project(name: str) -> State:
    return _look("docker_compose.state", name) or {}


def _same(was: State, now: State) -> bool:
    """Return whether containers are the same ones, be they started or not."""
    former, present = (
        [entry.rpartition(" ")[0] for entry in state.get("containers", ())] for state in (was, now)
    )
    return former == present


def _restore_project(name: str, was: State, now: State) -> None:
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


def _refused_project(name: str, was: State, now: State, future: Future) -> str:
    if was and now and not _same(was, now):
        return "its former containers are gone: `docker_compose.up` makes such again"
    if was and not now and not all(future("path", path) for path in was["files"] or ["-"]):
        return "its containers were made of files that are not there"
    return ""


def _note_on_project(name: str, was: State, now: State) -> str:
    return "" if was else "volumes that it has made stay, with what is in them; images, too"


PROJECT = one_by_one(_project, _restore_project, _refused_project, _note_on_project)
