# SPDX-License-Identifier: Apache-2.0
"""Mounts under Salt's names and arguments, for `runner call`, module.run and classic modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import _paths, file
from modules.mount import (
    FSTAB,
    FstabEntry,
    _replace_entries,
    active_mounts,
    bare,
    drop_entry,
    get_mount_from_path,
    is_mounted,
    lines_of,
    match_keys,
    matching,
    mount,
    parsed_options,
    remount,
    swap_facts,
    swapoff,
    swapon,
    swaps,
    umount,
    unescaped,
)
from runner.api import StateFailed


def set_fstab(
    name: str,
    device: str,
    fstype: str,
    opts: str | Sequence[str] = "defaults",
    dump: int | str = 0,
    pass_num: int | str = 0,
    config: str = FSTAB,
    test: bool = False,
    match_on: str | Sequence[str] = "auto",
    not_change: bool = False,
) -> str:
    """Have a line in fstab: `present`, `change` (there was another one) or `new`.

    Raises StateFailed for an unknown match_on.

    match_on: which of name, device and fstype tell that a line is the one to change; auto: the
    device, and the name where there is none. not_change: leave a line as it is when there is one.
    test: only tell.

        runner call mount.set_fstab /srv /dev/sdb1 ext4 opts=noatime pass_num=2
    """
    keys = match_keys(match_on, fstype)
    options = tuple(map(unescaped, parsed_options(opts)))
    entry = FstabEntry(device, bare(name), fstype, options, str(dump), str(pass_num))
    known = matching(entry, config, keys)
    if known and (not_change or known == [entry]):
        return "present"
    if not test:
        _replace_entries(config, known, entry)
    return "change" if known else "new"


def rm_fstab(name: str, device: str | None = None, config: str = FSTAB) -> bool:
    """Have no line in fstab for a mount point, of one device if given."""
    if lines_of(name, device, config):
        drop_entry(name, device, config)
    return True


def salt_mount(
    name: str,
    device: str | None = None,
    mkmnt: bool = False,
    fstype: str = "",
    opts: str | Sequence[str] = "defaults",
    user: str | None = None,
    util: str = "mount",
) -> bool:
    """Mount a device; none: as fstab has it. Raises StateFailed with what mount says.

    mkmnt: create the folder. opts: a text or a list. user: who mounts. util: the program.

        runner call mount.mount /srv /dev/sdb1 mkmnt=true opts=noatime
    """
    if not file.is_dir(name):
        if not mkmnt:
            raise StateFailed(
                f"the mount point {name} does not exist; mkmnt=true creates it",
                missing=("file", name),
            )
        file.makedirs(name)
    mount(name, device, fstype, parsed_options(opts), user, util)
    return True


def salt_remount(
    name: str,
    device: str,
    mkmnt: bool = False,
    fstype: str = "",
    opts: str | Sequence[str] = "defaults",
    user: str | None = None,
) -> bool:
    """Mount again with other options, or for the first time. Raises StateFailed with what mount
    says. Arguments as those of mount.mount.
    """
    if not is_mounted(name):
        return salt_mount(name, device, mkmnt, fstype, opts, user)
    remount(name, device, fstype, parsed_options(opts))
    return True


def salt_umount(
    name: str,
    device: str | None = None,
    user: str | None = None,
    util: str = "mount",
    lazy: bool = False,
) -> bool:
    """Unmount a folder. Raises StateFailed when nothing is mounted there, or it is busy.

    device: only when this one is mounted there. lazy: now for new programs, when it is free for
    those that use it. user, util: accepted.
    """
    present = active_mounts().get(_paths.realpath(name))
    if present is None:
        raise StateFailed(f"{name} does not have anything mounted")
    if device and _paths.realpath(device) != _paths.realpath(present.device):
        raise StateFailed(f"{name} has {present.device} mounted, not {device}")
    umount(name, lazy)
    return True


def salt_swapon(name: str, priority: int | None = None) -> dict[str, Any]:
    """Swap to a device or file: {stats, new}. Raises StateFailed with what swapon says."""
    if name in swaps():
        return {"stats": swaps()[name], "new": False}
    swapon(name, priority)
    return {"stats": swap_facts(name), "new": True}


def salt_swapoff(name: str) -> bool | None:
    """Swap to a device or file no more; null when nobody did. Raises StateFailed with what swapoff
    says.
    """
    if name not in swaps():
        return None
    swapoff(name)
    return name not in swaps()


def get_device_from_path(path: str) -> str | None:
    """The device that a path is on; null where the kernel names none."""
    mounted = active_mounts().get(get_mount_from_path(path))
    return mounted.device if mounted else None


def is_fuse_exec(cmd: str) -> bool:
    """Return whether a program mounts by FUSE: it is linked with libfuse."""

    program = _paths.which(cmd)
    if program is None:
        return False
    with _paths.open_bytes(program) as binary:  # ldd may run what it looks at
        return b"libfuse" in binary.read(64 << 20)
