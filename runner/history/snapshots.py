# SPDX-License-Identifier: Apache-2.0
"""Looks at paths, for undo: what a run is about to replace or remove, and what it has left."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import BufferedReader

from runner.model.former_state import FormerState
from runner.model.records import Record
from runner.model.stdlib import dumps, sha256
from runner.support.files.group_commit import GROUP_COMMIT, WRITTEN, Stamp
from runner.support.files.group_commit import stamp as _stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LARGEST = 64 * 1024 * 1024  # bytes; the contents of larger files are not kept
MOST_BELOW = 1024 * 1024 * 1024  # bytes of contents that are kept of a folder that goes
SMALL = 256 * 1024  # bytes; contents of files that are read whole
PIECE = 1024 * 1024
# extended attributes that are the file system's own, or vouch for contents
NOT_KEPT = ("trusted.", "security.ima", "security.evm")


class Snapshot(Record):
    """The former state of a path. type: none, file, dir, link, moved (to `target`), or other
    (device, pipe, socket).

    target: of a link; of a device, a pipe or a socket which one it is. content: the hash of a
    file's contents; empty when they were too large or could not be read.
    attributes: the hash of the extended attributes of a file or folder, access lists among them;
    empty when there are none, None when nobody has looked.
    """

    path: str
    type: str
    mode: int = 0
    uid: int = 0
    gid: int = 0
    target: str = ""
    content: str = ""
    attributes: str | None = None

    def is_same(self, other: Snapshot) -> bool:
        """Return whether two looks saw the same, as far as both looked."""
        if None in (self.attributes, other.attributes):
            return self._replace(attributes=None) == other._replace(attributes=None)
        return self == other


KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}


class Sight(Record):
    """A look at a path. stamp: what is another one when somebody has altered it since. data: the
    contents of a small file. attributes: the extended attributes, as the store keeps them.
    """

    snapshot: Snapshot
    stamp: Stamp = ()
    data: bytes | None = None
    attributes: bytes = b""


def at(path: str) -> Snapshot:
    """The present state of a path; the contents of a file by their hash."""
    return look(path).snapshot


def stamp_of(path: str) -> Stamp:
    """The stamp that a path has now; empty where nothing is there."""
    try:
        return _stamp(os.lstat(path))
    except OSError:
        return ()


def look(path: str, largest: int | None = None) -> Sight:
    """The present state of a path, and what it takes to see later whether it is another one.

    largest: bytes; of a larger file the contents are not looked at; without it LARGEST.
    """
    there = GROUP_COMMIT.at_present(path)
    try:
        status = os.lstat(there)
    except OSError:
        return Sight(Snapshot(path, "none"))
    kind, stamp = KINDS.get(stat.S_IFMT(status.st_mode), "other"), _stamp(status)
    target = os.readlink(there) if kind == "link" else _special(status) if kind == "other" else ""
    content, data = "", None
    if kind == "file" and status.st_size <= (LARGEST if largest is None else largest):
        content, data = _contents(there, status, stamp)
    mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    packed = _attributes(there, status) if kind in ("file", "dir") else b""
    attributes = hash_of(packed) if packed else ""
    snapshot = Snapshot._make((path, kind, mode, *owner, target, content, attributes))
    return Sight._make((snapshot, stamp, data, packed))


def _special(status: os.stat_result) -> str:
    """Which device it is; that it is a pipe, or a socket."""
    return f"{stat.filemode(status.st_mode)[0]} {status.st_rdev}"


def _attributes(path: str, status: os.stat_result) -> bytes:
    """The extended attributes of a path, packed; empty where there are none."""
    values = {}
    try:
        if not os.listxattr(path, follow_symlinks=False):
            return b""
    except OSError:
        return b""
    with suppress(OSError):
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            own = f"/proc/self/fd/{handle}"
            if os.path.samestat(status, os.fstat(handle)):  # else a folder above was swapped
                for name in sorted(os.listxattr(own)):
                    if not name.startswith(NOT_KEPT):
                        values[name] = os.getxattr(own, name).hex()
        finally:
            os.close(handle)
    return dumps(values).encode() if values else b""


def unpacked(attributes: bytes) -> dict[str, bytes]:
    """Extended attributes as the store keeps them, by name."""
    values = json.loads(attributes) if attributes else {}
    return {name: bytes.fromhex(value) for name, value in values.items()}


def _contents(path: str, status: os.stat_result, stamp: Stamp) -> tuple[str, bytes | None]:
    """The hash of a file, and what is in it where that is little; nothing where it cannot be
    read.
    """
    if (data := WRITTEN.taken(stamp)) is not None:
        return hash_of(data), data
    try:
        return _read(path, status)
    except OSError:
        return "", None


def _read(path: str, status: os.stat_result) -> tuple[str, bytes | None]:
    handle, opened = _regular(path)
    try:
        if not os.path.samestat(status, opened):  # a folder above was swapped
            return "", None
        if status.st_size <= SMALL:
            size = status.st_size + 1 if status.st_size else PIECE  # one of /proc says 0
            data = b""
            while piece := os.read(handle, size):
                data += piece
                if len(data) > LARGEST:  # of /proc/PID/pagemap there are 256 GiB
                    return "", None
            return hash_of(data), data
        with open(handle, "rb", buffering=0, closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), None
    finally:
        os.close(handle)


def open_regular(path: str) -> BufferedReader:
    """A regular file for reading, if nothing else has taken its place meanwhile. Raises OSError."""
    return open(_regular(path)[0], "rb")


def _regular(path: str) -> tuple[int, os.stat_result]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EAGAIN, "it is no longer a regular file", path)
    return descriptor, status


def private_paths(facts: object) -> set[str]:
    """The paths whose contents are not kept. facts: as those of `before`."""
    return {
        os.path.abspath(change["path"])
        for change in _several(facts)
        if isinstance(change, Mapping) and change.get("private") and "path" in change
    }


def _several(facts: object) -> Iterable[object]:
    parts: Iterable[object] = (
        facts.get("several", [facts]) if isinstance(facts, Mapping) else [facts]
    )
    return parts


def of_nothing(facts: object) -> Sight | None:
    """The look that the facts of one path say, where nothing is there yet and its contents need not
    be private; else None. facts: as those of `before`.
    """
    if type(facts) is not dict or facts.get("type") != "none" or facts.get("private"):
        return None
    path = facts.get("path")
    if type(path) is not str:
        return None
    if "//" in path or "/." in path or path[:1] != "/" or path[-1:] == "/":
        path = os.path.abspath(path)
    return Sight._make((Snapshot._make((path, "none", 0, 0, 0, "", "", None)), (), None, b""))


def before(function: str, facts: object) -> Iterator[Sight | FormerState]:
    """Yield what a changer is about to alter as it is now. facts: what its `before` said of a path,
    of another part of the machine, or of several.
    """
    for change in _several(facts):
        if isinstance(change, FormerState):
            yield change
        elif isinstance(change, Mapping) and isinstance(change.get("path"), str):
            yield from _of_path(function, change)


def _of_path(function: str, change: Mapping[str, Any]) -> Iterator[Sight]:
    path = os.path.abspath(change["path"])
    if change.get("type") == "none":  # the changer has just looked
        yield Sight(Snapshot(path, "none"))
        return
    if change.get("type") == "moved":
        yield Sight(Snapshot(path, "moved", target=os.path.abspath(change["target"])))
        return
    if change.get("type") == "dir" and (function == "file.remove" or change.get("removed")):
        yield from _below(path)
    sight = look(path)
    if change.get("private"):
        sight = sight._replace(snapshot=sight.snapshot._replace(content=""), data=None)
    yield sight


def _below(folder: str) -> Iterator[Sight]:
    """From the bottom up, since undo goes the other way; not what is mounted in it, which stays."""
    device, found = _status(folder).st_dev, []
    for root, folders, files in os.walk(folder):
        found.append((root, [*folders, *files]))
        folders[:] = [
            name for name in folders if _status(os.path.join(root, name)).st_dev == device
        ]
    left = MOST_BELOW
    for root, names in reversed(found):
        for name in names:
            path = os.path.join(root, name)
            sight = look(path, min(left, LARGEST))
            if sight.snapshot.content:
                _, _, size, *_ = sight.stamp
                left -= size
            yield sight


def _status(path: str) -> os.stat_result:
    try:
        return os.lstat(path)
    except OSError:
        return os.stat_result((0,) * 10)


def without_target(snapshot: Snapshot) -> Snapshot:
    """A snapshot without the target of its link: it may be a secret, and is known by its hash."""
    if snapshot.type != "link":
        return snapshot
    return snapshot._replace(target="", content=hash_of(os.fsencode(snapshot.target)))


hash_of = sha256  # the name that contents have in the history
