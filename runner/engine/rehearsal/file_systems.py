# SPDX-License-Identifier: Apache-2.0
"""What a copy of this machine sees as its files: an overlay over each file system of the machine.

Every file system with data gets an overlay of its own, whose changes lie in memory. /proc, /sys and
/dev are new, /run is empty: no socket of the machine can be reached. (A socket, pipe or device file
below another folder is one of the overlay's: nobody listens behind it.)

A plain user may not lay an overlay over a folder that has mounts below it: the tree is then
composed of overlays of the folders between them.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from runner.engine.rehearsal.namespaces import (
    BIND,
    NO_DEVICES,
    NO_PROGRAMS,
    NO_SUID,
    READ_ONLY,
    RECURSIVE,
    REMOUNT,
    mount,
)
from runner.model.paths import lies_in, unescaped
from runner.model.records import Record

DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
NEW = ("/proc", "/sys", "/dev")  # made anew, with all that is mounted below them
# of the kernel, not of a disk
WITHOUT_DATA = re.compile(
    "autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|efivarfs|fusectl|hugetlbfs"
    "|mqueue|nsfs|proc|pstore|ramfs|rootfs|rpc_pipefs|securityfs|selinuxfs|sysfs|tracefs"
)
WORLD_WRITABLE = ("/tmp", "/var/tmp")
LARGEST_FILE = 16 << 20  # a file that is itself a mount point is copied
FLAGS = {"ro": READ_ONLY, "nosuid": NO_SUID, "noexec": NO_PROGRAMS}
_PATH = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Mounted(Record):
    """A file system of this machine. flags: of mount(2), as far as the copy keeps them."""

    number: str
    path: str
    kind: str
    flags: int


class Changed(Record):
    """Where the changes of one file system are. path: what it is over. upper: its folder, seen
    from the process that holds the copy.
    """

    path: str
    upper: str


def mounted(text: str) -> list[Mounted]:
    """The mounts that a mountinfo file lists.

    >>> mounted("23 1 8:1 / /my\\\\040data ro,nosuid shared:1 - ext4 /dev/sda1 rw")
    [Mounted(number='23', path='/my data', kind='ext4', flags=3)]
    """
    rows = []
    for line in filter(None, text.split("\n")):  # paths may have other line ends and spaces
        fields = line.split(" ")
        words = set(fields[5].split(","))
        flags = sum(flag for word, flag in FLAGS.items() if word in words)
        rows.append(Mounted(fields[0], unescaped(fields[4]), fields[fields.index("-") + 1], flags))
    return rows


def below(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of some folders or below one.

    >>> below("/proc/sys", ["/proc"]), below("/process", ["/proc"])
    (True, False)
    """
    return any(lies_in(path, folder) for folder in folders)


