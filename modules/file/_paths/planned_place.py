# SPDX-License-Identifier: Apache-2.0
"""A place in the planned machine of a dry run: a change there changes nothing but the plan."""

from __future__ import annotations

# os in this file: what planned files are taken from
import errno
import os
import stat as bits
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from modules import _paths
from modules._machine import umask
from modules._paths import READ
from modules._planned.files import (
    KEPT_IN_MEMORY,
    Entry,
    Held,
    Later,
    PlannedFiles,
    Stored,
    Way,
    refuse_kernels,
)
from modules._planned.overlay import planned_machine
from modules.file._contents import limits
from modules.file._paths.place import Folder, NewFile, Pinned, Place
from modules.file._paths.walk import refuse_unless
from modules.file._rights import refuse_put
from runner.api import StateFailed, Unforeseen, Version, lies_in
from runner.api.planning import is_state_planning

_LONGEST = 4096  # bytes of a path, with the NUL character behind it


class PlannedPlace(Place):
    """A name in a planned folder."""

    def __init__(self, files: PlannedFiles, way: Way) -> None:
        self._files, self._way = files, way
        self.name, self.path, self._owner = way.name, way.path, -1
        owner = self._entry.uid if self._entry is not None else self._above.uid
        for link in way.links:
            refuse_unless(link, owner)

    def close(self) -> None:
        return None

    @property
    def _above(self) -> Entry:
        return self._files.last(self._way)

    @property
    def _entry(self) -> Entry | None:
        return self._above if self.name == "." else self._above.child(self.name)

    def _there(self) -> Entry:
        entry = self._entry
        if entry is None:
            raise _error(FileNotFoundError, errno.ENOENT, self.path)
        return entry

    # ---------------------------------------------------------------- looking

    def seen(self) -> os.stat_result | None:
        entry = self._entry
        return None if entry is None else entry.stat()

    def shared(self) -> bool:
        return False  # nobody else can change a plan

    def readlink(self) -> str:
        return self._there().target

    def open(self, flags: int = READ, mode: int = 0o600) -> int:
        if flags != READ:
            raise Unforeseen(self.path)
        entry = self._there()
        if entry.is_link:
            raise _error(OSError, errno.ELOOP, self.path)
        if entry.is_dir:
            raise _error(IsADirectoryError, errno.EISDIR, self.path)
        if not entry.is_file:
            raise StateFailed(f"cannot read {self.path}: it is a device, a pipe or a socket")
        return entry.opened()

    def opened(self, path: str) -> FileIO:
        entry = self._way.entry()
        return entry.reader() if entry and entry.is_file else super().opened(path)

    @contextmanager
    def reading(self) -> Iterator[tuple[IO[bytes], Pinned]]:
        with open(self.open_file(), "rb") as file:
            yield file, PlannedPin(self, self._there())

    @contextmanager
    def pinned(self) -> Iterator[Pinned]:
        yield PlannedPin(self, self._there())

    @contextmanager
    def entered(self) -> Iterator[Folder]:
        entry = self._there()
        if not entry.is_dir:
            raise _error(NotADirectoryError, errno.ENOTDIR, self.path)
        yield PlannedFolder(self, self._files, self._inside(entry))

    def _inside(self, entry: Entry) -> tuple[tuple[str, Entry], ...]:
        way = self._way
        return way.folders if way.name == "." else (*way.folders, (way.name, entry))

    # ---------------------------------------------------------------- changing

    def refuse_too_large(self, size: int) -> None:
        folder = self._real_folder()
        taken = self._files.taken.get(os.stat(folder).st_dev, 0) if folder else 0
        room = limits.lacking(folder, size, taken) if folder else None
        if room is not None:
            may_help = ("planned", self.path) if self._files.frees else ("space", self.path)
            raise limits.too_large(self.path, size, room, missing=[may_help])

    def _real_folder(self) -> str:
        """The folder of the machine whose file system will hold it; empty where that is not
        certain.
        """
        if any(lies_in(self.path, top) for top in planned_machine().mounts):
            return ""
        path = ""
        for name, entry in self._way.folders[1:]:
            if entry.origin is None:
                break
            path = f"{path}/{name}"
            if entry.origin != path:
                return ""
        return path or "/"

    def _take(self, size: int) -> None:
        """Note that so many bytes will be written there, or (below 0) will be free."""
        if folder := self._real_folder():
            device, taken = os.stat(folder).st_dev, self._files.taken
            taken[device] = taken.get(device, 0) + size

    def beside(self, lasting: bool = True) -> Place:
        self._refuse_folder_of_others()  # by the name that the user knows
        name = f".{self.name[:200]}.planned"
        path = os.path.join(os.path.dirname(self.path), name)
        return PlannedPlace(self._files, Way(self._way.folders, name, path, ()))

    def _put(self, entry: Entry | None) -> None:
        refuse_kernels(self.path, entry is None)
        self._refuse_folder_of_others()
        self._files.hold(self._way).names[self.name] = entry

    def _refuse_folder_of_others(self) -> None:
        """Raise StateFailed where the caller may not change the folder. The programs of a stand-in
        may have more rights.
        """
        folder = self._above
        is_state = is_state_planning()  # dry: a stand-in has the rights of what it stands in for
        if is_state and os.geteuid() not in (0, folder.uid) and folder.is_real:
            refuse_put(self.path)

    def _make(self, entry: Entry) -> Entry:
        if self._entry is not None:
            raise _error(FileExistsError, errno.EEXIST, self.path)
        self._put(entry)
        return entry

    def hold(self, entry: Entry) -> Entry:
        """Let what is there be altered."""
        refuse_kernels(self.path)
        folder = self._files.hold(self._way)
        if self.name != ".":
            folder.names[self.name] = entry
        return entry

    def scratch(self) -> str:
        """A folder on the machine that is there as long as the planned files."""
        return self._files.scratch()

    def graft(self, folder: str) -> None:
        """Have what is in a folder on the machine here, unless it is already."""
        if self._entry is None:
            self._put(Entry.of(folder))

    def note_change(self) -> None:
        self._files.changes += 1

    def mkdir(self, mode: int = 0o777) -> None:
        self._make(Entry.new(bits.S_IFDIR, mode & ~umask.of_process(), self._above))

    def mknod(self, mode: int, device: int) -> None:
        form = bits.S_IFMT(mode)
        made = Entry.new(form, bits.S_IMODE(mode) & ~umask.of_process(), self._above)
        made.device = device
        self._make(made)

    def symlink(self, target: str) -> None:
        _refuse_target(target, self.path)
        self._make(Entry.new(bits.S_IFLNK, 0o777, self._above)).target = target

    def link_to(self, target: Place) -> None:
        other = cast(PlannedPlace, target)
        if _paths.mount_of(self.path) != _paths.mount_of(other.path):
            raise _error(OSError, errno.EXDEV, self.path)
        self._make(other.hold(other._there())).links += 1

    def rename_to(self, new: Place) -> None:
        entry, target = self._there(), cast(PlannedPlace, new)
        there = target._entry
        if there is not None and there.is_dir and not entry.is_dir:
            raise _error(IsADirectoryError, errno.EISDIR, new.path)
        if there is not None and entry.is_dir and not there.is_dir:
            raise _error(NotADirectoryError, errno.ENOTDIR, new.path)
        if lies_in(new.path, self.path) and new.path != self.path:
            raise _error(OSError, errno.EINVAL, self.path)
        if there is not None and there.is_dir and there.listed():
            raise _error(OSError, errno.ENOTEMPTY, new.path)
        if there is not None and there.is_file:
            target._take(-there.size)
        target._put(entry)
        self._put(None)

    @contextmanager
    def only_if(self, looked_at: Version | None) -> Iterator[None]:
        yield

    def becomes_later(self, new: Place, file: NewFile, looked_at: Version | None) -> bool:
        return False

    def unlink(self) -> None:
        entry = self._there()
        if entry.is_dir:
            raise _error(IsADirectoryError, errno.EISDIR, self.path)
        if entry.is_file:
            self._take(-entry.size)
        self._put(None)

    def rmdir(self) -> None:
        entry = self._there()
        if not entry.is_dir:
            raise _error(NotADirectoryError, errno.ENOTDIR, self.path)
        if entry.listed():
            raise _error(OSError, errno.ENOTEMPTY, self.path)
        self._put(None)

    def _remove_tree(self) -> None:
        self._files.frees = True
        self._put(None)

    def sync(self) -> None:
        return None

    @contextmanager
    def new_file(self) -> Iterator[NewFile]:
        entry = self._make(Entry.new(bits.S_IFREG, 0o600, self._above))
        with _PlannedContents(max_size=KEPT_IN_MEMORY) as contents:
            file = cast(IO[bytes], contents)
            yield PlannedNewFile(file, PlannedPin(self, entry))
            entry.contents = self._taken(contents.source) if contents.source else contents.stored()
            self._take(_room_for(entry))

    def _taken(self, source: Stored) -> bytes | Stored | Later:
        other = self._files.entry(source.path)
        if other is None or (other.origin is None and other.contents is None):
            return source
        if other.contents is None:
            return Stored(other.origin or "", source.size)
        return other.contents


