# SPDX-License-Identifier: Apache-2.0
"""Salt's functions on processors, memory, disks, interfaces and logins."""

from __future__ import annotations

import os
import struct
import time
from typing import Any

from modules import _paths, mount
from modules._paths import text_of
from modules.ps import table
from runner.api import CommandFailed, StateFailed

UTMP = "/run/utmp"
# a login in utmp(5): kind, number of the process, terminal, ID, user, host, ..., seconds
LOGIN = struct.Struct("hi32s4s32s256shhiii4i20s")
USER_PROCESS = 7
SECTOR = 512


def num_cpus() -> int:
    """The number of processors."""
    return os.cpu_count() or 1


def boot_time(time_format: str | None = None) -> int | str:
    """The time at which the machine was started: seconds since 1970, or a text in a format of
    strftime.

    {{ salt['ps.boot_time']('%Y-%m-%d') }}
    """
    seconds = table.boot_seconds()
    return time.strftime(time_format, time.localtime(seconds)) if time_format else seconds


_TIMES = tuple("user nice system idle iowait irq softirq steal guest guest_nice".split())


def _times() -> list[dict[str, float]]:
    """The seconds of all processors together, then of each."""
    lines = [line.split() for line in text_of("/proc/stat").splitlines()]
    return [
        dict(zip(_TIMES, (int(word) / table.TICKS for word in words[1:]), strict=False))
        for words in lines
        if words and words[0].startswith("cpu")
    ]


def cpu_times(per_cpu: bool = False) -> dict[str, float] | list[dict[str, float]]:
    """The seconds that the processors spent for user, system, idle, iowait, ... since the start of
    the machine. per_cpu: of each of them.
    """
    all_together, *each = _times()
    return each if per_cpu else all_together


def cpu_percent(interval: float = 0.1, per_cpu: bool = False) -> float | list[float]:
    """Return how busy the processors are, in percent, per_cpu: each of them. interval: how many
    seconds to watch.

    {{ salt['ps.cpu_percent'](interval=1) }}
    """
    before = _times()
    time.sleep(max(0.0, float(interval)))
    shares = [_busy(old, new) for old, new in zip(before, _times(), strict=False)]
    return shares[1:] if per_cpu else shares[0]


def _busy(old: dict[str, float], new: dict[str, float]) -> float:
    spent = {name: new[name] - old[name] for name in new if not name.startswith("guest")}
    everything = sum(spent.values())
    idle = spent["idle"] + spent.get("iowait", 0)
    return round(100 * max(0.0, everything - idle) / everything, 1) if everything > 0 else 0.0


def _memory() -> dict[str, int]:
    """The kernel's data on the memory in bytes."""
    words = (line.split() for line in text_of("/proc/meminfo").splitlines())
    return {word[0].rstrip(":"): int(word[1]) * 1024 for word in words if len(word) > 2}


def total_physical_memory() -> int:
    """The bytes of memory."""
    return _memory().get("MemTotal", 0)


def virtual_memory() -> dict[str, float]:
    """The bytes of memory: total, available, used, free, active, inactive, buffers, cached, shared,
    slab, and percent.

    {{ salt['ps.virtual_memory']().available }}
    """
    memory = _memory()
    total, available = memory.get("MemTotal", 0), memory.get("MemAvailable", 0)
    return {
        "total": total,
        "available": available,
        "percent": _percent(total - available, total),
        "used": total - available,
        "free": memory.get("MemFree", 0),
        "active": memory.get("Active", 0),
        "inactive": memory.get("Inactive", 0),
        "buffers": memory.get("Buffers", 0),
        "cached": memory.get("Cached", 0) + memory.get("SReclaimable", 0),
        "shared": memory.get("Shmem", 0),
        "slab": memory.get("Slab", 0),
    }


