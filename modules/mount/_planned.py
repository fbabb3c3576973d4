# SPDX-License-Identifier: Apache-2.0
"""Mounts and swap as the plans of a dry run so far would leave them, with what is seen in the
folders then.
"""

from __future__ import annotations

import stat as bits
from typing import TYPE_CHECKING

from modules._planned.files import Entry, planned_files
from modules._planned.overlay import planned_machine, tell_otherwise
from runner.api import leave_pending

if TYPE_CHECKING:
    from modules.mount import Mounted

OPPOSITES = {"ro": "rw", "rw": "ro"} | {
    key: value
    for name in ("exec", "suid", "dev", "diratime", "symfollow")
    for key, value in ((name, f"no{name}"), (f"no{name}", name))
}
ATIME = {"atime", "noatime", "relatime", "strictatime"}  # one of them at a time


def plan_options(mounted: Mounted, path: str, options: list[str]) -> None:
    """Plan that a mount has further options."""
    planned_machine().mounts[path] = mounted._replace(options=combined(mounted.options, options))
    tell_otherwise(path)


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


def plan_mount(
    path: str, mounted: Mounted, before: Mounted | None, bound: str, options: list[str]
) -> None:
    """Plan a mount. mounted: its record; before: that of what is mounted there by now, or None.
    bound: the folder that is seen there, of a bind mount.
    """
    planned_machine().mounts[path] = mounted
    tell_otherwise(path)
    files = planned_files()
    assert files is not None
    way = files.way(path, follow=True)
    seen = _seen(mounted.fstype, bound, options)
    folder = files.hold(way)
    planned_machine().covered.setdefault(path, []).append((before, folder.child(way.name)))
    if seen is None:
        leave_pending()  # nobody knows what is on the device
    else:
        folder.names[way.name] = seen


def plan_unmount(path: str) -> None:
    """Plan that what is mounted is not mounted any more."""
    covered = planned_machine().covered.get(path)
    before, entry = covered.pop() if covered else (None, None)
    planned_machine().mounts[path] = before
    tell_otherwise(path)
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
