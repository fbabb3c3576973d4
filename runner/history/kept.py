"""What a run replaced or removed: contents by their hash, compressed, readable by nobody else; for undo."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress

from runner.records import Record

LARGEST = 64 * 1024 * 1024  # bytes; the contents of larger files are not kept
PIECE = 1024 * 1024


class Kept(Record):
    """What was at a path. type: none, file, dir, link, moved (to `target`), or other (device, pipe, socket).

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


def at(path: str) -> Kept:
    """What is at a path now; the contents of a file by their hash."""
    try:
        found = os.lstat(path)
    except OSError:
        return Kept(path, "none")
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "other")
    target = os.readlink(path) if kind == "link" else ""
    content = ""
    if kind == "file" and found.st_size <= LARGEST:
        with suppress(OSError), open(path, "rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
    return Kept(path, kind, stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, target, content)


def before(function: str, facts: object) -> Iterator[Kept]:
    """What a changer of files is about to alter. facts: what it said of the path, or of several."""
    if not function.startswith("file.") or not isinstance(facts, Mapping):
        return
    for each in facts.get("several", [facts]):
        path = each.get("path")
        if not isinstance(path, str):
            continue
        path = os.path.abspath(path)
        if each.get("type") == "moved":
            yield Kept(path, "moved", target=os.path.abspath(each["target"]))
            continue
        if function == "file.remove" and each.get("type") == "dir":
            yield from _below(path)
        yield at(path)


def _below(folder: str) -> Iterator[Kept]:
    """From the bottom up, since undo goes the other way."""
    for root, folders, files in os.walk(folder, topdown=False):
        for name in [*folders, *files]:
            yield at(os.path.join(root, name))


class Store:
    """The folder of the contents: `undo/ab/abcdef….z`."""

    def __init__(self, state_dir: str) -> None:
        self._folder = os.path.join(state_dir, "undo")

    def _path(self, content: str) -> str:
        return os.path.join(self._folder, content[:2], f"{content}.z")

    def put(self, kept: Kept) -> None:
        """Keep the contents of a file. Raises OSError when that cannot be done."""
        import zlib

        target = self._path(kept.content)
        if not kept.content or os.path.exists(target):
            return
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        os.chmod(self._folder, 0o700)
        beside = f"{target}.new"
        with suppress(FileNotFoundError):
            os.unlink(beside)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        packed = zlib.compressobj(1)
        with open(handle, "wb") as file, open(kept.path, "rb") as source:
            while piece := source.read(PIECE):  # by pieces: files of /proc/sys are not read in large ones
                file.write(packed.compress(piece))
            file.write(packed.flush())
        os.rename(beside, target)

    def get(self, content: str) -> bytes | None:
        """The contents with a hash; None when they are not there or not whole any more."""
        import zlib

        try:
            with open(self._path(content), "rb") as file:
                data = zlib.decompress(file.read())
        except (OSError, zlib.error):
            return None
        return data if hashlib.sha256(data).hexdigest() == content else None

    def drop(self, wanted: set[str]) -> None:
        """Delete all contents but those that are wanted."""
        for root, _, files in os.walk(self._folder):
            for name in files:
                if name.removesuffix(".z") not in wanted:
                    with suppress(OSError):
                        os.unlink(os.path.join(root, name))
