"""Mounts and lines of fstab as they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from modules import file, mount
from runner.api import Resource
from states._mounted import INVISIBLE, missing_options


def resources(name: str | None) -> Iterator[Resource]:
    """What is mounted, what fstab says of it, and what is swapped to."""
    lines = {entry.name: entry for entry in mount.entries() if entry.fstype != "swap"}
    active = mount.active_mounts()
    for each in sorted({*lines, *active}) if name is None else [name.rstrip("/") or "/"]:
        present = active.get(os.path.realpath(each))
        if present is not None and not file.is_dir(each):
            yield Resource(
                "", each, note=f"{each}: what is mounted there is a file, which no state manages"
            )
        elif present is not None:
            yield _mounted(each, present, lines.get(each))
        elif each in lines:
            yield _line(lines[each])
        elif not (name and name in mount.swaps()):
            yield Resource("mount.unmounted", each)
    kept = {entry.device for entry in mount.entries() if entry.fstype == "swap"}
    for each in mount.swaps():
        if name in (None, each):
            yield Resource("mount.swap", each, {} if each in kept else {"persist": False})


def _mounted(name: str, present: mount.Mounted, line: mount.Entry | None) -> Resource:
    if line is None:
        opts = list(dict.fromkeys(present.options))
        said: dict[str, Any] = {
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
        return Resource("mount.mounted", name, said, note)
    opts = line.opts.split(",")
    said = {"device": line.device, "fstype": line.fstype, "opts": opts}
    said |= {
        key: int(text)
        for key, text in (("dump", line.dump), ("pass_num", line.pass_num))
        if text != "0"
    }
    odd = [option.partition("=")[0] for option in missing_options(present, opts, INVISIBLE)]
    return Resource("mount.mounted", name, said | ({"hidden_opts": odd} if odd else {}))


def _line(entry: mount.Entry) -> Resource:
    said: dict[str, Any] = {
        "fs_file": entry.name,
        "fs_vfstype": entry.fstype,
        "fs_mntops": entry.opts.split(","),
    }
    said |= {
        key: int(text)
        for key, text in (("fs_freq", entry.dump), ("fs_passno", entry.pass_num))
        if text != "0"
    }
    return Resource("mount.fstab_present", entry.device, said)
