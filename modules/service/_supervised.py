# SPDX-License-Identifier: Apache-2.0
"""Services that a supervisor finds as folders below one that it scans: runit's and s6's way.

A service is a folder with a program `run`. The supervisor starts those that are linked into the
folder that it scans, except where the service's folder has a file `down`: that one waits until
somebody starts it. So a service is enabled when it is linked and has no such file, and a service
that runs without being enabled is linked and has one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from modules import _paths, cmd, file
from modules.service import _planned
from modules.service._names import file_name
from runner.api import CommandFailed, Record

SETTLES = 0.3  # seconds after which a start is judged; a supervisor tries again after a whole one
PATIENCE = 10.0  # seconds; runsvdir looks every 5 for new services


class Folders(Record):
    """Where services lie.

    definitions: the folders that hold a folder for each service. scanned: those that a supervisor
    may scan; the first that is there is the one.
    """

    definitions: tuple[str, ...]
    scanned: tuple[str, ...]

    def scan_folder(self) -> str:
        """The folder that the supervisor scans."""
        return next((path for path in self.scanned if _paths.isdir(path)), self.scanned[-1])

    def linked(self, name: str) -> str:
        """The path of a service below the folder that the supervisor scans."""
        return f"{self.scan_folder()}/{file_name(name)}"

    def definition(self, name: str) -> str:
        """The folder that defines a service; empty where there is none."""
        service = file_name(name)
        places = (*(f"{folder}/{service}" for folder in self.definitions), self.linked(name))
        return next((path for path in places if _paths.isfile(f"{path}/run")), "")

    def available(self, name: str) -> bool:
        """Return whether there is such a service."""
        return bool(self.definition(name))

    def supervised(self, name: str) -> bool:
        """Return whether the supervisor is to know a service."""
        return _paths.isfile(f"{self.linked(name)}/run")

    def enabled(self, name: str) -> bool:
        """Return whether a service starts with the supervisor."""
        return self.supervised(name) and not _paths.lexists(f"{self.linked(name)}/down")

    def names(self) -> list[str]:
        """All services."""
        names = {
            name
            for folder in (*self.definitions, self.scan_folder())
            for name in (_paths.listdir(folder) if _paths.isdir(folder) else ())
        }
        return sorted(name for name in names if not name.startswith(".") and self.definition(name))

    def enabled_names(self) -> list[str]:
        """The services that start with the supervisor."""
        return [name for name in self.names() if self.enabled(name)]

    def enable(self, name: str, rescan: Callable[[str], bool]) -> None:
        """Let a service start with the supervisor; now it is only made known to it.

        rescan: has the supervisor look for a service (its path); whether it knows it.
        """
        self.supervise(name, rescan)
        if _paths.lexists(f"{self.linked(name)}/down"):
            file.remove(f"{self.linked(name)}/down")

    def disable(self, name: str) -> None:
        """Do not let a service start with the supervisor; it runs on."""
        self._put_down(name)

    def supervise(self, name: str, rescan: Callable[[str], bool]) -> None:
        """Make a service known to the supervisor without starting it. Raises CommandFailed when
        the supervisor does not take it.
        """
        path = self.linked(name)
        if not self.supervised(name):
            self._put_down(name)
            file.symlink(self.definition(name), path)
        end = time.monotonic() + PATIENCE
        while not rescan(path):
            if time.monotonic() > end:
                raise CommandFailed(
                    f"nothing supervises {path}; is the supervisor of {self.scan_folder()} running?"
                )
            time.sleep(0.1)

    def _put_down(self, name: str) -> None:
        mark = f"{self.definition(name)}/down"
        if not _paths.lexists(mark):
            file.write(mark, b"", mode="0644")


def require_running(name: str, status: Callable[[str], bool]) -> None:
    """Raise CommandFailed when a service that was just started is gone again: its supervisor only
    says that it has started the program, and starts it every second.
    """
    time.sleep(SETTLES)
    if not status(name):
        raise CommandFailed(f"Service {name} ended as soon as it was started")


def first_process(*names: str) -> bool:
    """Return whether the machine's first process is one of these programs."""
    return _paths.of_kernel("/proc/1/comm").strip() in names


def masked(name: str, runtime: bool = False) -> bool:
    """False: services that are supervised cannot be masked."""
    return False


def log(name: str, since: float = 0) -> str:
    """Nothing: where a service logs is its own matter."""
    return ""


class Supervisor(Record):
    """A supervisor, and how it is asked and told.

    tool: its name. status: whether a service runs. rescan: has it look for a service (its path);
    whether it knows it. argv: the command line for an action on a path.
    """

    tool: str
    folders: Folders
    status: Callable[[str], bool]
    rescan: Callable[[str], bool]
    argv: Callable[[str, str], list[str]]

    def running_names(self) -> list[str]:
        """The services that run."""
        return [name for name in self.folders.names() if self.status(name)]

    def perform(self, name: str, action: str) -> None:
        """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed."""
        if self._prepare(name, action, self.rescan):
            return
        argv = self.argv(action, self.folders.linked(name))
        cmd.probe(argv).or_fail()
        if action in ("start", "restart"):
            require_running(name, self.status)

    def plan(self, name: str, action: str) -> None:
        """Plan what an action makes of a service. Raises CommandFailed."""
        if not self._prepare(name, action, lambda path: True):
            _planned.act(name, action)

    def _prepare(self, name: str, action: str, rescan: Callable[[str], bool]) -> bool:
        """Make a service known where the action needs that; whether nothing more is to be done."""
        if action in ("mask", "unmask"):  # what only systemd has
            raise CommandFailed(f"a service of {self.tool} cannot be {action}ed")
        if action == "disable":
            self.folders.disable(name)
        elif action == "enable":
            self.folders.enable(name, rescan)
        elif action != "stop":
            self.folders.supervise(name, rescan)
        return action in ("enable", "disable")
