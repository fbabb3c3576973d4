"""Services of runit (Void, Artix, Debian's runit): folders that runsvdir supervises."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd
from modules.service._supervised import (
    Folders,
    first_process,
    refuse_mask,
    require_running,
    words_of,
)
from runner.api import CommandFailed, changer

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


def suits() -> bool:
    """Return whether runit runs this machine."""
    return first_process("runit", "runit-init", "runsvdir")


def status(name: str) -> bool:
    """Return whether a service runs."""
    if not FOLDERS.supervised(name):
        return False
    return cmd.probe(["sv", "status", FOLDERS.linked(name)]).stdout.startswith("run:")


def masked(name: str, runtime: bool = False) -> bool:
    """False: services of runit cannot be masked."""
    return False


def log(name: str, since: float = 0) -> str:
    """Nothing: where a service logs is its own matter."""
    return ""


def get_enabled() -> list[str]:
    """The services that start with the machine."""
    return [name for name in get_all() if enabled(name)]


def get_running() -> list[str]:
    """The services that run."""
    return [name for name in get_all() if status(name)]


@changer(touches=["services", "files"])
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
    refuse_mask(action, "runit")
    if action == "disable":
        FOLDERS.disable(name)
        return
    if action == "enable":
        FOLDERS.enable(name, _known)
        return
    if action != "stop":
        FOLDERS.supervise(name, _known)
    argv = ["sv", "-w", SECONDS, WORDS.get(action, action), FOLDERS.linked(name)]
    done = cmd.probe(argv)
    if done.retcode:
        raise CommandFailed(words_of(done.stdout, done.stderr, argv))
    if action in ("start", "restart"):
        require_running(name, status)


def _known(path: str) -> bool:
    """Return whether runsv supervises a service; runsvdir looks for new ones by itself."""
    return os.path.exists(f"{path}/supervise/ok") and not (
        cmd.probe(["sv", "status", path]).stdout.startswith("warning:")
    )
