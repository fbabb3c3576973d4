# SPDX-License-Identifier: Apache-2.0
"""Mounts and /etc/fstab."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from modules import _paths, cmd, file, service
from modules._planned.machine import merged
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import LinesBy, encoded, fields, once_a_line, one_line, plain_name, split
from modules.mount import _planned, _refusals
from runner.api import FormerState, Record, StateFailed, Unforeseen, changer, for_states, lies_in
from runner.api import on_demand as _on_demand
from runner.api import unescaped as unescaped
from runner.api.offline import of_running

FSTAB = "/etc/fstab"
SEE = "dmesg(1) may have more information"  # what mount says of each failure


class Mounted(Record):
    """One mount. options: of the mount and of its super block, together."""

    device: str
    fstype: str
    options: tuple[str, ...]
    root: str = "/"  # of a bind mount: what of the device is seen
    superblock: tuple[str, ...] = ()
    number: str = ""
    parent: str = ""
    device_number: str = ":"

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of the mount itself, without those of its super block."""
        return self.options[: len(self.options) - len(self.superblock)]


class FstabEntry(Record):
    """One line of fstab."""

    device: str
    name: str
    fstype: str
    opts: tuple[str, ...] = ("defaults",)
    dump: str = "0"
    pass_num: str = "0"

    @property
    def line(self) -> str:
        device, name = (_escaped(part) for part in (self.device, self.name))
        opts = _escaped(",".join(self.opts), "\\ \t")
        line = f"{device}\t\t{name}\t{self.fstype}\t{opts}\t{self.dump} {self.pass_num}"
        return one_line(line, "the entry of fstab")


@for_states
def bare(name: str) -> str:
    """A folder, whatever slashes its name ends with."""
    return name.rstrip("/") or "/"


def _escaped(text: str, letters: str = "\\ \t\n#") -> str:
    """A text as one field of fstab: what would end it is written as a backslash and three octal
    digits.
    """
    return "".join(f"\\{ord(letter):03o}" if letter in letters else letter for letter in text)


@for_states
def parsed_options(opts: str | Sequence[str]) -> tuple[str, ...]:
    """Return options, which are said as a text or as several; `defaults` for none. Spaces beside
    commas belong to none, where nothing is in quotes.

    >>> parsed_options("noatime, nodev")
    ('noatime', 'nodev')
    """
    texts = [opts] if isinstance(opts, str) else opts
    options = (
        option if '"' in text else option.strip(" ") for text in texts for option in text.split(",")
    )
    return (*filter(None, options),) or ("defaults",)


@for_states
def key_of(option: str) -> str:
    """Return the name of an option, without its value."""
    return option.partition("=")[0]


def active_mounts() -> dict[str, Mounted]:
    """The mounts by their folders; of several mounts on a folder the last."""
    mounts = {}
    text = file.read_bytes("/proc/self/mountinfo").decode("utf-8", "surrogateescape")
    for line in split(text):
        first, _, second = line.partition(" - ")
        fields, (fstype, device, superblock) = first.split(" "), second.split(" ", 2)
        options = (*fields[5].split(","), *superblock.split(","))
        mounts[unescaped(fields[4])] = Mounted(
            unescaped(device),
            fstype,
            options,
            unescaped(fields[3]),
            tuple(superblock.split(",")),
            *fields[:3],
        )
    return merged(mounts, planned_machine().mounts)


def bound_folders(name: str, mounted: Mounted) -> list[str]:
    """Where else what is mounted is seen: what a bind mount was made of comes first."""
    places = []
    for other, mount_ in active_mounts().items():
        inner = os.path.relpath(mounted.root, mount_.root)
        if mount_.device_number == mounted.device_number and inner.split("/")[0] != "..":
            if not lies_in(other, name):
                places.append((len(mount_.root), os.path.normpath(os.path.join(other, inner))))
    return [place for _, place in sorted(places)]


def is_of(name: str, mounted: Mounted, device: str) -> bool:
    """Return whether what is mounted is a device (UUID=, LABEL= too), an image (by a loop device),
    or a bind mount of a folder.
    """
    if not device.startswith("/") and device != mounted.device:
        device = device_of(device) or device
    where = file.real_path(device) if device.startswith("/") else device
    known = file.real_path(mounted.device) if mounted.device.startswith("/") else mounted.device
    return where in (known, _image(mounted)) or where in bound_folders(name, mounted)


