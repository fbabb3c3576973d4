# SPDX-License-Identifier: Apache-2.0
"""Services of runit (Void, Artix, Debian's runit): folders that runsvdir supervises."""

from __future__ import annotations

from collections.abc import Sequence

from modules import _paths, cmd
from modules.service import _offline, _planned, _supervised
from modules.service._former import acts
from modules.service._supervised import Folders, Supervisor, first_process
from runner.api.offline import offline_as

NAMES: tuple[str, ...] = ("runit",)
FOLDERS = Folders(
    definitions=("/etc/sv", "/etc/runit/sv"),
    scanned=("/service", "/var/service", "/run/runit/service", "/etc/service"),
)
SECONDS = "15"  # that sv waits for a service to start or to stop
WORDS = {"force-reload": "hup", "reload": "hup"}

available = FOLDERS.available
enabled = FOLDERS.enabled
get_all = FOLDERS.names
get_enabled = FOLDERS.enabled_names
masked = _supervised.masked
log = _supervised.log


@offline_as(lambda: _offline.init() == "runit")
def suits() -> bool:
    """Return whether runit runs this machine."""
    return first_process("runit", "runit-init", "runsvdir")


def status(name: str) -> bool:
    """Return whether a service runs."""
    if not FOLDERS.supervised(name):
        return False
    will = _planned.will_run(name)
    if will is not None:
        return will
    return cmd.probe(["sv", "status", FOLDERS.linked(name)]).stdout.startswith("run:")


def _plan(name: str, action: str, options: Sequence[str] = ()) -> None:
    SUPERVISOR.plan(name, action)


@acts(__name__, _plan)
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
    SUPERVISOR.perform(name, action)


def _argv(action: str, path: str) -> list[str]:
    return ["sv", "-w", SECONDS, WORDS.get(action, action), path]


@offline_as(lambda path: True)
def _known(path: str) -> bool:
    """Return whether runsv supervises a service; runsvdir looks for new ones by itself."""
    return _paths.exists(f"{path}/supervise/ok") and not (
        cmd.probe(["sv", "status", path]).stdout.startswith("warning:")
    )


SUPERVISOR = Supervisor("runit", FOLDERS, status, _known, _argv)
get_running = SUPERVISOR.running_names
