# SPDX-License-Identifier: Apache-2.0
"""Subvolumes and properties of btrfs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from modules.storage import btrfs
from modules.storage.blockdev import Device
from runner.api import Line, Name, Named, Plan, Planned, StateFailed, folders_above
from states._tools import explained

Property = Annotated[bool | Name | None, Named(btrfs.PROPERTIES.__contains__)]


def subvolume_created(
    name: Name,
    device: Name,
    qgroupids: list[Name] | None = None,
    set_default: bool = False,
    copy_on_write: bool = True,
    force_set_default: bool = True,
) -> Planned:
    """Make sure that there is a subvolume.

    name: The path of the subvolume from the top of the file system.
    device: The device of the file system, as a path, UUID=... or LABEL=...
    qgroupids: Groups for quotas that a new one is in.
    set_default: Make it the subvolume that is mounted where no other is named.
    copy_on_write: False switches copying on writing off (the attribute C).
    force_set_default: False leaves the default of one that exists already.

        '@/var':
          btrfs.subvolume_created:
            - device: /dev/vda2
            - copy_on_write: False
    """
    where, path = btrfs.find_device(device), btrfs.path_within(name)
    there = _look(where, path)
    if there.occupied:
        raise StateFailed(f"{name} is there, and is no subvolume")
    comments = [f"Subvolume {name} already present"] if there.exists else []
    changes = {} if there.exists else {name: f"Created subvolume {name}"}
    if set_default and not there.default and (force_set_default or not there.exists):
        changes[f"{name}_default"] = f"{name} set as default"
    if not copy_on_write and there.copies_on_write:
        changes[f"{name}_no_cow"] = f"{name} does not copy on write"
    if not changes:
        return "\n".join(comments)
    if not there.exists:
        comments.append(f"Subvolume {name} will be created")
    yield Plan(changes, "\n".join(comments) or f"Subvolume {name} will be changed")
    with explained(f"Error creating subvolume {name}"):
        if not there.exists:
            btrfs.create(where, path, qgroupids or ())
        if f"{name}_default" in changes:
            btrfs.change(where, path, "btrfs", "subvolume", "set-default")
        if f"{name}_no_cow" in changes:
            btrfs.change(where, path, "chattr", "+C", "--")
    return "\n".join(changes.values())


def subvolume_deleted(name: Name, device: Name, commit: bool = False) -> Planned:
    """Make sure that there is no such subvolume; what is in it is lost.

    name, device: as of btrfs.subvolume_created.
    commit: Wait until the removal is written.

        old:
          btrfs.subvolume_deleted:
            - device: /dev/vda2

    Behaviour: Salt 3007's btrfs.subvolume_deleted; the default subvolume is left alone.
    """
    where, path = btrfs.find_device(device), btrfs.path_within(name)
    there = _look(where, path)
    if not there.exists:
        return f"Subvolume {name} already missing"
    if there.default:
        raise StateFailed(f"Error removing subvolume {name}: it is the default one")
    yield Plan({name: f"Removed subvolume {name}"}, f"Subvolume {name} will be removed")
    words = ["btrfs", "subvolume", "delete", *(["--commit-after"] if commit else [])]
    with explained(f"Error removing subvolume {name}"):
        btrfs.change(where, path, *words)
    return f"Removed subvolume {name}"


def properties(name: Name, device: Name, use_default: bool = False, **options: Property) -> Planned:
    """Make sure that a subvolume, a file or a device has properties.

    Any other argument is a property: ro (True, False), label (of a device), compression (zstd, lzo,
    zlib).

    name: The path of the subvolume or file from the top of the file system, or the device.
    device: as of btrfs.subvolume_created.
    use_default: The path begins in the default subvolume.

        '@/srv':
          btrfs.properties:
            - device: /dev/vda2
            - compression: zstd
    """
    where = btrfs.find_device(device)
    path = "" if name == device else btrfs.path_within(name)
    with explained(name):
        present = btrfs.properties_of(where, path, use_default)
    wanted = {
        key: str(value).lower() if isinstance(value, bool) else str(value or "")
        for key, value in options.items()
    }
    if "ro" in wanted and wanted["ro"] not in ("true", "false"):
        raise StateFailed(f"ro: expected True or False, not {wanted['ro']!r}")
    changes = {key: value for key, value in wanted.items() if present.get(key, "") != value}
    if not changes:
        return f"Properties in {name} already as wanted"
    yield Plan(dict(changes), f"Following properties will be changed: {', '.join(changes)}")
    with explained(name):
        btrfs.set_properties(where, path, changes, use_default)
    return f"Properties changed in {name}"


def _look(where: Device, path: str) -> btrfs.Subvolume:
    with explained(where.name):
        return btrfs.look(where, path)


def autorequire(name: str, device: Line = "", **_: object) -> Iterator[tuple[str, str]]:
    """A subvolume comes after its file system and those above it."""
    yield "pkg", "btrfs-progs"
    if device:
        yield "blockdev", device
    yield from (("btrfs", folder) for folder in folders_above(name))
