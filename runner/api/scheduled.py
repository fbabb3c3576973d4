# SPDX-License-Identifier: Apache-2.0
"""The files of `runner schedule`, and what cron and systemd read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

from runner.model.errors import RunnerError
from runner.model.records import Record


class ScheduleFiles(Record):
    """Where the entry of cron, or the systemd timer, of the regular highstate is."""

    cron_file: str = "/etc/cron.d/runner"
    unit: str = "runner-highstate"
    unit_folder: str = "/etc/systemd/system"

    def of_user(self, home: str) -> ScheduleFiles:
        """Those of a plain user, whose own systemd has the timer."""
        return self._replace(cron_file="", unit_folder=f"{home}/.config/systemd/user")

    @property
    def timer_path(self) -> str:
        return f"{self.unit_folder}/{self.unit}.timer"


SCHEDULE = ScheduleFiles()
RESTART = "/run/systemd/shutdown/scheduled"  # there while systemd is about to restart the machine


# What no run needs, nor what it starts: scripts of packages, commands of the tree. The rest of what
# `systemd-analyze security` lists stays open:
# - Protect..., Private..., a file system of the service's own: what a run mounts would be seen by
#   itself alone; host name, clock, limits, users, disks, networks and audit rules are states.
# - NoNewPrivileges, RestrictSUIDSGID: packages install programs with setuid, commands use sudo.
# - RestrictNamespaces, @mount, @module, @privileged: containers, packages with kernel modules.
# - LockPersonality, SystemCallArchitectures, MemoryDenyWriteExecute: setarch, Java, Node.js.
# - PrivateNetwork, IPAddressDeny: packages and trees are fetched. UMask: scripts expect 0022.
_CLOSED = """\
# real-time scheduling, old networks, old system calls, and rights over power and leases
RestrictRealtime=yes
RestrictAddressFamilies=~AF_APPLETALK AF_AX25 AF_IPX AF_NETROM AF_ROSE AF_X25
SystemCallFilter=~@cpu-emulation @obsolete
SystemCallErrorNumber=ENOSYS
CapabilityBoundingSet=~CAP_BLOCK_SUSPEND CAP_LEASE CAP_SYS_PACCT CAP_WAKE_ALARM
KeyringMode=private
"""
_OVERLAP = 3  # another run was at work: metrics count it
REGULAR = f"SuccessExitStatus={_OVERLAP}\n"


_UNFIT = re.compile(r"[\x00-\x1f\x7f]")  # a carriage return ends a line, too


def systemd_word(word: str) -> str:
    """A word of a command as ExecStart= reads it, which is one word of its line."""
    word = word.replace("\\", "\\\\").replace("%", "%%").replace("$", "$$").replace('"', '\\"')
    word = _UNFIT.sub(lambda found: f"\\x{ord(found[0]):02x}", word)
    return f'"{word}"' if re.search(r"[\s'\"]", word) or word in ("", ";") else word


def service_text(
    mark: str,
    description: str,
    command: Iterable[str],
    unit: str = "",
    service: str = REGULAR,
    of_user: bool = False,
    kind: str = "oneshot",
) -> str:
    """The service that a timer starts, or one of another kind, which stays. mark: its first line.
    unit, service: more lines of these sections. of_user: for the systemd of a user, which knows no
    network; nor can it take rights away and leave sudo.
    """
    network = "" if of_user else "Wants=network-online.target\nAfter=network-online.target\n"
    return (
        f"{mark}\n[Unit]\nDescription={description}\n{network}{unit}\n"
        f"[Service]\nType={kind}\n{service}"
        f"ExecStart={' '.join(map(systemd_word, command))}\n{'' if of_user else _CLOSED}"
    )


def cron_text(mark: str, entries: Iterable[str]) -> str:
    """A file for /etc/cron.d. mark: its first line."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return f"{mark}\nSHELL=/bin/sh\nPATH={path}\n" + "".join(f"{entry}\n" for entry in entries)


def cron_command(words: Iterable[str]) -> str:
    """A command as an entry of cron has it. Raises RunnerError for one that no line has."""
    command = shlex.join(words)
    if "\n" in command:
        raise RunnerError("a line end in the command would begin another entry of cron")
    return command.replace("%", "\\%")


def cron_interval(minutes: int) -> str | None:
    """An interval as an expression of cron; None for one that divides neither an hour nor a day."""
    if minutes < 1 or (60 % minutes if minutes < 60 else minutes % 60 or 1440 % minutes):
        return None
    if minutes < 60:
        return f"*/{minutes} * * * *" if minutes > 1 else "* * * * *"
    hours = minutes // 60
    return "0 0 * * *" if hours == 24 else f"0 */{hours} * * *" if hours > 1 else "0 * * * *"


def is_either_day(expression: str) -> bool:
    """Return whether of the day of the month and that of the week one is enough."""
    words = expression.split()
    return not words[2].startswith("*") and not words[4].startswith("*")


CRON_FIELDS = ("minute", "hour", "daymonth", "month", "dayweek")
CRON_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_NAMES: Mapping[int, tuple[str, ...]] = {
    3: ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    4: ("sun", "mon", "tue", "wed", "thu", "fri", "sat"),
}


def cron_fields(text: str) -> list[set[int]]:
    """The minutes, hours, days, months and days of the week (0 to 6) that an expression of cron
    means. Raises ValueError with what cron would not take.
    """
    words = text.lower().split()
    if len(words) != 5:
        raise ValueError("expected five fields")
    return [cron_field(word, index) for index, word in enumerate(words)]


def cron_field(word: str, index: int) -> set[int]:
    """What one field of an expression of cron means. Raises ValueError with what cron would not
    take, or not as it is written.
    """
    low, high = CRON_RANGES[index]
    names = _NAMES.get(index, ())
    known = {str(number): number for number in range(low, high + 1)}
    known |= {name: number for number, name in enumerate(names, low)}
    values: set[int] = set()
    for part in word.lower().split(","):
        match = re.fullmatch(r"(?:\*|0*(\w+)(?:-0*(\w+))?)(?:/0*([1-9][0-9]*))?", part)
        first, last, step = match.groups() if match else ("", None, None)
        start = known.get(first or str(low))
        end = known.get(last or (str(high) if step or not first else first))
        if match is None or start is None or end is None:
            either = f" or {names[0]} to {names[-1]}" if names else ""
            raise ValueError(f"{part!r} cannot be there (from {low} to {high}{either})")
        if start > end:
            raise ValueError(f"{part!r} ends before it begins")
        values.update(range(start, end + 1, int(step or 1)))
    return {0 if index == 4 and value == 7 else value for value in values}
