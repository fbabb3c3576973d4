# SPDX-License-Identifier: Apache-2.0
"""Mounts and lines of fstab as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file, mount
from runner.api import Resource
from states._mount import INVISIBLE, missing_options

ROLE = "storage"
FSTAB = "/etc/fstab"


def resources(name: str | None) -> Iterator[Resource]:
    """Mounts, lines of fstab and active swaps."""
    lines = {entry.name: entry for entry in mount.entries() if entry.fstype != "swap"}
    active = mount.active_mounts()
    for mount_point in sorted({*lines, *active}) if name is None else [name.rstrip("/") or "/"]:
        present = active.get(file.real_path(mount_point))
        if present is not None and not file.is_dir(mount_point):
            yield Resource(
                "",
                mount_point,
                note=f"{mount_point}: what is mounted there is a file, which no state manages",
                shipped=True,
            )
        elif present is not None:
            yield _mounted(mount_point, present, lines.get(mount_point))
        elif mount_point in lines:
            yield _line(lines[mount_point])
        elif not (name and name in mount.swaps()):
            yield Resource("mount.unmounted", mount_point)
    yield from _swaps(name)


def _swaps(name: str | None) -> Iterator[Resource]:
    lines = {entry.device: entry for entry in mount.entries() if entry.fstype == "swap"}
    active = mount.swaps()
    for device in active:
        if name in (None, device):
            known = device in lines
            arguments = {} if known else {"persist": False}
            yield Resource("mount.swap", device, arguments, shipped=not known, files=(FSTAB,))
    for device, entry in lines.items():
        if name is None and device not in active:
            yield _line(entry)


def _mounted(name: str, present: mount.Mounted, line: mount.FstabEntry | None) -> Resource:
    if line is None:
        opts = list(dict.fromkeys(present.options))
        arguments: dict[str, Any] = {
            "device": present.device,
            "fstype": present.fstype,
            "opts": opts,
            "persist": False,
        }
        note = (
            f"what is seen is {present.root} of it"
            if present.root != "/" and present.device.startswith("/")
            else ""
        )
        return Resource("mount.mounted", name, arguments, note, shipped=True)
    opts = list(line.opts)
    arguments = {"device": line.device, "fstype": line.fstype, "opts": opts}
    arguments |= {
        key: int(text)
        for key, text in (("dump", line.dump), ("pass_num", line.pass_num))
        if text != "0"
    }
    hidden = [mount.key_of(option) for option in missing_options(present, opts, INVISIBLE)]
    arguments |= {"hidden_opts": hidden} if hidden else {}
    arguments |= {"mkmnt": True} if name != "/" else {}
    return Resource("mount.mounted", name, arguments, files=(FSTAB,))


def _line(entry: mount.FstabEntry) -> Resource:
    arguments: dict[str, Any] = {
        "fs_file": entry.name,
        "fs_vfstype": entry.fstype,
        "fs_mntops": list(entry.opts),
    }
    arguments |= {
        key: int(text)
        for key, text in (("fs_freq", entry.dump), ("fs_passno", entry.pass_num))
        if text != "0"
    }
    arguments["mount"] = False
    return Resource("mount.fstab_present", entry.device, arguments, files=(FSTAB,))
