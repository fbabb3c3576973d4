# SPDX-License-Identifier: Apache-2.0
"""Block devices: what they hold and who uses them.

A device is resolved once, to a path without links and its number; whatever changes it checks that
the number is still the same.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from modules import _paths, cmd, file
from modules._machine.processes import needs
from modules._paths import text_of
from modules._texts.lines import fields, plain_name
from modules.file._look import opened_to_read
from modules.mount import active_mounts, unescaped
from runner.api import Record, StateFailed, for_states

LARGEST_IMAGE_READ = 1 << 30  # bytes of an image file in which data is looked for


class Device(Record):
    """A block device, or an image file. name: as it was given. path: without links. number: of the
    device; 0 of an image file, whose inode counts.
    """

    name: str
    path: str
    number: int
    inode: int

    @property
    def is_image(self) -> bool:
        return not self.number


@for_states
def resolve(name: str, images: bool = False) -> Device:
    """Return the device that a path leads to. images: whether a regular file will do. Raises
    StateFailed where there is none.
    """
    path = file.real_path(plain_name(name, "the device"))
    try:
        status = _paths.stat(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise StateFailed(f"{name}: {error.strerror}") from None
        raise StateFailed(f"{name} does not exist", missing=("file", name)) from None
    if stat.S_ISBLK(status.st_mode):
        return Device(name, path, status.st_rdev, status.st_ino)
    if images and stat.S_ISREG(status.st_mode):
        return Device(name, path, 0, status.st_ino)
    raise StateFailed(f"{name} is no block device")


@for_states
def unchanged(device: Device) -> str:
    """Return the path of a device that still is the same one. Raises StateFailed otherwise."""
    if resolve(device.path, device.is_image) != Device(
        device.path, device.path, device.number, device.inode
    ):
        raise StateFailed(f"{device.name} is another device than a moment ago")
    return device.path


@for_states
@contextmanager
def held(device: Device) -> Iterator[str]:
    """The path by which a program changes a device that still is the same one.

    An image file is held open meanwhile: who owns its folder cannot put a link to another file in
    its place. Raises StateFailed for another device or file.
    """
    path = unchanged(device)
    if not device.is_image:
        yield path
        return
    with opened_to_read(path) as image:
        own = f"/proc/{os.getpid()}/fd/{image.fileno()}"
        if _paths.stat_of(image).st_ino != device.inode:
            raise StateFailed(f"{device.name} is another file than a moment ago")
        yield own if _paths.exists(own) else path


@for_states
def user_of(device: Device) -> str:
    """Return who uses a device, as the end of "it is ..."; "" where nobody does."""
    if device.is_image:
        return next(_loops_of(device.path), "")
    for path, number in _parts(device):
        uses = [*_mounted(path, number), *_swapping(path), *_holding(number)]
        if uses:
            return uses[0] if path == device.path else f"{uses[0]} (by {path})"
    return _grouped(device.path) or ("in use" if _is_busy(device.path) else "")


@for_states
def contents_of(device: Device) -> list[str]:
    """Return what a device holds: types of file systems, partition tables, members of volume groups
    and arrays. Of an image file also "data", where it has any.
    """
    needs("wipefs", "util-linux")
    with held(device) as path:
        done = cmd.probe(["wipefs", "--parsable", "--", path])
        has_data = device.is_image and _has_data(path)
    if done.retcode:
        raise StateFailed(f"{device.name} cannot be read: {done.stderr.strip()}")
    lines = (line for line in done.stdout.splitlines() if not line.startswith("#"))
    kinds = list(dict.fromkeys(line.rpartition(",")[2] for line in lines if line))
    return kinds or (["data"] if has_data else [])


@for_states
def refuse_used(device: Device) -> None:
    """Raise StateFailed for a device that somebody uses."""
    user = user_of(device)
    if user:
        raise StateFailed(f"{device.name} is {user}: it is left alone")


@for_states
def refuse_full(device: Device, force: bool, own: Sequence[str] = ()) -> None:
    """Raise StateFailed for a device that somebody uses, or that holds something, unless that is to
    be overwritten.

    own: the types that are no obstacle.
    """
    refuse_used(device)
    kinds = [kind for kind in contents_of(device) if kind not in own]
    if kinds and not force:
        raise StateFailed(
            f"{device.name} holds {', '.join(kinds)}: it is overwritten only with force: True"
        )


def _parts(device: Device) -> Iterator[tuple[str, int]]:
    """A device and its partitions, each with its number."""
    yield device.path, device.number
    folder = _paths.realpath(_sys(device.number))
    names = sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []
    for name in names:
        if _paths.exists(f"{folder}/{name}/partition"):
            major, minor = _first_line(f"{folder}/{name}/dev").split(":")
            yield f"/dev/{name}", os.makedev(int(major), int(minor))


def _mounted(path: str, number: int) -> Iterator[str]:
    for folder, mounted in active_mounts().items():
        same = mounted.device.startswith("/") and _number_of(mounted.device) == number
        if same or mounted.device == path:
            yield f"mounted at {folder}"


def _swapping(path: str) -> Iterator[str]:
    for line in text_of("/proc/swaps").splitlines()[1:]:
        name = unescaped(fields(line)[0])
        if _paths.realpath(name) == path:
            yield "swap space"


def _holding(number: int) -> Iterator[str]:
    folder = f"{_sys(number)}/holders"
    for name in sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []:
        label = _first_line(f"{folder}/{name}/dm/name") or name
        yield f"used by {label}" if not name.startswith("md") else f"in the array /dev/{name}"


def _grouped(path: str) -> str:
    """The volume group that a device is in, though no volume of it may be active."""
    if not cmd.has_exec("pvs"):
        return ""
    done = cmd.probe(["pvs", "--noheadings", "-o", "vg_name", "--", path])
    group = done.stdout.strip()
    return f"in the volume group {group}" if done.retcode == 0 and group else ""


def _is_busy(path: str) -> bool:
    """Ask the kernel whether a device is claimed: by a mount that is not seen here, for example."""
    try:
        how = os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC | os.O_NONBLOCK
        os.close(os.open(path, how))  # os: of a device
    except OSError as error:
        return error.errno == errno.EBUSY
    return False


def _loops_of(path: str) -> Iterator[str]:
    folder = "/sys/class/block"
    for name in sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []:
        if _first_line(f"{folder}/{name}/loop/backing_file") == path:
            yield f"used by /dev/{name}"


def _has_data(path: str) -> bool:
    """Return whether a file has a byte that is not zero, holes apart."""
    with _paths.open_bytes(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        at = read = 0
        while at < size:
            try:
                at = os.lseek(stream.fileno(), at, os.SEEK_DATA)
            except OSError:
                return False
            piece = os.pread(stream.fileno(), 1 << 20, at)
            at, read = at + len(piece), read + len(piece)
            if not piece or piece.count(0) != len(piece) or read > LARGEST_IMAGE_READ:
                return bool(piece)
    return False


def _sys(number: int) -> str:
    return f"/sys/dev/block/{os.major(number)}:{os.minor(number)}"


def _number_of(path: str) -> int:
    try:
        return _paths.stat(path).st_rdev
    except OSError:
        return -1


def _first_line(path: str) -> str:
    return next(iter(text_of(path).splitlines()), "")
