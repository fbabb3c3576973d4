"""Services of s6: folders that s6-svscan supervises. s6-rc's databases are another matter."""

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
get_all = FOLDERS.names


def suits() -> bool:
    """Return whether s6 runs this machine."""
    return first_process("s6-svscan")


def status(name: str) -> bool:
    """Return whether a service runs."""
    if not FOLDERS.supervised(name):
        return False
    return cmd.probe(["s6-svstat", "-o", "up", FOLDERS.linked(name)]).stdout.strip() == "true"


def enabled(name: str) -> bool:
    """Return whether a service starts with the machine."""
    return FOLDERS.enabled(name)


def masked(name: str, runtime: bool = False) -> bool:
    """False: services of s6 cannot be masked."""
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
    refuse_mask(action, "s6")
    if action == "disable":
        FOLDERS.disable(name)
        return
    if action == "enable":
        FOLDERS.enable(name, _known)
        return
    if action != "stop":
        FOLDERS.supervise(name, _known)
    command, *wait = WORDS[action]
    timeout = ["-T", MILLISECONDS] if wait else []
    argv = ["s6-svc", *wait, *timeout, command, FOLDERS.linked(name)]
    done = cmd.probe(argv)
    if done.retcode:
        raise CommandFailed(words_of(done.stdout, done.stderr, argv))
    if action in ("start", "restart"):
        require_running(name, status)


def _known(path: str) -> bool:
    """Have s6-svscan look for new services; return whether one of them is supervised."""
    if cmd.probe(["s6-svok", path]).retcode == 0:
        return True
    cmd.probe(["s6-svscanctl", "-a", os.path.dirname(path)])
    return False
