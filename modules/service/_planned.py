# SPDX-License-Identifier: Apache-2.0
"""Services as the plans of a dry run so far would leave them: what runs and what is enabled.

Links and scripts that say what starts with the machine are planned files (`_planned/files.py`);
here is what is only in a service manager's memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from modules._planned.machine import Service, merged_names
from modules._planned.overlay import planned_machine, tell_otherwise
from runner.api import CommandFailed, Unforeseen

STARTING = ("start", "restart", "reload-or-restart", "force-reload")


def will_run(name: str, user: str = "") -> bool | None:
    """Return whether a service will run; None where nothing was planned."""
    return planned_machine().running.get(_key(name, user))


def will_be_enabled(name: str, user: str = "") -> bool | None:
    """Return whether a service will start with the machine; None where nothing was planned."""
    return planned_machine().enabled.get(_key(name, user))


def plan_running(name: str, value: bool, user: str = "", *, is_restart: bool = False) -> None:
    """Plan that a service will run, or will not. is_restart: it ran before."""
    planned_machine().running[_key(name, user)] = value
    if not (is_restart and value):
        tell_otherwise(_key(name, user)[1])


def plan_enabled(name: str, value: bool, user: str = "") -> None:
    """Plan that a service will start with the machine, or will not."""
    planned_machine().enabled[_key(name, user)] = value
    tell_otherwise(_key(name, user)[1])


def running(names: Iterable[str], user: str = "") -> list[str]:
    """The services that run, with what was planned."""
    return merged_names(names, _of(planned_machine().running, user))


def enabled(names: Iterable[str], user: str = "") -> list[str]:
    """The services that start with the machine, with what was planned."""
    return merged_names(names, _of(planned_machine().enabled, user))


def _key(name: str, user: str) -> Service:
    return user, name.removesuffix(".service")


def _of(facts: Mapping[Service, bool], user: str) -> dict[str, bool]:
    return {name: value for (whose, name), value in facts.items() if whose == user}


def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Plan what an action makes of a service that runs or does not; raise Unforeseen for what else
    there is.
    """
    if action in ("mask", "unmask"):
        raise CommandFailed(f"this service cannot be {action}ed")
    if action in STARTING:
        plan_running(name, True, is_restart=action != "start")
    elif action == "stop":
        plan_running(name, False)
    elif action != "reload":
        raise Unforeseen(action)
