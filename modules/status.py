"""The present load, memory and disks of the machine."""

from __future__ import annotations

import datetime
import os
from typing import Any


def time(format: str = "%A, %d. %B %Y %I:%M%p") -> str:
    """The local time, in a format of strftime.

    {{ salt['status.time']('%Y-%m-%d') }}
    """
    return datetime.datetime.now().strftime(format)


def uptime() -> dict[str, Any]:
    """The uptime of the machine and the number of users who are logged in.

    The answer has seconds, days, time (hours and minutes beyond the days), since_iso (UTC), since_t
    and users.

    {{ salt['status.uptime']().days }}
    """
    from modules import cmd

    seconds = int(float(_read("/proc/uptime").split()[0]))
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    since = now - datetime.timedelta(seconds=seconds)
    return {
        "seconds": seconds,
        "since_iso": since.isoformat(),
        "since_t": int(since.replace(tzinfo=datetime.UTC).timestamp()),
        "days": seconds // 86400,
        "time": f"{seconds % 86400 // 3600}:{seconds % 3600 // 60:02d}",
        "users": len(cmd.probe(["who"]).stdout.splitlines()),
    }


def loadavg() -> dict[str, float]:
    """The load of the last 1, 5 and 15 minutes: `1-min`, `5-min`, `15-min`."""
    return dict(zip(("1-min", "5-min", "15-min"), os.getloadavg(), strict=True))


def nproc() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def version() -> str:
    """The kernel's own line on its version."""
    return _read("/proc/version").strip()


def meminfo() -> dict[str, dict[str, str]]:
    """The kernel's data on the memory: by name the value and its unit.

    {{ salt['status.meminfo']().MemTotal.value }}
    """
    values = {}
    for line in _read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        values[name] = dict(zip(("value", "unit"), rest.split(), strict=False))
    return values


def cpuinfo() -> dict[str, str | list[str]]:
    """The kernel's data on the last processor."""
    values: dict[str, str | list[str]] = {}
    for line in _read("/proc/cpuinfo").splitlines():
        name, colon, value = (part.strip() for part in line.partition(":"))
        if colon:
            values[name] = value.split() if name in ("flags", "Features") else value
    return values


def diskusage(*args: str) -> dict[str, dict[str, int]]:
    """The bytes in all and those that are left, by folder: of the folders named, or of what is
    mounted.

    args: folders, or types of file systems (`ext?`).

    {{ salt['status.diskusage']('/srv')['/srv'].available }}
    """
    from fnmatch import fnmatch

    from modules import mount

    types = [arg for arg in args if not arg.startswith("/")]
    wanted = [arg for arg in args if arg.startswith("/")]
    if types or not args:
        for path, how in mount.active().items():
            if not args or any(fnmatch(how["fstype"], pattern) for pattern in types):
                wanted.append(path)
    usages = {}
    for path in wanted:
        try:
            usage = os.statvfs(path)
        except OSError:  # not there, or not for us
            continue
        usages[path] = {
            "available": usage.f_bavail * usage.f_frsize,
            "total": usage.f_blocks * usage.f_frsize,
        }
    return usages


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