def _image(mounted: Mounted) -> str:
    """The file that a loop device shows; empty for another device."""
    return _device_fact(mounted, "loop/backing_file")


def is_write_protected(mounted: Mounted) -> bool:
    """Return whether the device of a mount can only be read."""
    return _device_fact(mounted, "ro") == "1"


def _device_fact(mounted: Mounted, fact: str) -> str:
    """Return what the kernel says of the device of a mount; empty where it has none."""
    path = f"/sys/dev/block/{mounted.device_number}/{fact}"
    if not file.is_file(path):
        return ""
    return file.read_bytes(path).decode("utf-8", "surrogateescape").removesuffix("\n")


# the flags of a mount that options switch on, each with the option that switches it off
FLAGS = {f"no{name}": name for name in ("exec", "suid", "dev", "diratime", "symfollow")}
FLAGS |= {"ro": "rw", "noatime": "relatime"}
IMPLIED = {  # what further flags an option brings
    **dict.fromkeys(("user", "users"), ("noexec", "nosuid", "nodev")),
    **dict.fromkeys(("owner", "group"), ("nosuid", "nodev")),
}
READ_ONLY = ("cramfs", "erofs", "iso9660", "romfs", "squashfs")
OF_THE_SYSTEM = (
    "/dev/",
    "/proc/",
    "/run/",
    "/sys/",
)  # their mounts have flags that no fstab gave them


def further_flags(name: str, device: str, options: Sequence[str]) -> list[str]:
    """The flags that a mount has and that its options do not ask for: each with a value of FLAGS
    that a remount needs to be rid of it. Those that it has by itself do not count.
    """
    path = file.real_path(name)
    present = active_mounts()[path]
    if present.fstype.startswith("fuse") or f"{path}/".startswith(OF_THE_SYSTEM):
        return []
    wanted = _flags(options)
    if {"bind", "rbind"} & {*options} and device.startswith("/"):
        wanted |= {*active_mounts()[get_mount_from_path(device)].flags}
    if present.fstype in READ_ONLY or is_write_protected(present):
        wanted.add("ro")
    if wanted & {"relatime", "strictatime"}:  # they do it themselves
        wanted.add("noatime")
    return [flag for flag in present.flags if flag in FLAGS and flag not in wanted]


def _flags(options: Sequence[str]) -> set[str]:
    """Return what is on when options are read one after the other."""
    found: set[str] = set()
    off = {value: key for key, value in FLAGS.items()}
    for option in options:
        found.update(IMPLIED.get(option, (option,)))
        found.discard(off.get(option, ""))
    return found


@for_states
def shows(name: str, device: str) -> bool:
    """Return whether what is mounted at a folder is a device, or what another folder shows."""
    path = file.real_path(name)
    mounted = active_mounts().get(path)
    return mounted is not None and is_of(path, mounted, device)


def active(extended: bool = False) -> dict[str, dict[str, Any]]:
    """The mounts by their folders. extended: with their numbers and the options of the file system.

    {{ salt['mount.active']() }}
    """
    mounts = {}
    for name, mounted in active_mounts().items():
        facts: dict[str, Any] = {
            "device": mounted.device,
            "alt_device": mounted.device,
            "fstype": mounted.fstype,
            "opts": list(mounted.options),
        }
        if extended:
            major, _, minor = mounted.device_number.partition(":")
            facts |= {
                "mountid": mounted.number,
                "parentid": mounted.parent,
                "major": major,
                "minor": minor,
                "root": mounted.root,
                "opts": list(mounted.flags),
                "superopts": list(mounted.superblock),
            }
        mounts[name] = facts
    return mounts


def is_mounted(name: str) -> bool:
    """Return whether something is mounted at a folder."""
    return _paths.realpath(name) in active_mounts()


@once_a_line
def _parsed(line: str) -> FstabEntry | None:
    words = fields(line)
    if len(words) < 3 or words[0].startswith("#"):
        return None
    words += ["defaults", "0", "0"][len(words) - 3 :]
    device, name, fstype, opts, dump, pass_num = words[:6]
    options = tuple(unescaped(opts).split(","))
    return FstabEntry(unescaped(device), bare(unescaped(name)), fstype, options, dump, pass_num)


