# SPDX-License-Identifier: Apache-2.0
"""Mounts and swap as the plans of a dry run so far would leave them, with what is seen in the
folders then.
"""

from __future__ import annotations

import stat as bits
from collections.abc import Mapping
from typing import Any, TypeVar

from modules._planned.files import Entry, planned_files
from runner.api import here, leave_pending

T = TypeVar("T")
OPPOSITES = {"ro": "rw", "rw": "ro"} | {
    key: value
    for name in ("exec", "suid", "dev", "diratime", "symfollow")
    for key, value in ((name, f"no{name}"), (f"no{name}", name))
}
ATIME = {"atime", "noatime", "relatime", "strictatime"}  # one of them at a time


def merged(kind: str, machine: Mapping[str, T]) -> dict[str, T]:
    """Return what is there, with what was planned of it ("mounts", "swaps")."""
    planned: Mapping[str, T | None] = here.store(f"planned {kind}") if here.dry else {}
    return {key: value for key, value in {**machine, **planned}.items() if value is not None}


def plan_swap(name: str, facts: Mapping[str, str] | None) -> None:
    """Plan that a device or file is swapped to, or (None) is not."""
    here.store("planned swaps")[name] = facts


def plan_options(mounted: Any, path: str, options: list[str]) -> None:
    """Plan that a mount has further options."""
    here.store("planned mounts")[path] = mounted._replace(
        options=combined(mounted.options, options)
    )


def combined(options: tuple[str, ...], wanted: list[str]) -> tuple[str, ...]:
    """Options, changed by others."""
    keys = {option.partition("=")[0] for option in wanted if "=" in option}
    opposite = {OPPOSITES.get(option, "") for option in wanted}
    opposite |= ATIME if ATIME & {*wanted} else set()
    kept = [
        option
        for option in options
        if option not in opposite and option.partition("=")[0] not in keys
    ]
    return tuple(dict.fromkeys([*kept, *wanted]))


def plan_mount(path: str, mounted: Any, before: Any, bound: str, options: list[str]) -> None:
    """Plan a mount. mounted: its record; before: that of what is mounted there by now, or None.
    bound: the folder that is seen there, of a bind mount.
    """
    here.store("planned mounts")[path] = mounted
    files = planned_files()
    assert files is not None
    way = files.way(path, follow=True)
    seen = _seen(mounted.fstype, bound, options)
    folder = files.hold(way)
    here.store("planned over").setdefault(path, []).append((before, folder.child(way.name)))
    if seen is None:
        leave_pending()  # nobody knows what is on the device
    else:
        folder.names[way.name] = seen


def plan_unmount(path: str) -> None:
    """Plan that what is mounted is not mounted any more."""
    covered = here.store("planned over").get(path)
    before, entry = covered.pop() if covered else (None, None)
    here.store("planned mounts")[path] = before
    files = planned_files()
    if entry is not None and files is not None:
        way = files.way(path, follow=True)
        files.hold(way).names[way.name] = entry
    else:
        leave_pending()  # nobody knows what the folder holds below its mount


def _seen(fstype: str, bound: str, options: list[str]) -> Entry | None:
    """Return what a folder will show; None where that is not known."""
    files = planned_files()
    if bound and files is not None:
        way = files.way(bound, follow=True)
        entry = way.entry()
        if entry is not None and way.name != ".":
            files.hold(way).names[way.name] = entry  # a change in one place is seen in the other
            return entry
    if fstype != "tmpfs":
        return None
    values = dict(option.partition("=")[::2] for option in options)
    if not all(values.get(key, "0").isdigit() for key in ("uid", "gid", "mode")):
        return None  # names of users
    mode = int(values.get("mode", "1777"), 8)
    uid, gid = (int(values.get(key, "0")) for key in ("uid", "gid"))
    return Entry(bits.S_IFDIR | mode, uid, gid)
