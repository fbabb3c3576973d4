"""Mounts and /etc/fstab."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from modules import cmd, file
from modules._lines import encoded, one_line, plain_name, split
from runner.api import Record, StateFailed, changer

FSTAB = "/etc/fstab"


class Mounted(Record):
    """One mount. options: of the mount and of its super block, together."""

    device: str
    fstype: str
    options: tuple[str, ...]
    root: str = "/"  # of a bind mount: what of the device is seen


class Entry(Record):
    """One line of fstab."""

    device: str
    name: str
    fstype: str
    opts: str = "defaults"
    dump: str = "0"
    pass_num: str = "0"

    @property
    def line(self) -> str:
        device, name = (_escaped(part) for part in (self.device, self.name))
        line = f"{device}\t\t{name}\t{self.fstype}\t{self.opts}\t{self.dump} {self.pass_num}"
        return one_line(line, "the entry of fstab")


def _escaped(text: str) -> str:
    """A text as one field of fstab: what would end it is written as a backslash and three octal
    digits.
    """
    return "".join(f"\\{ord(letter):03o}" if letter in "\\ \t\n#" else letter for letter in text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def active_mounts() -> dict[str, Mounted]:
    """The mounts by their folders; of several mounts on a folder the last."""
    mounts = {}
    for line in (
        file.read_bytes("/proc/self/mountinfo").decode("utf-8", "surrogateescape").splitlines()
    ):
        first, _, second = line.partition(" - ")
        fields, (fstype, device, superblock) = first.split(" "), second.split(" ", 2)
        options = (*fields[5].split(","), *superblock.split(","))
        mounts[_unescaped(fields[4])] = Mounted(
            _unescaped(device), fstype, options, _unescaped(fields[3])
        )
    return mounts


def active(extended: bool = False) -> dict[str, dict[str, Any]]:
    """The mounts by their folders.

    {{ salt['mount.active']() }}
    """
    return {
        name: {"device": mounted.device, "fstype": mounted.fstype, "opts": list(mounted.options)}
        for name, mounted in active_mounts().items()
    }


def is_mounted(name: str) -> bool:
    """Return whether something is mounted at a folder."""
    return os.path.realpath(name) in active_mounts()


def _lines(config: str) -> list[str]:
    return (
        split(file.read_bytes(config).decode("utf-8", "surrogateescape"))
        if file.is_file(config)
        else []
    )


def _parsed(line: str) -> Entry | None:
    words = line.split()
    if len(words) < 3 or line.lstrip().startswith("#"):
        return None
    words += ["defaults", "0", "0"][len(words) - 3 :]
    return Entry(_unescaped(words[0]), _unescaped(words[1]), *words[2:6])


def entries(config: str = FSTAB) -> list[Entry]:
    """The lines of fstab."""
    return [entry for entry in map(_parsed, _lines(config)) if entry]


def fstab(config: str = FSTAB) -> dict[str, dict[str, Any]]:
    """The lines of fstab by their mount points."""
    return {
        entry.name: {
            "device": entry.device,
            "fstype": entry.fstype,
            "opts": entry.opts.split(","),
            "dump": entry.dump,
            "pass": entry.pass_num,
        }
        for entry in entries(config)
    }


def put_entry(entry: Entry, config: str = FSTAB, by_device: bool = False) -> None:
    """Write a line of fstab, instead of the one with the same mount point (or device)."""
    lines = _lines(config)
    at = [
        i for i, line in enumerate(lines) if (old := _parsed(line)) and _same(old, entry, by_device)
    ]
    if at:
        lines[at[0]] = entry.line
    else:
        lines.append(entry.line)
    _write(config, [line for i, line in enumerate(lines) if i not in at[1:]])


def drop_entry(name: str, device: str | None = None, config: str = FSTAB) -> None:
    """Remove the lines of a mount point, of one device if given."""
    remaining = []
    for line in _lines(config):
        old = _parsed(line)
        if old is None or old.name != name or (device and old.device != device):
            remaining.append(line)
    _write(config, remaining)


def _same(old: Entry, new: Entry, by_device: bool) -> bool:
    return (
        (old.device, old.fstype) == (new.device, new.fstype) if by_device else old.name == new.name
    )


def _write(config: str, lines: Sequence[str]) -> None:
    data = encoded(lines)
    file.write(config, data, mode=None if file.is_file(config) else "0644")
    if os.path.isdir("/run/systemd/system"):
        cmd.execute(["systemctl", "daemon-reload"])


@changer(touches=["mounts", "files"])
def mount(
    name: str,
    device: str,
    fstype: str = "",
    opts: str = "defaults",
    user: str | None = None,
    util: str = "mount",
) -> None:
    """Mount a device. Raises StateFailed with what mount says."""
    if not user:
        file.real_path(name)  # through no link of somebody else
    words = [util, "-o", opts, *(["-t", fstype] if fstype else []), "--", device, name]
    _run(["runuser", "-u", plain_name(user, "the user's name"), "--", *words] if user else words)


@changer(touches=["mounts", "files"])
def remount(name: str, device: str, fstype: str = "", opts: str = "defaults") -> None:
    """Mount again with other options. Raises StateFailed with what mount says."""
    options = ",".join(opt for opt in opts.split(",") if opt != "defaults")
    _run(
        [
            "mount",
            "-o",
            f"remount,{options}" if options else "remount",
            *(["-t", fstype] if fstype else []),
            "--",
            device,
            name,
        ]
    )


@changer(touches=["mounts", "files"])
def umount(name: str, lazy: bool = False) -> None:
    """Unmount a folder. Raises StateFailed with what umount says, and who keeps it busy."""
    try:
        _run(["umount", *(["-l"] if lazy else []), "--", name])
    except StateFailed as failure:
        users = (
            cmd.probe(["fuser", "-vm", plain_name(name, "the folder")]).stderr
            if cmd.has_exec("fuser")
            else ""
        )
        who = "".join(f"\n{' '.join(line.split())}" for line in users.splitlines()[1:])
        raise StateFailed(f"{failure.message}{who}") from None


def device_of(name: str) -> str:
    """The device that has a UUID, a label, ... (`UUID=...`); empty when there is none."""
    return cmd.probe(["findfs", plain_name(name, "the device")]).stdout.strip()


def swaps() -> dict[str, dict[str, str]]:
    """The devices and files that are swapped to, with what the kernel says of them.

    {{ salt['mount.swaps']() | json }}
    """
    lines = (
        file.read_bytes("/proc/swaps").decode().splitlines()[1:]
        if file.is_file("/proc/swaps")
        else []
    )
    keys = ("type", "size", "used", "priority")
    return {
        _unescaped(words[0]): dict(zip(keys, words[1:], strict=False))
        for words in map(str.split, lines)
    }


def swap_facts(name: str) -> dict[str, str]:
    """The kernel's entry of a device or file that is swapped to, or the one that it will probably
    have.
    """
    known = swaps()
    kind, size = ("file", file.stat(name).size // 1024) if file.is_file(name) else ("partition", 0)
    guess = {"type": kind, "size": str(size), "used": "0", "priority": "-2"}
    return known.get(name) or known.get(os.path.realpath(name)) or guess


@changer(touches=["mounts"])
def swapon(name: str, priority: int | None = None) -> None:
    """Swap to a device or file."""
    _run(["swapon", *(["-p", str(priority)] if priority is not None else []), "--", name])


@changer(touches=["mounts"])
def swapoff(name: str) -> None:
    """Swap to a device or file no more."""
    _run(["swapoff", "--", name])


def _run(argv: Sequence[str]) -> None:
    done = cmd.execute(list(argv))
    if done.retcode:
        raise StateFailed(done.stderr or done.stdout or f"{argv[0]} failed with {done.retcode}")
