# SPDX-License-Identifier: Apache-2.0
"""Services of s6: folders that s6-svscan supervises. s6-rc's databases are another matter."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd
from modules.service import _offline, _planned, _supervised
from modules.service._former import acts
from modules.service._supervised import Folders, Supervisor, first_process
from runner.api.offline import offline_as

NAMES: tuple[str, ...] = ("s6",)
# what s6-linux-init copies to /run/service when the machine starts
BOOT = "/etc/s6-linux-init/current/run-image/service"
FOLDERS = Folders(
    definitions=("/etc/s6/sv", "/etc/sv", BOOT),
    scanned=("/run/service", "/service", "/var/service"),
)
MILLISECONDS = "15000"  # that s6-svc waits for a service to start or to stop
WORDS = {
    "start": ("-u", "-wu"),
    "stop": ("-d", "-wD"),
    "restart": ("-r", "-wr"),
    "reload": ("-h",),
    "force-reload": ("-h",),
}

available = FOLDERS.available
enabled = FOLDERS.enabled
get_all = FOLDERS.names
get_enabled = FOLDERS.enabled_names
masked = _supervised.masked
log = _supervised.log


@offline_as(lambda: _offline.init() == "s6-svscan")
def suits() -> bool:
    """Return whether s6 runs this machine."""
    return first_process("s6-svscan")


def status(name: str) -> bool:
    """Return whether a service runs."""
    if not FOLDERS.supervised(name):
        return False
    will = _planned.will_run(name)
    if will is not None:
        return will
    return cmd.probe(["s6-svstat", "-o", "up", FOLDERS.linked(name)]).stdout.strip() == "true"


def _plan(name: str, action: str, options: Sequence[str] = ()) -> None:
    SUPERVISOR.plan(name, action)


@acts(__name__, _plan)
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
    SUPERVISOR.perform(name, action)


def _argv(action: str, path: str) -> list[str]:
    command, *wait = WORDS[action]
    timeout = ["-T", MILLISECONDS] if wait else []
    return ["s6-svc", *wait, *timeout, command, path]


@offline_as(lambda path: True)
def _known(path: str) -> bool:
    """Have s6-svscan look for new services; return whether one of them is supervised."""
    if cmd.probe(["s6-svok", path]).retcode == 0:
        return True
    cmd.probe(["s6-svscanctl", "-a", os.path.dirname(path)])
    return False


SUPERVISOR = Supervisor("s6", FOLDERS, status, _known, _argv)
get_running = SUPERVISOR.running_names
