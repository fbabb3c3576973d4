"""The store of what a run replaced or removed: contents by their hash, compressed, readable by
nobody else; for undo.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BufferedReader
from typing import BinaryIO

from runner.files.trusted_folder import TrustedFolder, trusted_folder
from runner.model.records import Record

LARGEST = 64 * 1024 * 1024  # bytes; the contents of larger files are not kept
PIECE = 1024 * 1024


class Snapshot(Record):
    """The former state of a path. type: none, file, dir, link, moved (to `target`), or other
    (device, pipe, socket).

    content: the hash of a file's contents; empty when they were too large or could not be read.
    """

    path: str
    type: str
    mode: int = 0
    uid: int = 0
    gid: int = 0
    target: str = ""
    content: str = ""


_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "link"}


def at(path: str) -> Snapshot:
    """The present state of a path; the contents of a file by their hash."""
    try:
        status = os.lstat(path)
    except OSError:
        return Snapshot(path, "none")
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    target = os.readlink(path) if kind == "link" else ""
    content = ""
    if kind == "file" and status.st_size <= LARGEST:
        with suppress(OSError), _open(path) as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    return Snapshot(
        path, kind, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, target, content
    )


def _open(path: str) -> BufferedReader:
    """A regular file for reading, if nothing else has taken its place meanwhile. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EAGAIN, "it is no longer a regular file", path)
    return open(descriptor, "rb")


def _packed(source: BinaryIO) -> Iterator[bytes]:
    import zlib

    packed = zlib.compressobj(1)
    while piece := source.read(PIECE):  # by pieces: files of /proc/sys are not read in large ones
        yield packed.compress(piece)
    yield packed.flush()


def before(function: str, facts: object) -> Iterator[Snapshot]:
    """Yield snapshots of the paths that a changer of files is about to alter. facts: what it said
    of the path, or of several.
    """
    if not function.startswith("file.") or not isinstance(facts, Mapping):
        return
    for change in facts.get("several", [facts]):
        path = change.get("path")
        if not isinstance(path, str):
            continue
        path = os.path.abspath(path)
        if change.get("type") == "moved":
            yield Snapshot(path, "moved", target=os.path.abspath(change["target"]))
            continue
        if function == "file.remove" and change.get("type") == "dir":
            yield from _below(path)
        snapshot = at(path)
        yield snapshot._replace(content="") if change.get("private") else snapshot


def _below(folder: str) -> Iterator[Snapshot]:
    """From the bottom up, since undo goes the other way."""
    for root, folders, files in os.walk(folder, topdown=False):
        for name in [*folders, *files]:
            yield at(os.path.join(root, name))


def without_target(snapshot: Snapshot) -> Snapshot:
    """A snapshot without the target of its link: it may be a secret, and is known by its hash."""
    if snapshot.type != "link":
        return snapshot
    return snapshot._replace(
        target="", content=hashlib.sha256(os.fsencode(snapshot.target)).hexdigest()
    )


def _readable(snapshot: Snapshot) -> BinaryIO:
    return (
        io.BytesIO(os.fsencode(snapshot.target))
        if snapshot.type == "link"
        else _open(snapshot.path)
    )


class Store:
    """The folder of the contents: `undo/ab/abcdef….z`."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir

    def _folder(self, content: str, make: bool = True) -> TrustedFolder:
        return trusted_folder(self._state_dir, make).below("undo", content[:2], make=make)

    def put(self, snapshot: Snapshot) -> None:
        """Keep the contents of a file, or where a link points to. Raises OSError when that cannot
        be done.
        """
        content = without_target(snapshot).content
        if not content:
            return
        folder, name = self._folder(content), f"{content}.z"
        if folder.exists(name):
            return
        with _readable(snapshot) as source:
            folder.write(name, _packed(source))

    def get(self, content: str) -> bytes | None:
        """The contents with a hash; None when they are not there or not whole any more."""
        import zlib

        if not content:
            return None
        try:
            data = zlib.decompress(self._folder(content, make=False).read(f"{content}.z"))
        except (OSError, zlib.error):
            return None
        return data if hashlib.sha256(data).hexdigest() == content else None

    def drop(self, wanted: set[str]) -> None:
        """Delete all contents but those that are wanted."""
        with suppress(OSError):
            undo = trusted_folder(self._state_dir).below("undo", make=False)
            for folder in undo.names():
                self._drop_from(undo, folder, wanted)

    @staticmethod
    def _drop_from(undo: TrustedFolder, name: str, wanted: set[str]) -> None:
        with suppress(OSError):
            folder = undo.below(name, make=False)
            for entry in folder.names():
                if entry.removesuffix(".z") not in wanted:
                    folder.remove(entry)
