# SPDX-License-Identifier: Apache-2.0
"""The difference between a mount as it is and as its state wants it, and the steps between them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from modules import group, mount, user

# what mount takes and the kernel does not show
INVISIBLE = set(
    """
    defaults auto noauto user users nouser owner group nofail _netdev bind rbind rw async exec suid
    dev atime diratime symfollow loop nobootwait intr nointr comment credentials password retry soft
    hard bg fg mand rsize wsize timeo retrans actimeo secretfile port reconnect delay_connect
    direct-io-mode nonempty transform_symlinks backup-volfile-servers
    """.split()
)


# what a file system takes, and does nothing with
IGNORED = {"ramfs": {"size"}}
# what the kernel shows in another form
SHOWN_AS = {"tcp": "proto=tcp", "udp": "proto=udp"}
OF_SWAP = ("device", "fstype")  # the columns of fstab that tell which line swaps to something
# what the kernel does not show of a tmpfs because it is so anyway
DEFAULTS = ("size=50%", "mode=1777", "uid=0", "gid=0", "huge=never")


def told_at_boot(device: str, where: str, fstype: str, opts: str | Sequence[str] | None) -> str:
    """What a line of fstab does at the start of the system; empty for nothing."""
    if "noauto" in mount.parsed_options(opts or ()):
        return ""
    if fstype == "swap":
        return f"Swap {device} is activated at boot"
    return f"{device} is mounted at {where} at boot"


class PendingMount:
    """The pending changes of one mount, and their comment. wanted: None where it is mounted later;
    `when` says it.
    """

    def __init__(
        self,
        name: str,
        wanted: bool | None,
        absent: bool,
        other: bool,
        differing: Sequence[str],
        folder: Literal["there", "made", "missing"],
        line: str,
        persist: bool,
        when: str,
    ) -> None:
        self.name = name
        self.mounts = bool(wanted) and (absent or other)
        self.unmounts_first = bool(wanted) and other
        self.remounts = bool(wanted) and not absent and not other and bool(differing)
        self.makes_folder = wanted is not False and folder == "made"
        self.missing = folder == "missing"
        self.options = ",".join(sorted(map(_kernel_form, differing)))
        self.changes: dict[str, Any] = {}
        if self.mounts:
            self.changes["mount"] = True
        if self.unmounts_first:
            self.changes["umount"] = "Forced unmount because devices don't match"
        if self.remounts:
            self.changes["umount"] = f"Forced remount because options ({self.options}) changed"
        if line != "kept":
            self.changes["persist"] = "new" if line == "new" else "update"
        self.already = f"Target was already mounted{'.' if persist else ''}"
        if not wanted:
            self.already = f"{name} not {'present and not ' if self.missing else ''}mounted."
        if wanted is None:
            self.already = f"{name} is mounted {when}." if persist else f"{name} is not mounted."
            if self.makes_folder:
                self.changes["folder"] = "new"
        self.comment = self._comment(wanted, line)

    def _comment(self, wanted: bool | None, line: str) -> str:
        if self.mounts:
            return f"{self.name} would be {'created and ' if self.makes_folder else ''}mounted"
        if wanted is None:
            return self.already
        parts = [
            f"{self.name} would not be mounted." if not wanted else "Target was already mounted."
        ]
        if not wanted and self.missing:
            parts = [f"{self.name} does not exist and would neither be created nor mounted."]
        if self.remounts:
            return f"Remount would be forced because options ({self.options}) changed"
        if line == "new":
            parts.append(
                f"{self.name} needs to be written to the fstab in order to be made persistent."
            )
        elif line != "kept":
            parts.append(f"{self.name} entry in the fstab needs to be updated.")
        return " ".join(parts)


def missing_options(present: mount.Mounted, options: Sequence[str], hidden: set[str]) -> list[str]:
    """The options that a mount should have and does not show."""
    active = {*present.options, *map(_comparable, present.options)}
    keys = {mount.key_of(option) for option in active}
    if not active & {"relatime", "noatime"}:
        active.add("strictatime")
    if present.fstype == "tmpfs":
        active |= {option for option in DEFAULTS if mount.key_of(option) not in keys}
    return [
        option
        for option in options
        if (key := mount.key_of(option)) not in hidden
        and not key.startswith(("x-", "comment"))
        and option not in active
        and _comparable(option) not in active
    ]


def former_options(
    present: mount.Mounted, options: Sequence[str], former: Sequence[str]
) -> list[str]:
    """The options that a mount shows because its line of fstab has them (former), and is to have no
    more.
    """
    keys = {mount.key_of(option) for option in (*options, *mount.FLAGS)}
    shown = {*map(_comparable, present.options)}
    return [
        option
        for option in former
        if mount.key_of(option) not in keys | INVISIBLE and _comparable(option) in shown
    ]


def back_to_default(fstype: str, options: Sequence[str]) -> list[str]:
    """Return what a remount is told to be rid of options; most file systems know nothing."""
    keys = {mount.key_of(option) for option in options}
    known = DEFAULTS if fstype == "tmpfs" else ()
    return [option for option in known if mount.key_of(option) in keys & {"size", "huge"}]


def _comparable(option: str) -> str:
    """An option in the one form that its spellings have: mode=0755 is mode=755, nr_inodes=10k is
    nr_inodes=10240, uid=root is uid=0.
    """
    key, equals, value = option.partition("=")
    if key == "mode" and value.isdigit():
        return f"mode={value.lstrip('0') or '0'}"
    if key == "nr_inodes":
        size = _size(value)
        return option if size == value else f"{key}={int(size) * 1024}"
    if key == "size":
        return f"size={_whole_pages(value)}"
    if key == "uid":
        return f"uid={user.info(value).get('uid', value)}"
    if key == "gid":
        return f"gid={group.info(value).get('gid', value)}"
    return f"{key}{equals}{_size(value)}"


def _whole_pages(size: str) -> str:
    """The size of a tmpfs in kibibytes: of a number of bytes, of kibibytes and the like, or of a
    part of the memory.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    if size.isdigit():
        pages = -(-int(size) // page)
    elif size.endswith("%") and size[:-1].isdigit():
        pages = -(-os.sysconf("SC_PHYS_PAGES") * int(size[:-1]) // 100)
    elif _size(size).isdigit():
        pages = -(-int(_size(size)) * 1024 // page)
    else:
        return size
    return str(pages * page // 1024)


def _kernel_form(option: str) -> str:
    """An option as the kernel shows it: sizes in kibibytes."""
    key, equals, value = option.partition("=")
    size = _size(value)
    return f"{key}{equals}{value if size == value else f'{size}k'}"


def _size(value: str) -> str:
    """Sizes in kibibytes, as the kernel shows them."""
    unit = {"k": 1, "m": 1024, "g": 1024**2}.get(value[-1:].lower())
    return str(int(value[:-1]) * unit) if unit and value[:-1].isdigit() else value