def _room_for(entry: Entry) -> int:
    """The bytes that a planned file will take."""
    if isinstance(entry.contents, Stored) and not entry.contents.held:
        return limits.needed(os.stat(entry.contents.path))
    return entry.size


class _PlannedContents(SpooledTemporaryFile[bytes]):
    """What is written for a planned file: large contents are on disk, or those of another file."""

    source: Stored | None = None  # the other file that it is to have the contents of

    def take(self, path: str, size: int) -> None:
        """Have the contents of another file."""
        self.source = Stored(path, size)

    def stored(self) -> bytes | Stored:
        size = self.seek(0, os.SEEK_END)
        self.seek(0)
        if size <= KEPT_IN_MEMORY:
            return self.read()
        self.flush()
        held = Held(os.dup(self.fileno()))
        return Stored(held.path, size, held)


class PlannedNewFile(NewFile):
    """A file that is being planned."""

    def __init__(self, file: IO[bytes], pin: PlannedPin) -> None:
        self.__dict__["file"], self.pin = file, pin

    def write(self, data: bytes) -> None:
        self.file.write(data)

    def sync(self) -> None:
        return None

    def note(self) -> None:
        return None


class PlannedPin(Pinned):
    """A planned object, whatever its path names later."""

    def __init__(self, place: PlannedPlace, entry: Entry) -> None:
        self._planned, self._entry = place, entry
        self.at = entry.stat()

    def _altered(self) -> Entry:
        if self._entry.is_real:
            self._entry.alter()
            self._planned.hold(self._entry)
        self._planned.note_change()
        return self._entry

    def name(self) -> str:
        raise Unforeseen(self._planned.path)

    def mode(self) -> int:
        return bits.S_IMODE(self._entry.bits)

    def chmod(self, mode: int) -> None:
        entry = self._altered()
        entry.bits = bits.S_IFMT(entry.bits) | mode

    def chown(self, uid: int, gid: int) -> None:
        entry = self._altered()
        entry.uid = entry.uid if uid == -1 else uid
        entry.gid = entry.gid if gid == -1 else gid

    def utime(self, atime: float, mtime: float) -> None:
        self._altered().mtime_ns = int(mtime * 1e9)

    def take_times(self, other: os.stat_result) -> None:
        self._altered().mtime_ns = other.st_mtime_ns

    def attributes(self) -> dict[str, bytes]:
        if self._entry.attributes is not None or self._entry.origin is None:
            return dict(self._entry.attributes or {})
        values = {}
        for name in os.listxattr(self._entry.origin, follow_symlinks=False):
            values[name] = os.getxattr(self._entry.origin, name, follow_symlinks=False)
        return values

    def set_attribute(self, name: str, value: bytes) -> None:
        attributes = self.attributes()
        self._altered().attributes = {**attributes, name: value}

    def remove_attribute(self, name: str) -> None:
        attributes = self.attributes()
        attributes.pop(name, None)
        self._altered().attributes = attributes

    def readlink(self) -> str:
        return self._entry.target

    def refuse_foreign(self, kind: int = bits.S_IFLNK) -> None:
        return None

    def refuse_shared(self) -> None:
        return None


class PlannedFolder(Folder):
    """A planned folder."""

    def __init__(
        self, place: PlannedPlace, files: PlannedFiles, inside: tuple[tuple[str, Entry], ...]
    ) -> None:
        self._files, self._inside, self._path = files, inside, place.path
        self.pin = PlannedPin(place, inside[-1][1])

    def names(self) -> list[str]:
        return self._inside[-1][1].listed()

    def place(self, name: str) -> Place:
        path = os.path.join(self._path, name)
        return PlannedPlace(self._files, Way(self._inside, name, path, ()))


def _refuse_target(target: str, path: str) -> None:
    """Refuse what the system takes for no link: an empty text, one that is too long."""
    size = len(os.fsencode(target))
    if "\0" in target:
        raise ValueError("embedded null byte")
    if not target:
        raise _error(FileNotFoundError, errno.ENOENT, path)
    if size >= _LONGEST:
        raise _error(OSError, errno.ENAMETOOLONG, path)


def _error(kind: type[OSError], number: int, path: str) -> OSError:
    return kind(number, os.strerror(number), path)