def swap_memory() -> dict[str, float]:
    """The bytes of swap space: total, used, free, percent, and those read and written (sin,
    sout).
    """
    memory = _memory()
    total, free = memory.get("SwapTotal", 0), memory.get("SwapFree", 0)
    pages = dict(line.split() for line in text_of("/proc/vmstat").splitlines())
    return {
        "total": total,
        "used": total - free,
        "free": free,
        "percent": _percent(total - free, total),
        "sin": int(pages.get("pswpin", 0)) * table.PAGE,
        "sout": int(pages.get("pswpout", 0)) * table.PAGE,
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def disk_usage(path: str) -> dict[str, float]:
    """The bytes of the file system of a path: total, used, free, percent. Raises StateFailed when
    there is no such path.

    {{ salt['ps.disk_usage']('/srv').percent }}
    """
    try:
        usage = _paths.statvfs(path)
    except (OSError, ValueError) as problem:
        raise StateFailed(f"{path!r}: {getattr(problem, 'strerror', problem)}") from None
    used = (usage.f_blocks - usage.f_bfree) * usage.f_frsize
    free = usage.f_bavail * usage.f_frsize
    return {
        "total": usage.f_blocks * usage.f_frsize,
        "used": used,
        "free": free,
        "percent": _percent(used, used + free),
    }


def disk_partitions(all: bool = False) -> list[dict[str, str]]:
    """The mounted file systems that have a device: device, mountpoint, fstype, opts. all: those
    without a device, too.
    """
    with_device = {
        words[-1]
        for words in map(str.split, text_of("/proc/filesystems").splitlines())
        if words[:1] != ["nodev"]
    }
    return [
        {
            "device": mounted.device,
            "mountpoint": name,
            "fstype": mounted.fstype,
            "opts": ",".join(dict.fromkeys(mounted.options)),
        }
        for name, mounted in mount.active_mounts().items()
        if all or mounted.fstype in with_device
    ]


def disk_partition_usage(all: bool = False) -> list[dict[str, Any]]:
    """Return what disk_partitions and disk_usage tell of each mounted file system."""
    partitions = disk_partitions(all)
    return [{**partition, **disk_usage(partition["mountpoint"])} for partition in partitions]


def disk_io_counters(device: str | None = None) -> dict[str, int]:
    """Return what was read from and written to disks since the start of the machine. Raises
    CommandFailed for an unknown device. device: of this one alone (sda1).

    {{ salt['ps.disk_io_counters']('sda').write_bytes }}
    """
    counters = {}
    for words in map(str.split, text_of("/proc/diskstats").splitlines()):
        name, numbers = words[2], [int(word) for word in words[3:]]
        if device == name or (device is None and _paths.exists(f"/sys/block/{name}")):
            counters[name] = {
                "read_count": numbers[0],
                "write_count": numbers[4],
                "read_bytes": numbers[2] * SECTOR,
                "write_bytes": numbers[6] * SECTOR,
                "read_time": numbers[3],
                "write_time": numbers[7],
                "read_merged_count": numbers[1],
                "write_merged_count": numbers[5],
                "busy_time": numbers[9],
            }
    return _sum(counters, device)


def network_io_counters(interface: str | None = None) -> dict[str, int]:
    """Return what was sent and received by all interfaces since the start of the machine. Raises
    CommandFailed for an unknown interface. interface: by this one alone.

    {{ salt['ps.network_io_counters']('eth0').bytes_recv }}
    """
    counters = {}
    for line in text_of("/proc/net/dev").splitlines()[2:]:
        name, _, rest = line.partition(":")
        numbers = [int(word) for word in rest.split()]
        if interface in (None, name.strip()):
            counters[name.strip()] = {
                "bytes_sent": numbers[8],
                "bytes_recv": numbers[0],
                "packets_sent": numbers[9],
                "packets_recv": numbers[1],
                "errin": numbers[2],
                "errout": numbers[10],
                "dropin": numbers[3],
                "dropout": numbers[11],
            }
    return _sum(counters, interface)


def _sum(counters: dict[str, dict[str, int]], wanted: str | None) -> dict[str, int]:
    if wanted is not None and wanted not in counters:
        raise CommandFailed(f"there is no {wanted!r} here")
    total: dict[str, int] = {}
    for counted in counters.values():
        for name, number in counted.items():
            total[name] = total.get(name, 0) + number
    return total


def get_users() -> list[dict[str, Any]]:
    """Who is logged in: name, terminal, started (seconds since 1970), host and pid of each."""
    try:
        with _paths.open_bytes(UTMP) as file:
            data = file.read(1 << 20)
    except OSError:
        return []
    logins = []
    for kind, pid, terminal, _, name, host, *more in LOGIN.iter_unpack(
        data[: len(data) // LOGIN.size * LOGIN.size]
    ):
        if kind == USER_PROCESS:
            texts = [
                text.rstrip(b"\0").decode("utf-8", "replace") for text in (terminal, name, host)
            ]
            logins.append(
                {
                    "name": texts[1],
                    "terminal": texts[0],
                    "started": float(more[3]),
                    "host": texts[2],
                    "pid": pid,
                }
            )
    return logins
