# SPDX-License-Identifier: Apache-2.0
"""Files that are swapped to: made, listed in fstab, and in use. Salt has nothing like it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from modules import file, mount, swap
from runner.api import Check, FilePath, Name, Planned
from runner.api.claims import PRESENT, Claim
from runner.api.kinds import Kind, Property, comes_after
from runner.api.offline import at_boot, is_offline, offline_as
from states._mount import OF_SWAP, told_at_boot
from states._rights import only_root

dry_run_check = only_root("swapon")
DECIDES = {"file": "size"}
OPPOSITE = {"file": "absent"}
SWAP = Kind("swap file {name}")
UNITS = {"M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _size_problem(size: str) -> str | None:
    return None if re.fullmatch(r"[1-9]\d*[MGT]", size) else "expected a size with its unit"


def _bytes_of(size: str) -> int:
    return int(size[:-1]) * UNITS[size[-1]]


MEANS = {"size": _bytes_of}


def _priority_problem(priority: int) -> str | None:
    return None if -1 <= priority <= 32767 else "expected a number from -1 to 32767"


Size = Annotated[Name, Check(_size_problem, "such as 512M or 2G")]


@offline_as(lambda name: None)  # what is swapped to there is another system's
def _known(name: str) -> Mapping[str, str] | None:
    """What the kernel says of a file that is swapped to."""
    return mount.swaps().get(file.real_path(name))


@offline_as(lambda name, priority: None)  # the next start does
def _use(name: str, priority: int | None) -> None:
    mount.swapon(name, priority)


def _told_at_boot(name: str, persist: bool = True, **_: object) -> str:
    return told_at_boot(name, "none", "swap", None) if persist else ""


@file.validated
@at_boot(_told_at_boot)
def file_(
    name: FilePath,
    size: Size,
    priority: Annotated[int, Check(_priority_problem)] | None = None,
    persist: bool = True,
    config: FilePath = mount.FSTAB,
) -> Planned:
    """Make sure that a file of this size is swapped to.

    It is made without holes and for root alone (mode 0600), by dd and mkswap, and takes its place
    when it is whole. A swap file of another size is swapped off and made anew. A file that is no
    swap file is left alone.

    name: The file, in a folder in which only root may write.
    size: Its size: 512M, 2G.
    priority: Files and devices with a higher one are swapped to first.
    persist: Write the line to fstab.
    config: The file that `persist` writes to.

        /swapfile:
          swap.file:
            - size: 2G
    """
    bytes_ = _bytes_of(size)
    there = swap.size_of(name)
    if there != bytes_:
        swap.refuse_make(name, bytes_)
    known = _known(name)
    options = ("defaults",) if priority is None else (f"pri={priority}",)
    entry = mount.FstabEntry(name, "none", "swap", options)
    lines = mount.matching(entry, config, OF_SWAP)
    at = file.seen(name)
    now = {
        "size": f"{(there or 0) // UNITS['M']}M",
        "mode": at.mode if at else "",
        "active": known is not None,
        "priority": int(known["priority"]) if known else None,
        "fstab": bool(lines) and all(line.opts == options for line in lines),
    }

    def take(differing: Sequence[str]) -> None:
        made = "size" in differing
        if "fstab" in differing:  # first: what makes the file nobody can foresee
            mount.put_entry(entry, config, OF_SWAP)
        if known and (made or "priority" in differing):
            mount.swapoff(name)
        if made:
            swap.make(name, bytes_)
        elif "mode" in differing:
            file.set_mode(name, "0600")
        if {"size", "active", "priority"} & {*differing}:
            _use(name, priority)

    everything = ["size", "active", *(["fstab"] if persist and not now["fstab"] else [])]
    properties = [
        Property("size", f"{bytes_ // UNITS['M']}M"),
        Property("mode", "0600"),
        Property("active", None if is_offline() else True),
        Property("priority", priority if known else None),
        Property("fstab", True if persist else None),
    ]
    return SWAP.present(
        there is not None and now,
        lambda: take(everything),
        properties,
        lambda found: take([each.name for each in found]),
        name=name,
    )


@file.validated
def absent(name: FilePath, config: FilePath = mount.FSTAB) -> Planned:
    """Make sure that a file is not swapped to, and that it is gone, with its line in fstab.

    name: The file; one that is no swap file is left alone.
    config: as of swap.file.

        /swapfile:
          swap.absent: []
    """
    there = swap.size_of(name)
    known = _known(name)
    lines = mount.matching(mount.FstabEntry(name, "", "swap"), config, OF_SWAP)

    def destroy() -> None:
        if known:
            mount.swapoff(name)
        for line in lines:
            mount.drop_entry(line.name, name, config)
        if there is not None:
            swap.remove(name)

    return SWAP.absent(there is not None or bool(known or lines), destroy, name=name)


def owns(fun: str, name: str, **_: object) -> Iterator[Claim]:
    """A file that is swapped to."""
    if fun == "file":
        yield Claim(PRESENT, name)


autorequire = comes_after("A swap file comes after its file system.", name="mount")

__func_alias__ = {"file_": "file"}