class View:
    """The tree of files of a copy while it is made.

    scratch: an empty file system in memory; the changes go to `upper` and the tree is at `root`
    there. warnings: what the copy cannot show. changes: where the changes of each overlay are.
    """

    def __init__(self, scratch: str, left_out: tuple[str, ...], options: str) -> None:
        self.scratch, self.options = scratch, options
        self.root = f"{scratch}/root"
        self.left_out = left_out
        self.warnings: list[str] = []
        self.changes: list[Changed] = []
        self._numbers = count()
        for name in ("upper", "work", "root"):
            os.mkdir(f"{scratch}/{name}", 0o755)

    def compose_as_root(self, sources: Iterable[tuple[Mounted, int]], layer: str) -> None:
        """Lay an overlay over each file system. sources: them, and a descriptor of each.

        layer: a folder of what the copy has in / beyond this machine's own files.
        """
        for item, descriptor in sources:
            lower = f"/proc/self/fd/{descriptor}"
            if item.path == "/":
                self._overlay(item, f"{layer}:{lower}" if layer else lower, self.root)
                continue
            try:
                self._mount_below(item, lower)
            except OSError as error:
                self.warnings.append(f"{item.path} is not in the copy: {error.strerror}")
        os.chmod(self.root, stat.S_IMODE(os.stat("/").st_mode))

    def _mount_below(self, item: Mounted, lower: str) -> None:
        mode = os.stat(lower).st_mode
        if stat.S_ISREG(mode):
            self._copy_file(item.path, lower)
        elif stat.S_ISDIR(mode):
            target = self.descend(item.path)
            try:
                self._overlay(item, lower, f"/proc/self/fd/{target}")
            except OSError:
                self._read_only(item, lower, f"/proc/self/fd/{target}")
            finally:
                os.close(target)

    def _read_only(self, item: Mounted, lower: str, target: str) -> None:
        mount(lower, target, flags=BIND)
        self._remount(item.path, READ_ONLY | NO_DEVICES | item.flags)
        self.warnings.append(f"{item.path} ({item.kind}) is read-only in the copy")

    def _overlay(self, item: Mounted, lower: str, target: str, mode: int | None = None) -> None:
        number = next(self._numbers)  # one that could not be mounted has used up its own
        upper, work = (f"{self.scratch}/{kind}/{number}" for kind in ("upper", "work"))
        top = os.stat(lower.rpartition(":")[2])
        for folder in (upper, work):
            os.mkdir(folder, 0o700)
        os.chmod(upper, stat.S_IMODE(top.st_mode) if mode is None else mode)
        with suppress(OSError):  # a user has only the own number
            os.chown(upper, top.st_uid, top.st_gid)
        data = f"lowerdir={lower},upperdir={upper},workdir={work}{self.options}"
        mount("overlay", target, "overlay", NO_DEVICES | item.flags, data)
        self.changes.append(Changed(item.path, upper))

    def descend(self, path: str) -> int:
        """A descriptor of a folder of the tree, made where there is none. Raises OSError."""
        return descend(self.root, path)

    def _copy_file(self, path: str, source: str) -> None:
        if os.stat(source).st_size > LARGEST_FILE:
            self.warnings.append(f"{path} is not in the copy: it is a mount point, and too large")
            return
        folder = self.descend(os.path.dirname(path))
        try:
            target = f"/proc/self/fd/{folder}/{os.path.basename(path)}"
            with suppress(FileNotFoundError):
                os.unlink(target)
            shutil.copy(source, target)
        finally:
            os.close(folder)

    def compose_as_user(self, mounts: Iterable[Mounted]) -> None:
        """Compose the tree of overlays of folders that have no mounts below them."""
        mount(self.root, self.root, flags=BIND)
        points = [item.path for item in mounts if item.path != "/"]
        self._compose("/", points)
        for path in WORLD_WRITABLE:
            if path not in (item.path for item in self.changes) and os.path.isdir(path):
                self._one_folder(path)
        for path in dict.fromkeys(map(_own_part, (os.path.expanduser("~"), os.getcwd()))):
            if path and not below(path, self.left_out):
                self._one_folder(path)

    def _compose(self, folder: str, points: list[str]) -> None:
        """Make a folder of the tree that has mounts below it."""
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return
        for entry in entries:
            path, target = entry.path, f"{self.root}{entry.path}"
            if entry.is_symlink():
                os.symlink(os.readlink(path), target)
            elif entry.is_dir():
                os.mkdir(target, 0o755)
                if below(path, self.left_out):
                    continue
                if any(point.startswith(f"{path}/") for point in points):
                    self._compose(path, points)
                else:
                    self._one_folder(path)
            elif entry.is_file() and entry.stat().st_size <= LARGEST_FILE:
                with suppress(OSError):
                    shutil.copy(path, target)
                    os.chmod(target, stat.S_IMODE(entry.stat().st_mode) & ~0o222)
        os.chmod(f"{self.root}{folder}", 0o555)

    def _one_folder(self, path: str) -> None:
        """Lay an overlay over one folder. What the user cannot write there, nobody can here."""
        mode = os.stat(path).st_mode
        mode = stat.S_IMODE(mode) if os.access(path, os.W_OK) else stat.S_IMODE(mode) & ~0o222
        item = Mounted("", path, "", NO_SUID)
        try:
            self._overlay(item, _escaped(path), f"{self.root}{path}", mode)
        except OSError as error:
            self.warnings.append(f"{path} is not in the copy: {error.strerror}")

    def share(self, folders: Iterable[tuple[str, int]]) -> None:
        """Show folders of the machine, read-only. folders: paths, and a descriptor of each."""
        for path, descriptor in folders:
            share(self.root, path, descriptor)

    def _remount(self, path: str, flags: int) -> None:
        _remount(self.root, path, flags)