def entries(config: str = FSTAB) -> list[FstabEntry]:
    """The lines of fstab."""
    return [entry for entry in map(_parsed, split(file.text_to_edit(config))) if entry]


@cache
def _by_columns(keys: tuple[str, ...]) -> LinesBy:
    """The lines by some of their columns."""
    columns = attrgetter(*keys)
    return LinesBy(lambda line: [columns(entry)] if (entry := _parsed(line)) else [])


def fstab(config: str = FSTAB) -> dict[str, dict[str, Any]]:
    """The lines of fstab by their mount points."""
    return {
        entry.name: {
            "device": entry.device,
            "fstype": entry.fstype,
            "opts": list(entry.opts),
            "dump": entry.dump,
            "pass": entry.pass_num,
        }
        for entry in entries(config)
    }


@for_states
def matching(
    entry: FstabEntry, config: str = FSTAB, keys: Sequence[str] = ("name",)
) -> list[FstabEntry]:
    """The lines of fstab that an entry takes the place of: those with the same of these columns."""
    lines = _by_columns(tuple(keys))(file.text_to_edit(config)).get(attrgetter(*keys)(entry), ())
    return [entry for entry in map(_parsed, lines) if entry]


def put_entry(entry: FstabEntry, config: str = FSTAB, keys: Sequence[str] = ("name",)) -> None:
    """Write a line of fstab, instead of those with the same of these columns."""
    _replace_entries(config, matching(entry, config, keys), entry)


@for_states
def lines_of(name: str, device: str | None = None, config: str = FSTAB) -> list[FstabEntry]:
    """The lines of fstab for a folder, of one device if given."""
    found = [entry for entry in entries(config) if entry.name == bare(name)]
    return [entry for entry in found if not device or entry.device == device]


def drop_entry(name: str, device: str | None = None, config: str = FSTAB) -> None:
    """Remove the lines of a mount point, of one device if given."""
    gone = lines_of(name, device, config)
    _write(config, [line for line in split(file.text_to_edit(config)) if _parsed(line) not in gone])


def _write(config: str, lines: Sequence[str]) -> None:
    data = encoded(lines)
    file.write(config, data, mode=None if file.is_file(config) else "0644")
    if is_told(config):
        service.systemctl_reload()


@for_states
def is_told(config: str) -> bool:
    """Return whether systemd is told of a new line: it makes units of those of /etc/fstab."""
    return config == FSTAB and _paths.isdir("/run/systemd/system")


@for_states
def former_state(name: str, *_: object, **__: object) -> FormerState:
    """A mount as undo restores it."""
    return _former(name, goes=False)


def _former(name: str, goes: bool) -> FormerState:
    """goes: it is about to be unmounted, and will be a view of where else it is seen. Otherwise
    only the later ones of the mounts of a file system are views of others.
    """
    where = _paths.realpath(name)
    mounted = active_mounts().get(where)
    if mounted is None:
        return FormerState("mount", name, {})
    device, fstype, options = mounted.device, mounted.fstype, mounted.options
    folders = bound_folders(where, mounted)
    is_whole = mounted.root == "/" or f"subvol={mounted.root}" in mounted.superblock
    is_view = goes or _is_later(where, mounted)
    if not is_whole or (is_view and folders and "/" not in device):  # what a bind mount was made of
        device, fstype = folders[0] if folders else "", "none"
        options = ("bind", *mounted.flags)
    state = {"device": device, "fstype": fstype, "options": list(dict.fromkeys(options))}
    return FormerState("mount", name, state)


def _is_later(name: str, mounted: Mounted) -> bool:
    """Return whether the file system of a mount was mounted somewhere else before."""
    earlier = itertools.takewhile(lambda item: item[0] != name, active_mounts().items())
    return any(other.device_number == mounted.device_number for _, other in earlier)


@for_states
def former_swap(name: str, *_: object) -> FormerState:
    """A device or file that is swapped to, as undo restores it."""
    known = swaps()
    facts = known.get(name) or known.get(_paths.realpath(name))
    return FormerState("swap", name, {"priority": facts["priority"]} if facts else {})


