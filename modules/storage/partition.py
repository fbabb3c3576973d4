# SPDX-License-Identifier: Apache-2.0
"""Partition tables, as parted reads them."""

from __future__ import annotations

from modules import _paths, cmd
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from runner.api import CommandFailed

NEEDS_PROGRAM = "parted"  # without it templates find no function of this module
UNITS = ("s", "B", "kB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "%", "cyl", "chs", "compact")
DISK = (
    "disk",
    "size",
    "interface",
    "logical sector",
    "physical sector",
    "partition table",
    "model",
    "disk flags",
)
PARTITION = ("number", "start", "end", "size", "file system", "name", "flags")


def list_(device: str, unit: str | None = None) -> dict[str, dict[str, object]]:
    """The partition table of a device: info, and partitions by their numbers.

    unit: of the places: s, B, kB, MB, MiB, GB, GiB, TB, TiB, %, cyl, chs, compact.

        {{ salt['partition.list']('/dev/sda', unit='B') | json }}
    """
    if unit is not None and unit not in UNITS:
        raise CommandFailed(f"Invalid unit passed to partition.part_list: {unit!r}")
    needs("parted", "parted")
    words = ["parted", "-m", "-s", plain_name(device, "the device")]
    done = cmd.probe([*words, *(["unit", unit] if unit else []), "print"])
    if done.retcode:
        raise CommandFailed((done.stdout.strip() or done.stderr.strip()).replace("\n", "; "))
    answer: dict[str, dict[str, object]] = {"info": {}, "partitions": {}}
    for line in done.stdout.splitlines():
        fields = line.rstrip(";").split(":")
        if len(fields) == len(DISK):
            answer["info"] = dict(zip(DISK, fields, strict=True))
        elif len(fields) == len(PARTITION):
            answer["partitions"][fields[0]] = dict(zip(PARTITION, fields, strict=True))
    return answer


def exists(device: str = "") -> bool:
    """Return whether there is a device.

    {{ salt['partition.exists']('/dev/sda1') }}
    """
    return _paths.exists(device) and device.startswith("/dev/")


def get_block_device() -> list[str]:
    """The names of the disks.

    {{ salt['partition.get_block_device']() }}
    """
    words = ["lsblk", "--noheadings", "--nodeps", "--output", "NAME,TYPE"]
    rows = (line.split() for line in cmd.probe(words).stdout.splitlines())
    return [row[0] for row in rows if len(row) > 1 and row[1] == "disk"]


__func_alias__ = {"list_": "list"}
