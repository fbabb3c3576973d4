"""Block devices and the file systems on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from modules import cmd
from runner.api import StateFailed


def _df(*options: str) -> Iterator[list[str]]:
    """The lines of df, as columns: file system, three numbers, percentage, mount point."""
    lines = cmd.probe(["df", *options]).stdout.splitlines()
    for match in (
        re.match(r"(.*?)\s+(\d+|-)\s+(\d+|-)\s+(-?\d+|-)\s+(\d+%|-)\s+(.*)", line) for line in lines
    ):
        if match:
            yield list(match.groups())


def _flags(args: str | None) -> tuple[str, ...]:
    if args and (strange := set(args) - set("aklmP")):
        raise StateFailed(
            f"Invalid flag passed to df: {''.join(sorted(strange))} (these are fine: aklmP)"
        )
    return (f"-{args}",) if args else ()


def usage(args: str | None = None) -> dict[str, dict[str, str]]:
    """The space of each mounted file system, by mount point, in blocks of 1 kB. args: letters for
    df (`aklmP`).

    {{ salt['disk.usage']()['/']['available'] }}
    """
    names = ("filesystem", "1K-blocks", "used", "available", "capacity")
    rows = _df("-P", *_flags(args))
    return {row[5]: dict(zip(names, row, strict=False)) for row in rows}


def inodeusage(args: str | None = None) -> dict[str, dict[str, str]]:
    """The inodes of each mounted file system, by mount point. args: letters for df."""
    rows = _df("-iP", *_flags(args))
    return {
        row[5]: {
            "inodes": row[1],
            "used": row[2],
            "free": row[3],
            "use": row[4],
            "filesystem": row[0],
        }
        for row in rows
    }


def percent(args: str | None = None) -> Any:
    """The percentage in use of each mounted file system, by mount point. args: one mount point, for
    its percentage alone.

    {{ salt['disk.percent']('/var') }}
    """
    percentages = {row[5]: row[4] for row in _df("-P")}
    return percentages.get(args, {}) if args else percentages


def blkid(device: str | None = None, token: str | None = None) -> dict[str, dict[str, str]]:
    """UUID, LABEL, TYPE, ... of block devices. device: of this one. token: of those that have it,
    `TYPE=ext4`.

    {{ salt['disk.blkid']('/dev/sda1')['/dev/sda1']['UUID'] }}
    """
    selection = ["--", device] if device else ["-t", token] if token else []
    done = cmd.probe(["blkid", *selection])
    if done.retcode > 0:
        return {}
    lines = (line.partition(": ") for line in done.stdout.splitlines() if line)
    return {name: dict(re.findall(r'(\S+)="(.*?)"', tags)) for name, _, tags in lines}


def fstype(device: str) -> str:
    """The type of the file system on a block device; empty if it has none.

    {{ salt['disk.fstype']('/dev/sda1') }}
    """
    types = cmd.probe(["lsblk", "-no", "fstype", "--", device]).stdout.splitlines()
    return types[0].strip() if types else ""
