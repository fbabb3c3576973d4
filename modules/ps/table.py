# SPDX-License-Identifier: Apache-2.0
"""The kernel's table of processes: one process as /proc shows it."""

from __future__ import annotations

import os

from modules._paths import text_of
from modules.file import uid_to_user
from runner.api import Record

TICKS = os.sysconf("SC_CLK_TCK")  # of the kernel's clock in a second
PAGE = os.sysconf("SC_PAGE_SIZE")
STATUS = {
    "R": "running",
    "S": "sleeping",
    "D": "disk-sleep",
    "T": "stopped",
    "t": "tracing-stop",
    "Z": "zombie",
    "X": "dead",
    "x": "dead",
    "K": "wake-kill",
    "W": "waking",
    "I": "idle",
    "P": "parked",
}


class Process(Record):
    """What /proc/PID/stat has on a process. fields: from the state on, as proc(5) numbers them
    less 3.
    """

    pid: int
    comm: str
    fields: tuple[str, ...]

    def number(self, place: int) -> int:
        """The field that proc(5) numbers so."""
        return int(self.fields[place - 3]) if len(self.fields) > place - 3 else 0

    def seconds(self, place: int) -> float:
        """The field as seconds of the clock."""
        return self.number(place) / TICKS

    @property
    def status(self) -> str:
        return STATUS.get(self.fields[0], self.fields[0])

    @property
    def started(self) -> float:
        """The time at which it was started, in seconds since 1970."""
        return round(boot_seconds() + self.seconds(22), 2)


def boot_seconds() -> int:
    """The time at which the machine was started, in seconds since 1970."""
    for line in text_of("/proc/stat").splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    return 0


def numbers() -> list[int]:
    """The numbers of all processes, sorted."""
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


def process(pid: int) -> Process | None:
    """A process; None when there is none of this number."""
    head, _, tail = text_of(f"/proc/{pid}/stat").rpartition(")")
    return Process(pid, head.partition("(")[2], tuple(tail.split())) if tail else None


def command_line(pid: int) -> list[str]:
    """The command line of a process; empty for a part of the kernel and once it has ended."""
    text = text_of(f"/proc/{pid}/cmdline")
    return text.rstrip("\0").split("\0") if text else []


def name_of(pid: int) -> str:
    """The name of a process; empty once it has ended."""
    name = text_of(f"/proc/{pid}/comm").rstrip("\n")
    long = os.path.basename((command_line(pid) or [""])[0])  # the kernel keeps 15 letters of a name
    return long if len(name) == 15 and long.startswith(name) else name


def owner_of(pid: int) -> str | None:
    """The user of a process; None once it has ended."""
    try:
        return uid_to_user(os.stat(f"/proc/{pid}").st_uid)
    except OSError:
        return None


def own_family() -> set[int]:
    """This process and those that it descends from."""
    family: set[int] = set()
    pid = os.getpid()
    while pid > 0 and pid not in family:
        family.add(pid)
        parent = process(pid)
        pid = parent.number(4) if parent else 0
    return family