def _plan_mount(
    name: str,
    device: str | None,
    fstype: str = "",
    opts: Sequence[str] = ("defaults",),
    user: str | None = None,
    util: str = "mount",
) -> None:
    _refusals.refuse_mount(name, device, fstype, opts, user, util)
    path = file.real_path(name)
    if not _paths.isdir(path):
        raise StateFailed(f"mount: {name}: mount point does not exist.")
    if device is None or user or util != "mount":
        raise Unforeseen(name)
    options = _shown(opts)
    bound = file.real_path(device) if {"bind", "rbind"} & {*opts} else ""
    mounts = active_mounts()
    if bound:
        folder = get_mount_from_path(bound)
        inner = os.path.join(mounts[folder].root, os.path.relpath(bound, folder))
        mounted = mounts[folder]._replace(root=os.path.normpath(inner))
    else:
        shown = file.real_path(device) if device.startswith("/") else device
        mounted = Mounted(shown, fstype, _planned.combined(("rw", "relatime"), options))
    _planned.plan_mount(path, mounted, mounts.get(path), bound, options)


def _plan_remount(
    name: str, device: str, fstype: str = "", opts: Sequence[str] = ("defaults",)
) -> None:
    _refusals.refuse_without_root(name)
    path = file.real_path(name)
    options = _shown(_for_remount(name, device, opts))
    _planned.plan_options(active_mounts()[path], path, options)


def _for_remount(name: str, device: str, opts: Sequence[str]) -> list[str]:
    """The options of a remount: a flag that it does not speak of stays."""
    options = [option for option in opts if option != "defaults"]
    return [*(FLAGS[flag] for flag in further_flags(name, device, options)), *options]


def _plan_unmount(name: str, lazy: bool = False) -> None:
    _refusals.refuse_without_root(name, "umount")
    path, mounts = file.real_path(name), active_mounts()
    there = mounts[path].number if path in mounts else ""
    if there and not lazy:  # of one that is only planned nobody makes use
        _refusals.refuse_umount(name, path, mounts)
    _planned.plan_unmount(file.real_path(name))


def _shown(opts: Sequence[str]) -> list[str]:
    """The options that a mount has then."""
    return [option for option in opts if option not in ("defaults", "bind", "rbind")]


@of_running
@changer(touches=["mounts", "files"], before=former_state, planned=_plan_mount)
def mount(
    name: str,
    device: str | None,
    fstype: str = "",
    opts: Sequence[str] = ("defaults",),
    user: str | None = None,
    util: str = "mount",
) -> None:
    """Mount a device; none: as fstab has it. Raises StateFailed with what mount says."""
    if not user:
        file.real_path(name)  # through no link of somebody else
    if device and util == "mount":
        _refusals.refuse_without_helper(name, fstype, opts)
    words = [util, "-o", ",".join(opts), *(["-t", fstype] if fstype else []), "--"]
    words += [*([device] if device else []), name]
    _run(["runuser", "-u", plain_name(user, "the user's name"), "--", *words] if user else words)


@of_running
@changer(touches=["mounts", "files"], before=former_state, planned=_plan_remount)
def remount(name: str, device: str, fstype: str = "", opts: Sequence[str] = ("defaults",)) -> None:
    """Mount again with other options, without the flags that these do not ask for. Raises
    StateFailed with what mount says.
    """
    options = ",".join(["remount", *_for_remount(name, device, opts)])
    _run(["mount", "-o", options, *(["-t", fstype] if fstype else []), "--", device, name])


@of_running
@changer(
    touches=["mounts", "files"],
    before=lambda name, lazy=False: _former(name, goes=True),
    planned=_plan_unmount,
)
def umount(name: str, lazy: bool = False) -> None:
    """Unmount a folder. Raises StateFailed with what umount says, and who keeps it busy."""
    try:
        _run(["umount", *(["-l"] if lazy else []), "--", name])
    except StateFailed as failure:
        if "busy" in failure.message:
            _refusals.refuse_umount(name, file.real_path(name), active_mounts())
        raise


@for_states
def let_be_away(name: str, device: str, fstype: str, opts: Sequence[str]) -> StateFailed | None:
    """What is not there, where `nofail` has mount do nothing without it."""
    if "nofail" not in opts or _paths.exists(device):
        return None
    return _refusals.lacking_source(name, device, fstype, opts)


def device_of(name: str) -> str:
    """The device that has a UUID, a label, ... (`UUID=...`); empty when there is none."""
    return cmd.probe(["findfs", plain_name(name, "the device")]).stdout.strip()


