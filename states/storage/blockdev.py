# SPDX-License-Identifier: Apache-2.0
"""File systems and settings of block devices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from modules.storage import blockdev, disk
from runner.api import AbsolutePath, Line, Named, Plan, Planned, StateFailed
from states._rights import only_root
from states._tools import explained

DECIDES = {"formatted": "fs_type"}

dry_run_check = only_root("mkfs and blockdev")
Option = Annotated[bool | int | Line, Named(disk.TUNABLE.__contains__)]


def formatted(
    name: AbsolutePath,
    fs_type: Line = "ext4",
    force: bool = False,
    inode_size: int | None = None,
    lazy_itable_init: bool | None = None,
    fat: int | None = None,
) -> Planned:
    """Make sure that a device has a file system of a type.

    name: The device, or an image file.
    fs_type: What mkfs makes: ext4, xfs, btrfs, vfat, ...
    force: Whatever else the device holds is overwritten; without it, a device is formatted only
      when it holds nothing. One that is in use is never formatted.
    inode_size: The size of inodes in bytes, for ext and xfs.
    lazy_itable_init: Zero the tables of ext later, while it is used.
    fat: The width of a FAT: 12, 16 or 32.

        /dev/disk/by-id/virtio-data:
          blockdev.formatted:
            - fs_type: xfs

    Behaviour: Salt 3008's blockdev.formatted, which formats what holds another file system.
    """
    device = blockdev.resolve(name, images=True)
    old = disk.fstype(device.path)
    if old == fs_type:
        return f"{name} already formatted with {fs_type}"
    words = disk.format_words(fs_type, inode_size, lazy_itable_init, fat, force)
    blockdev.refuse_full(device, force)
    yield Plan({"new": fs_type, "old": old}, f"Changes to {name} will be applied ")
    with explained(f"Failed to format {name}"):
        disk.make_file_system(device, words)
    return f"{name} has been formatted with {fs_type}"


def tuned(name: AbsolutePath, **options: Option) -> Planned:
    """Make sure that a block device is tuned.

    Any other argument is a setting: read-ahead and filesystem-read-ahead (in sectors of 512 bytes),
    read-only, read-write.

    name: The device.

        /dev/vg0/data:
          blockdev.tuned:
            - read-ahead: 1024
            - read-only: True

    Behaviour: Salt 3008's blockdev.tuned; an option that is not known is a failure.
    """
    device = blockdev.resolve(name)
    wanted = {option: disk.tuned_value(option, value) for option, value in options.items()}
    if len({wanted[option] for option in wanted if option in ("read-only", "read-write")}) > 1:
        raise StateFailed("read-only and read-write contradict each other")
    present = disk.dump(device.path, sorted({disk.TUNABLE[option] for option in wanted}))
    changes = {}
    for option, value in wanted.items():
        old = present.get(disk.TUNABLE[option])
        if old != value:
            changes[option] = f"Changed from {_shown(option, old)} to {_shown(option, value)}"
    if not changes:
        return f"Block device {name} already in correct state"
    yield Plan(changes, f"Changes to {name} will be applied ")
    with explained(f"Failed to modify block device {name}"):
        disk.tune(blockdev.unchanged(device), **options)
    return f"Block device {name} successfully modified "


def _shown(option: str, value: str | None) -> str:
    if option in ("read-only", "read-write"):
        return str((value == "1") == (option == "read-only"))
    return str(value)


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """A file system comes after its device: a volume, an array."""
    yield "lvm", name.rpartition("/")[2]
    yield "raid", name
