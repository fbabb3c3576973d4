"""What the machine says of itself now."""

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
    """How long the machine has been up, and how many users are logged in.

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
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def version() -> str:
    """The kernel's own line on its version."""
    return _read("/proc/version").strip()


def meminfo() -> dict[str, dict[str, str]]:
    """What the kernel tells of the memory: by name the value and its unit.

    {{ salt['status.meminfo']().MemTotal.value }}
    """
    found = {}
    for line in _read("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        found[name] = dict(zip(("value", "unit"), rest.split(), strict=False))
    return found


def cpuinfo() -> dict[str, str | list[str]]:
    """What the kernel tells of the last processor."""
    found: dict[str, str | list[str]] = {}
    for line in _read("/proc/cpuinfo").splitlines():
        name, colon, value = (part.strip() for part in line.partition(":"))
        if colon:
            found[name] = value.split() if name in ("flags", "Features") else value
    return found


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
    found = {}
    for path in wanted:
        try:
            usage = os.statvfs(path)
        except OSError:  # not there, or not for us
            continue
        found[path] = {
            "available": usage.f_bavail * usage.f_frsize,
            "total": usage.f_blocks * usage.f_frsize,
        }
    return found


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