def swaps() -> dict[str, dict[str, str]]:
    """The devices and files that are swapped to, with what the kernel says of them.

    {{ salt['mount.swaps']() | json }}
    """
    lines = (
        split(file.read_bytes("/proc/swaps").decode("utf-8", "surrogateescape"))[1:]
        if file.is_file("/proc/swaps")
        else []
    )
    keys = ("type", "size", "used", "priority")
    machine = {
        unescaped(words[0]): dict(zip(keys, words[1:], strict=False))
        for words in map(fields, lines)
    }
    return merged(machine, planned_machine().swaps)


def swap_facts(name: str) -> dict[str, str]:
    """The kernel's entry of a device or file that is swapped to, or the one that it will probably
    have.
    """
    known = swaps()
    kind, size = ("file", file.stat(name).size // 1024) if file.is_file(name) else ("partition", 0)
    guess = {"type": kind, "size": str(size), "used": "0", "priority": "-2"}
    return known.get(name) or known.get(_paths.realpath(name)) or guess


def _plan_swapon(name: str, priority: int | None = None) -> None:
    _refusals.refuse_swapon(name, priority)
    own = {} if priority is None else {"priority": str(priority)}
    planned_machine().swaps[name] = {**swap_facts(name), **own}
    tell_otherwise(name)


def _plan_swapoff(name: str) -> None:
    planned_machine().swaps[name] = None
    tell_otherwise(name)


@of_running
@changer(touches=["mounts"], before=former_swap, planned=_plan_swapon)
def swapon(name: str, priority: int | None = None) -> None:
    """Swap to a device or file."""
    _refusals.refuse_swapon(name, priority)
    _run(["swapon", *(["-p", str(priority)] if priority is not None else []), "--", name])


@of_running
@changer(touches=["mounts"], before=former_swap, planned=_plan_swapoff)
def swapoff(name: str) -> None:
    """Swap to a device or file no more."""
    _run(["swapoff", "--", name])


def _run(argv: Sequence[str]) -> None:
    done = cmd.execute(list(argv))
    if done.retcode:
        lines = [line for line in done.error_text.splitlines() if not line.strip().startswith(SEE)]
        raise StateFailed("\n".join(lines) or f"{argv[0]} failed with {done.retcode}")


MATCHED = ("name", "device", "fstype")  # what tells that a line of fstab is the one that is meant
# file systems without a device of their own: their lines are told apart by the mount point
NAMED = tuple("btrfs cgroup tmpfs sysfs proc fusectl debugfs securityfs devtmpfs".split())


@for_states
def match_keys(match_on: str | Sequence[str], fstype: str) -> Sequence[str]:
    """The columns that tell which line of fstab is meant. Raises StateFailed for a wrong one."""
    if match_on in ("auto", ["auto"]):
        return ("name",) if fstype in NAMED else ("device",)
    keys = [match_on] if isinstance(match_on, str) else list(match_on)
    unknown = [key for key in keys if key not in MATCHED]
    if unknown or not keys:
        raise StateFailed(f"match_on: expected auto or some of {', '.join(MATCHED)}, not {unknown}")
    return keys


def _replace_entries(config: str, known: Sequence[FstabEntry], entry: FstabEntry) -> None:
    """Write fstab with an entry instead of some that it has, or at its end."""
    lines = split(file.text_to_edit(config))
    at = [number for number, line in enumerate(lines) if _parsed(line) in known] if known else []
    for number in reversed(at[1:]):
        del lines[number]
    first = at[0] if at else len(lines)
    lines[first : first + 1] = [entry.line]
    _write(config, lines)


def get_mount_from_path(path: str) -> str:
    """The mount point that a path is below.

    {{ salt['mount.get_mount_from_path']('/var/lib/docker') }}
    """
    folder = _paths.realpath(path)
    mounts = active_mounts()
    while folder not in mounts and folder != "/":
        folder = os.path.dirname(folder)
    return folder


# ---------------------------------------------------------------- Salt's functions

_OF_SALT = """
    get_device_from_path is_fuse_exec rm_fstab salt_mount salt_remount salt_swapoff salt_swapon
    salt_umount set_fstab
""".split()

__getattr__, __dir__ = _on_demand(globals(), dict.fromkeys(_OF_SALT, "_salt"))
__func_alias__ = {
    "salt_mount": "mount",
    "salt_remount": "remount",
    "salt_swapoff": "swapoff",
    "salt_swapon": "swapon",
    "salt_umount": "umount",
}
