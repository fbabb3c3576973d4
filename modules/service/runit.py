"""Services of runit (Void, Artix, Debian's runit): folders that runsvdir supervises."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd
from modules.service import _supervised
from modules.service._supervised import Folders, Supervisor, first_process
from runner.api import changer

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


def suits() -> bool:
    """Return whether runit runs this machine."""
    return first_process("runit", "runit-init", "runsvdir")


def status(name: str) -> bool:
    """Return whether a service runs."""
    if not FOLDERS.supervised(name):
        return False
    return cmd.probe(["sv", "status", FOLDERS.linked(name)]).stdout.startswith("run:")


@changer(touches=["services", "files"])
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
    SUPERVISOR.perform(name, action)


def _argv(action: str, path: str) -> list[str]:
    return ["sv", "-w", SECONDS, WORDS.get(action, action), path]


def _known(path: str) -> bool:
    """Return whether runsv supervises a service; runsvdir looks for new ones by itself."""
    return os.path.exists(f"{path}/supervise/ok") and not (
        cmd.probe(["sv", "status", path]).stdout.startswith("warning:")
    )


SUPERVISOR = Supervisor("runit", FOLDERS, status, _known, _argv)
get_running = SUPERVISOR.running_names
