# SPDX-License-Identifier: Apache-2.0
"""Services of /etc/init.d."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules._planned.overlay import is_planned
from modules.service import _planned
from modules.service._former import acts
from modules.service._names import file_name
from runner.api import CommandFailed, cached_look
from runner.api.offline import offline_as

NAMES: tuple[str, ...] = ("sysv", "debian_service", "service", "sysvinit")


@offline_as(lambda: _paths.isdir("/etc/init.d"))
def suits() -> bool:
    """Return whether this machine starts its services with init scripts."""
    return _paths.isdir("/etc/init.d") and not _paths.isdir("/run/systemd/system")


def script(name: str) -> str:
    """The init script of a service. Raises CommandFailed for what cannot be the name of one."""
    return f"/etc/init.d/{file_name(name)}"


def available(name: str) -> bool:
    """Return whether there is such a service."""
    return _paths.access(script(name), os.X_OK)


def status(name: str) -> bool:
    """Return whether a service runs."""
    will = _planned.will_run(name)
    if will is None:
        return available(name) and _runs(script(name))
    return available(name) and will


@cached_look("services")
def _runs(path: str) -> bool:
    try:
        return cmd.probe([path, "status"]).retcode == 0
    except CommandFailed:
        if is_planned(path):  # what is not there yet runs nothing
            return False
        raise


def enabled(name: str) -> bool:
    """Return whether a service starts with the machine."""
    will = _planned.will_be_enabled(name)
    if will is not None:
        return will
    return bool(_paths.glob(f"/etc/rc[2-5].d/S[0-9][0-9]{name.removesuffix('.service')}"))


def masked(name: str, runtime: bool = False) -> bool:
    """False: init scripts cannot be masked."""
    return False


def log(name: str, since: float = 0) -> str:
    """Nothing: init scripts keep none."""
    return ""


def get_all() -> list[str]:
    """All services."""
    return sorted(name for name in _paths.listdir("/etc/init.d") if available(name))


def get_enabled() -> list[str]:
    """The services that start with the machine."""
    return [name for name in get_all() if enabled(name)]


def get_running() -> list[str]:
    """The services that run."""
    return [name for name in get_all() if status(name)]


def _plan(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Plan what an action does."""
    if action in ("enable", "disable"):
        file.refuse_put(f"/etc/rc2.d/{name}")
        _planned.plan_enabled(name, action == "enable")
    else:
        _planned.act(name, action)


@acts(__name__, _plan)
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
    if action in ("enable", "disable"):
        program = ("update-rc.d", script(name).rpartition("/")[2])
        links = _paths.glob(f"/etc/rc[0-6].d/[SK][0-9][0-9]{program[1]}")
        # it enables and disables by links that there are
        done = cmd.probe([*program, action if links or action == "disable" else "defaults"])
    elif action in ("mask", "unmask"):
        raise CommandFailed(f"an init script cannot be {action}ed")
    else:
        done = cmd.probe([script(name), action])
    if done.retcode:
        raise CommandFailed(done.error_text)