def descend(root: str, path: str) -> int:
    """A descriptor of a folder below another one, made where there is none; links are not followed.

    Raises OSError.
    """
    at = os.open(root, os.O_PATH | os.O_CLOEXEC)
    for name in filter(None, path.split("/")):
        with suppress(FileExistsError, PermissionError):
            os.mkdir(name, 0o755, dir_fd=at)
        following = os.open(name, _PATH | os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = following
    return at


def _at(root: str, path: str) -> int:
    """A descriptor of what is at a path below a folder; folders on the way to it are made."""
    folder, name = os.path.split(path.rstrip("/"))
    above = descend(root, folder)
    with suppress(FileExistsError, PermissionError):
        os.mkdir(name, 0o755, dir_fd=above)
    try:
        return os.open(name, _PATH, dir_fd=above)
    finally:
        os.close(above)


def share(root: str, path: str, descriptor: int, flags: int = READ_ONLY) -> None:
    """Show the file or folder of a descriptor at a path below another folder."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        folder, name = os.path.split(path)
        above = descend(root, folder)
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600, dir_fd=above))
        os.close(above)
    target = _at(root, path)
    mount(f"/proc/self/fd/{descriptor}", f"/proc/self/fd/{target}", flags=BIND | RECURSIVE)
    os.close(target)
    _remount(root, path, flags | NO_DEVICES)


def _remount(root: str, path: str, flags: int) -> None:
    target = _at(root, path)  # what has been mounted there by now
    mount("", f"/proc/self/fd/{target}", flags=BIND | REMOUNT | flags)
    os.close(target)


def _own_part(path: str) -> str:
    """The first folder on the way to a path that is the caller's, where others' are above it, below
    one of /: a user cannot write in a copy of these. Empty where there is none.
    """
    at = "/"
    for number, name in enumerate(filter(None, os.path.realpath(path).split("/"))):
        at = os.path.join(at, name)
        try:
            status = os.stat(at)
        except OSError:
            return ""
        if status.st_uid == os.geteuid():
            return at if number > 1 or (number and status.st_gid != os.getegid()) else ""
    return ""


def _escaped(path: str) -> str:
    """A path as overlayfs takes it.

    >>> _escaped("/a:b,c")
    '/a\\\\:b\\\\,c'
    """
    return re.sub(r"([\\:,])", r"\\\1", path)


def open_sources(left_out: Iterable[str]) -> Iterator[tuple[Mounted, int]]:
    """The file systems with data that are visible, / first, with a descriptor of each."""
    left_out = (*NEW, *left_out)
    rows = mounted(os.fsdecode(Path("/proc/self/mountinfo").read_bytes()))
    rows.sort(key=lambda item: (item.path.count("/"), item.path != "/"))
    for item in rows:
        if item.path != "/" and (WITHOUT_DATA.fullmatch(item.kind) or below(item.path, left_out)):
            continue
        try:
            descriptor = os.open(item.path, _PATH)
        except OSError:  # one of somebody else's (FUSE), or it is covered by another one
            continue
        info = Path(f"/proc/self/fdinfo/{descriptor}").read_text()
        if re.search(rf"^mnt_id:\s*{item.number}$", info, re.MULTILINE):
            yield item, descriptor
        else:
            os.close(descriptor)


# ---------------------------------------------------------------- what is new in a copy


def make_kernel(root: str, cgroup: bool, own_network: bool) -> None:
    """Mount what the kernel shows; its switches are writable only where a namespace owns them."""
    plain = NO_SUID | NO_DEVICES | NO_PROGRAMS
    mount("proc", f"{root}/proc", "proc", plain)
    try:
        mount("sysfs", f"{root}/sys", "sysfs", plain | READ_ONLY)
    except OSError:  # a user may not where parts of it are hidden, or the network is shared
        mount("/sys", f"{root}/sys", flags=BIND | RECURSIVE)
        mount("", f"{root}/sys", flags=BIND | REMOUNT | READ_ONLY | plain)
    if cgroup:
        mount("cgroup2", f"{root}/sys/fs/cgroup", "cgroup2", plain)
    own = os.open(f"{root}/proc/sys/net", os.O_PATH)
    for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi", "mtrr"):
        with suppress(PermissionError):  # as a user nothing there can be written anyway
            make_read_only(f"{root}/proc/{name}")
    if own_network:
        mount(f"/proc/self/fd/{own}", f"{root}/proc/sys/net", flags=BIND)
    os.close(own)


def make_locks(folder: str) -> None:
    """The folder of locks in a new /run."""
    os.mkdir(f"{folder}/lock")
    os.chmod(f"{folder}/lock", 0o1777)


def make_read_only(path: str) -> None:
    """Make what lies at a path unchangeable, where it is."""
    if os.path.exists(path):
        mount(path, path, flags=BIND)
        mount("", path, flags=BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES | NO_PROGRAMS)


def make_devices(folder: str, hidden: str, usable: bool) -> None:
    """Fill /dev with the few devices that every program needs.

    hidden: an empty folder for the device files themselves, so that those made later in /dev do
    not work; usable: they do.
    """
    mount("tmpfs", folder, "tmpfs", NO_SUID | (0 if usable else NO_DEVICES), "mode=755,size=64M")
    if not usable:
        mount("tmpfs", hidden, "tmpfs", NO_SUID, "mode=755,size=1M")
    # the console is a device of its own: what opens it takes its rights away from others
    for name, (major, minor) in {**DEVICES, "console": DEVICES["null"]}.items():
        path = f"{folder if usable else hidden}/{name}"
        try:
            os.mknod(path, 0o20666, os.makedev(major, minor))
            os.chmod(path, 0o666)
        except PermissionError:  # in a user namespace, which cannot alter the computer's own
            path = f"/dev/{name}" if name in DEVICES else "/dev/null"
        if path != f"{folder}/{name}":
            Path(folder, name).touch()
            mount(path, f"{folder}/{name}", flags=BIND)
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"{folder}/{name}")
    make_terminals(f"{folder}/pts")
    mount("tmpfs", f"{folder}/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777")
    mount("mqueue", f"{folder}/mqueue", "mqueue", NO_SUID | NO_DEVICES | NO_PROGRAMS)
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links |= {
        name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))
    }
    for name, target in links.items():
        os.symlink(target, f"{folder}/{name}")


def make_terminals(folder: str) -> None:
    """Mount devpts; its group can be set only by those who have that group."""
    data = "newinstance,ptmxmode=0666,mode=620"
    try:
        mount("devpts", folder, "devpts", NO_SUID | NO_PROGRAMS, f"{data},gid=5")
    except OSError:
        mount("devpts", folder, "devpts", NO_SUID | NO_PROGRAMS, data)
