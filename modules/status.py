# SPDX-License-Identifier: Apache-2.0
"""The present load, memory, disks, processes and counters of the machine."""

from __future__ import annotations

import datetime
import fnmatch
import os
from typing import Any

from modules import _paths, cmd, mount, ps
from modules._machine import processes
from modules.ps import table
from runner.api import RunnerError, here


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
    types = [arg for arg in args if not arg.startswith("/")]
    wanted = [arg for arg in args if arg.startswith("/")]
    if types or not args:
        for path, how in mount.active().items():
            if not args or any(fnmatch.fnmatch(how["fstype"], pattern) for pattern in types):
                wanted.append(path)
    usages = {}
    for path in wanted:
        try:
            usage = _paths.statvfs(path)
        except OSError:  # not there, or not for us
            continue
        usages[path] = {
            "available": usage.f_bavail * usage.f_frsize,
            "total": usage.f_blocks * usage.f_frsize,
        }
    return usages


def procs() -> dict[str, dict[str, str]]:
    """The processes by their numbers: user and cmd of each.

    runner call status.procs
    """
    described = {}
    for pid in table.numbers():
        process, owner = table.process(pid), table.owner_of(pid)
        if process and owner is not None:
            command = " ".join(table.command_line(pid)) or f"[{process.comm}]"
            described[str(pid)] = {"user": owner, "cmd": command}
    return described


def pid(sig: str) -> str:
    """The numbers of the processes whose command line has a text in it, a line each. runner itself,
    and what called it, do not count.

    {% if salt['status.pid']('/usr/sbin/sshd') %}
    """
    own = table.own_family()
    return "\n".join(str(number) for number in ps.pgrep(sig, full=True) or () if number not in own)


def w() -> list[dict[str, str]]:
    """Who is logged in, and does what: user, tty, login, idle, jcpu, pcpu, what of each."""
    processes.needs("w", "procps")
    names = ("user", "tty", "login", "idle", "jcpu", "pcpu", "what")
    lines = (line.split(None, 6) for line in cmd.probe(["w", "-fh"]).stdout.splitlines())
    return [dict(zip(names, words, strict=False)) for words in lines if words]


def cpustats() -> dict[str, Any]:
    """Return what the kernel counts of processors, interrupts, starts of processes.

    {{ salt['status.cpustats']().cpu.iowait }}
    """
    stats: dict[str, Any] = {}
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    for line in _read("/proc/stat").splitlines():
        name, *words = line.split()
        numbers = [int(word) for word in words]
        if name == "cpu":
            stats[name] = dict(zip(names, numbers, strict=False))
        elif name == "softirq":
            stats[name] = {"total": numbers[0], "softirqs": numbers[1:]}
        elif name == "intr":
            stats[name] = {"total": numbers[0], "irqs": numbers[1:]}
        else:
            stats[name] = numbers[0]
    return stats


_DISK_FIELDS = tuple(
    """
    reads_issued reads_merged sectors_read ms_spent_reading writes_completed writes_merged
    sectors_written ms_spent_writing io_in_progress ms_spent_in_io weighted_ms_spent_in_io
    """.split()
)


def diskstats() -> dict[str, dict[str, int | str]]:
    """Return what the kernel counts of each disk."""
    stats = {}
    for words in map(str.split, _read("/proc/diskstats").splitlines()):
        head: dict[str, int | str] = {
            "major": int(words[0]),
            "minor": int(words[1]),
            "device": words[2],
        }
        counted = zip(_DISK_FIELDS, map(int, words[3:]), strict=False)
        stats[words[2]] = {**head, **dict(counted)}
    return stats


def netdev() -> dict[str, dict[str, int | str]]:
    """Return what the kernel counts of each interface.

    {{ salt['status.netdev']().eth0.rx_errs }}
    """
    _, titles, *lines = _read("/proc/net/dev").splitlines()
    received, sent = (part.split() for part in titles.split("|")[1:])
    names = [*(f"rx_{name}" for name in received), *(f"tx_{name}" for name in sent)]
    stats: dict[str, dict[str, int | str]] = {}
    for line in lines:
        iface, _, numbers = line.partition(":")
        counted = dict(zip(names, map(int, numbers.split()), strict=False))
        stats[iface.strip()] = {"iface": iface.strip(), **counted}
    return stats


def netstats() -> dict[str, dict[str, int]]:
    """Return what the kernel counts of IP, TCP and UDP beyond the usual (TcpExt, IpExt, ...)."""
    lines = _read("/proc/net/netstat").splitlines()
    stats = {}
    for names, numbers in zip(lines[::2], lines[1::2], strict=False):
        title, *words = names.split()
        counted = zip(words, map(int, numbers.split()[1:]), strict=False)
        stats[title.rstrip(":")] = dict(counted)
    return stats


def vmstats() -> dict[str, int]:
    """Return what the kernel counts of the virtual memory.

    {{ salt['status.vmstats']().oom_kill }}
    """
    pairs = (line.split() for line in _read("/proc/vmstat").splitlines())
    return {name: int(number) for name, number in pairs}


def all_status() -> dict[str, Any]:
    """All that the other functions tell: cpuinfo, cpustats, diskstats, diskusage, loadavg, meminfo,
    netdev, netstats, uptime, vmstats and w.
    """
    looks = (
        cpuinfo,
        cpustats,
        diskstats,
        diskusage,
        loadavg,
        meminfo,
        netdev,
        netstats,
        uptime,
        vmstats,
        w,
    )
    return {look.__name__: look() for look in looks}


def custom() -> dict[str, Any]:
    """Return what the configuration names below `status.NAME.custom`: lists of the answers that it
    wants.

    status.cpustats.custom: [cpu, ctxt]
    """
    wanted = {}
    for key, names in here.opts.items():
        parts = key.split(".")
        function = globals().get(parts[1]) if len(parts) == 3 else None
        if parts[0] == "status" and parts[-1] == "custom" and function in _CUSTOM:
            answer = function()
            wanted.update({name: answer[name] for name in names if name in answer})
    return wanted


_CUSTOM = (cpuinfo, cpustats, diskstats, diskusage, loadavg, meminfo, netdev, netstats, vmstats)


def master(master: str | None = None, connected: bool = True) -> None:
    """Nothing but an error: raises RunnerError, for there is no master."""
    raise RunnerError(
        "there is no master to be connected with",
        hint="runner works on one machine; `runner history` shows when it last ran",
    )


ping_master = master


def _read(path: str) -> str:
    return _paths.read_text(path, errors="replace")
