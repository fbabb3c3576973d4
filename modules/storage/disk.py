# SPDX-License-Identifier: Apache-2.0
"""Block devices and the file systems on them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from modules import cmd
from modules._machine.processes import Completed
from modules._texts.lines import plain_name
from modules.storage import blockdev
from runner.api import StateFailed, changer, for_states

LOOKS = {  # the answers of blockdev, by the names that Salt gives them
    "getro": "--getro",
    "getsz": "--getsz",
    "getss": "--getss",
    "getpbsz": "--getpbsz",
    "getiomin": "--getiomin",
    "getioopt": "--getioopt",
    "getalignoff": "--getalignoff",
    "getmaxsect": "--getmaxsect",
    "getsize64": "--getsize64",
    "getra": "--getra",
    "getfra": "--getfra",
}
# what can be tuned, and where its value is seen
TUNABLE = {
    "read-ahead": "getra",
    "filesystem-read-ahead": "getfra",
    "read-only": "getro",
    "read-write": "getro",
}
__func_alias__ = {"format_": "format"}


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
    """The type of the file system on a block device or in an image file; empty if it has none.

    {{ salt['disk.fstype']('/dev/sda1') }}
    """
    path = plain_name(device, "the device")
    done = cmd.probe(["blkid", "-p", "-s", "TYPE", "-o", "value", "--", path])
    if done.retcode == 0:
        return done.stdout.strip()
    # not root: what udev knows
    types = cmd.probe(["lsblk", "-no", "fstype", "--", path]).stdout.splitlines()
    return types[0].strip() if types else ""


def dump(device: str, args: Sequence[str] | None = None) -> dict[str, str]:
    """Return what blockdev says of a device: getra, getro, getsize64, ... args: only these.

    {{ salt['disk.dump']('/dev/sda')['getra'] }}
    """
    names = list(args) if args else list(LOOKS)
    unknown = [name for name in names if name not in LOOKS]
    if unknown:
        raise StateFailed(f"{unknown[0]} is nothing that blockdev says; {', '.join(LOOKS)} are")
    path = plain_name(device, "the device")
    done = cmd.probe(["blockdev", *(LOOKS[name] for name in names), path])
    return dict(zip(names, done.stdout.split(), strict=False)) if done.retcode == 0 else {}


@changer(touches=["volumes"])
def tune(device: str, **options: Any) -> dict[str, str]:
    """Set read-ahead, filesystem-read-ahead (sectors), read-only or read-write (true, false) of a
    device; what blockdev says of it then.

    {{ salt['disk.tune']('/dev/sda', **{'read-ahead': 1024}) }}
    """
    words = [word for name, value in options.items() for word in _tuning(name, value)]
    cmd.execute(["blockdev", *words, plain_name(device, "the device")]).or_fail()
    return dump(device, [TUNABLE[name] for name in options])


@for_states
def tuned_value(name: str, value: object) -> str:
    """Return what blockdev says where something is tuned as wanted. Raises StateFailed for what it
    cannot be.
    """
    if name not in TUNABLE:
        raise StateFailed(f"{name} cannot be tuned; {', '.join(TUNABLE)} can")
    text = str(value).lower()
    if not name.startswith("read-") or name == "read-ahead":
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise StateFailed(f"{name}: expected a number of sectors, not {value!r}")
        return text
    if text not in ("true", "false"):
        raise StateFailed(f"{name}: expected True or False, not {value!r}")
    return "1" if (text == "true") == (name == "read-only") else "0"


def _tuning(name: str, value: object) -> list[str]:
    wanted = tuned_value(name, value)
    if TUNABLE[name] == "getro":
        return ["--setro" if wanted == "1" else "--setrw"]
    return ["--setra" if name == "read-ahead" else "--setfra", wanted]


@for_states
def format_words(
    fs_type: str,
    inode_size: int | None = None,
    lazy_itable_init: bool | None = None,
    fat: int | None = None,
    force: bool = False,
) -> list[str]:
    """Return the command that makes a file system, without the device. Raises StateFailed for a
    type that no program makes.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9._]*", fs_type):
        raise StateFailed(f"Invalid fs_type: {fs_type}")
    if not cmd.has_exec(f"mkfs.{fs_type}"):
        raise StateFailed(
            f"Invalid fs_type: {fs_type} (there is no mkfs.{fs_type})",
            missing=("command", f"mkfs.{fs_type}"),
        )
    extended = fs_type.startswith("ext")
    words = [f"mkfs.{fs_type}"]
    if inode_size is not None:
        words += ["-i", f"size={inode_size}"] if fs_type == "xfs" else ["-I", str(inode_size)]
    if lazy_itable_init is not None and extended:
        words += ["-E", f"lazy_itable_init={int(lazy_itable_init)}"]
    if fat is not None and fs_type in ("fat", "vfat", "msdos"):
        words += ["-F", str(fat)]
    if force:
        words += ["-I" if "fat" in fs_type else "-F" if extended or fs_type == "ntfs" else "-f"]
    return words


@changer(touches=["volumes"])
def format_(
    device: str,
    fs_type: str = "ext4",
    inode_size: int | None = None,
    lazy_itable_init: bool | None = None,
    fat: int | None = None,
    force: bool = False,
) -> bool:
    """Make a file system on a device, or in an image file: whether that worked.

    inode_size: bytes, of ext and xfs. lazy_itable_init: tables of ext are zeroed later. fat: 12, 16
    or 32. force: whatever the device holds is overwritten; what is in use never is.
    """
    target = blockdev.resolve(device, images=True)
    blockdev.refuse_full(target, force)
    words = format_words(fs_type, inode_size, lazy_itable_init, fat, force)
    return _run(target, *words).retcode == 0


@for_states
@changer(touches=["volumes"])
def make_file_system(device: blockdev.Device, words: Sequence[str]) -> None:
    """Run a command of `format_words` on a device. Raises CommandFailed with what it says."""
    _run(device, *words).or_fail()


@changer(touches=["volumes"])
def wipe(device: str) -> bool:
    """Remove what says which file system, partition table, ... a device has: whether that worked. A
    device that is in use is refused.
    """
    target = blockdev.resolve(device, images=True)
    blockdev.refuse_used(target)
    return _run(target, "wipefs", "--all", "--").retcode == 0


@changer(touches=["volumes"])
def resize2fs(device: str) -> bool:
    """Let an ext file system fill its device: whether that worked."""
    return _run(blockdev.resolve(device, images=True), "resize2fs").retcode == 0


def _run(device: blockdev.Device, *words: str) -> Completed:
    """Run a program that changes a device, which is its last argument."""
    with blockdev.held(device) as path:
        done = cmd.execute([*words, path])
    named = {name: getattr(done, name).replace(path, device.path) for name in ("stdout", "stderr")}
    return done._replace(**named)
