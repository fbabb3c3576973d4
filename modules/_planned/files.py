# SPDX-License-Identifier: Apache-2.0
"""The files of this machine as the plans of a dry run so far would leave them.

A dry run carries every state out on these instead of on the machine: its changers write here (by
`file/_paths/planned_place.py`) and its looks read here (as `overlay.py` says), so that each state
sees what those before it would have made. What nothing was planned for is read from the machine.
"""

from __future__ import annotations

# os in this file: it is the view
import errno
import os
import stat as bits
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy as copy_of
from itertools import count
from typing import Self

from modules._paths import READ
from modules._planned.overlay import KERNELS, PlannedReader, overlay, planned_machine
from modules.file._paths import closed_folders
from modules.file._paths.walk import Link, names_of, refuse_unless, resolved
from runner.api import MOST_LINKS, Record, StateFailed, Unforeseen, here, link_of_others
from runner.api.planning import doubts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.api.doubts import Doubts

KEPT_IN_MEMORY = 1 << 20  # bytes of a planned file; more are kept in a file without a name
_numbers = count(1 << 62)  # stands for inodes


class Held:
    """A file without a name, which is there as long as this is."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.path = f"/proc/self/fd/{handle}"

    def __del__(self) -> None:
        os.close(self._handle)


class Stored(Record):
    """The contents of a planned file that are in a file of the machine. held: one without a
    name.
    """

    path: str
    size: int
    held: Held | None = None


class Later:
    """The contents of a planned file that are unpacked where somebody asks for them. text: returns
    those of a small one that were kept.
    """

    def __init__(
        self, size: int, unpack: Callable[[bool], Stored], text: Callable[[], bytes | None]
    ) -> None:
        self.size, self._unpack, self.text = size, unpack, text
        self._stored: Stored | None = None

    def stored(self, whole: bool = False) -> Stored:
        """The contents in a file of the machine. whole: what comes from the same archive will be
        asked for, too. Raises StateFailed.
        """
        self._stored = self._stored or self._unpack(whole)
        return self._stored


class Unwritten:
    """The contents of a planned file that many states alter a little of each: written out where
    somebody asks for them.
    """

    def __init__(self, size: int, written: Callable[[], bytes]) -> None:
        self.size, self.written = size, written


class Entry:
    """What a name will stand for.

    origin: the real path that contents, target and attributes are taken from, and the names in a
    folder but for those in `names`; None for what is new. names: by name what was planned in a
    folder, None for what was removed.
    """

    __slots__ = (
        "_contents",
        "at",
        "attributes",
        "bits",
        "device",
        "gid",
        "links",
        "mtime_ns",
        "names",
        "number",
        "origin",
        "target",
        "uid",
    )

    def __init__(self, mode: int, uid: int, gid: int, origin: str | None = None) -> None:
        self.bits, self.uid, self.gid, self.origin = mode, uid, gid, origin
        self.at: os.stat_result | None = None
        self.mtime_ns = time.time_ns()
        self.number = 0
        self.links = 1
        self.device = 0
        self.target = ""
        self._contents: bytes | Stored | Later | Unwritten | None = b""  # None: those of the origin
        self.names: dict[str, Entry | None] = {}
        self.attributes: dict[str, bytes] | None = {}  # None: those of the origin

    @classmethod
    def of(cls, path: str) -> Entry:
        """Return what is at a real path without links. Raises OSError."""
        at = os.lstat(path)
        entry = cls(at.st_mode, at.st_uid, at.st_gid, path)
        entry.at, entry.mtime_ns, entry.device = at, at.st_mtime_ns, at.st_rdev
        entry.links = at.st_nlink
        entry.contents = entry.attributes = None
        if entry.is_link:
            entry.target = os.readlink(path)
        return entry

    @classmethod
    def new(cls, form: int, mode: int, folder: Entry) -> Entry:
        """Return what the caller makes in a folder, whose group it may get. form: S_IFDIR, ..."""
        inherits = folder.bits & bits.S_ISGID
        if inherits and form == bits.S_IFDIR:
            mode |= bits.S_ISGID
        return cls(form | mode, os.geteuid(), folder.gid if inherits else os.getegid())

    @property
    def contents(self) -> bytes | Stored | Later | None:
        """What is in it now; None for what the origin has."""
        if isinstance(self._contents, Unwritten):
            self._contents = self._contents.written()
        return self._contents

    @contents.setter
    def contents(self, contents: bytes | Stored | Later | Unwritten | None) -> None:
        self._contents = contents

    @property
    def has_own_contents(self) -> bool:
        """Return whether its contents are planned."""
        return self._contents is not None

    def copied(self, made: dict[int, Entry]) -> Entry:
        """Return a copy with all that is planned in it. made: copies by what they are of, as one
        file may have several names.
        """
        if id(self) not in made:
            made[id(self)] = copy = copy_of(self)
            copy.contents = self.contents  # what is unwritten goes on with this one alone
            copy.attributes = None if self.attributes is None else dict(self.attributes)
            copy.names = {
                name: None if entry is None else entry.copied(made)
                for name, entry in self.names.items()
            }
        return made[id(self)]

    @property
    def is_dir(self) -> bool:
        return bits.S_ISDIR(self.bits)

    @property
    def is_link(self) -> bool:
        return bits.S_ISLNK(self.bits)

    @property
    def is_file(self) -> bool:
        return bits.S_ISREG(self.bits)

    @property
    def is_real(self) -> bool:
        """Return whether nothing was planned for it itself."""
        return self.at is not None

    @property
    def size(self) -> int:
        if self.is_link:
            return len(os.fsencode(self.target))
        if not self.is_file:
            return 0
        contents = self._contents
        if contents is None:
            return os.lstat(self.origin or "").st_size
        return len(contents) if isinstance(contents, bytes) else contents.size

    def stat(self) -> os.stat_result:
        if self.at is not None:
            return self.at
        self.number = self.number or next(_numbers)
        owner, seconds = (self.links, self.uid, self.gid), self.mtime_ns // 1_000_000_000
        plain = (self.bits, self.number, 0, *owner, self.size, *[seconds] * 3)
        times = dict.fromkeys(("st_atime", "st_mtime", "st_ctime"), self.mtime_ns / 1e9)
        exact = dict.fromkeys(("st_atime_ns", "st_mtime_ns", "st_ctime_ns"), self.mtime_ns)
        return os.stat_result(plain, {**times, **exact, "st_rdev": self.device})

    def opened(self) -> int:
        """A descriptor for the contents of a file. Raises OSError and StateFailed."""
        contents = self.contents
        if contents is None:
            return _open_in_place(self.origin or "", follow=False)
        if isinstance(contents, Later):
            text = contents.text()
            contents = contents.stored() if text is None else text
        if not isinstance(contents, bytes):
            if contents.held:
                return os.open(contents.path, READ & ~os.O_NOFOLLOW)
            return _open_in_place(contents.path, follow=True)
        handle = os.memfd_create("planned", os.MFD_CLOEXEC)
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(contents)
            os.lseek(handle, 0, os.SEEK_SET)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def reader(self) -> PlannedReader:
        """A file, opened for reading."""
        self.note_read()
        reader = PlannedReader(self.opened(), "rb")
        reader.at = self.stat()
        return reader

    def note_read(self) -> None:
        """Note for the look that goes on that what it has was read."""
        if (doubted := doubts()) is not None and isinstance(contents := self.contents, bytes):
            doubted.note_read(contents)

    def alter(self) -> None:
        """Note that it will not be as it is: from now on its own fields count."""
        self.at = None

    def child(self, name: str) -> Entry | None:
        """Return what a name in this folder stands for; None for nothing. Raises OSError."""
        if (planned := self.names.get(name, self)) is not self:  # only folders have some
            return planned
        if not bits.S_ISDIR(self.bits):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        if self.origin is None:
            return None
        try:
            return Entry.of(os.path.join(self.origin, name))
        except FileNotFoundError:
            return None

    def listed(self) -> list[str]:
        """The names in this folder. Raises OSError."""
        real = [] if self.origin is None else os.listdir(self.origin)
        kept = [name for name in real if name not in self.names]
        return kept + [name for name, entry in self.names.items() if entry is not None]


def _open_in_place(path: str, follow: bool) -> int:
    """A descriptor of a file of the machine, through no link that somebody has put on the way since
    it was looked at. Raises OSError and StateFailed.
    """
    at = resolved(path, follow)
    try:
        return os.open(at.name, READ, dir_fd=at.folder)
    finally:
        os.close(at.folder)


class Supposed(Entry):
    """What may be at a path in the place of what is there now, in another world of a look."""

    __slots__ = ()

    def note_read(self) -> None:
        """Whoever goes by what it has, notes so (`_look.py`)."""


def _supposed(path: str, is_folder: bool, contents: bytes) -> Supposed:
    is_program = os.path.dirname(path).endswith("bin")
    form = bits.S_IFDIR if is_folder else bits.S_IFREG
    entry = Supposed(form | (0o755 if is_folder or is_program else 0o644), 0, 0)
    entry.contents = contents
    # it is the same one when it is looked at again
    entry.mtime_ns, entry.number = 0, (hash(path) & 0xFFFFFF) + 1
    return entry


def _in_doubt(
    doubted: Doubts, at: Sequence[tuple[str, Entry]], name: str, entry: Entry | None, last: bool
) -> Entry | None:
    """Return what a look sees of a name in the last of these folders: in another world what may be
    there instead. last: no other name follows in the path.
    """
    folder = at[-1][1]
    path = _path_of(at, name)
    if last and entry is not None:
        doubted.note_rights(path)
    in_own = _path_of(at) if folder.origin is None and type(folder) is not Supposed else None
    if not doubted.of_path(path, entry is not None, in_own) or not doubted.world:
        return entry
    if doubted.world == "nothing":
        return None
    return _supposed(path, not last or doubted.world == "folder", doubted.contents)


class Way(Record):
    """Where a path leads. folders: from / down, with their names; name: in the last of them, "."
    for the folder itself; path: the same without links.
    """

    folders: tuple[tuple[str, Entry], ...]
    name: str
    path: str
    links: tuple[Link, ...]

    def entry(self) -> Entry | None:
        """Return what is there; None for nothing."""
        folder = self.folders[-1][1]
        if self.name == ".":
            return folder
        child = folder.child(self.name)
        if (doubted := doubts()) is None:
            return child
        return _in_doubt(doubted, self.folders, self.name, child, last=True)


class PlannedFiles:
    """All files, as they will be."""

    def __init__(self) -> None:
        self.root = Entry.of("/")
        self.changes = 0  # so often was something planned
        self.taken: dict[int, int] = {}  # bytes that were planned, by the device they are on
        self.frees = False  # something was planned that may free more
        self._scratch: list[str] = []

    def copied(self) -> Self:
        """Return a copy, in which something else can be planned."""
        copy = type(self)()
        copy.root, copy.changes, copy.frees = self.root.copied({}), self.changes, self.frees
        copy.taken, copy._scratch = dict(self.taken), [*self._scratch]
        return copy

    def scratch(self) -> str:
        """A folder on the machine that is there as long as this is."""
        folder = tempfile.mkdtemp(prefix="scratch-", dir=here.cache_folder().path)
        self._scratch.append(f"{folder}/")
        weakref.finalize(self, closed_folders.remove_scratch, folder)
        return folder

    def copy_of(self, path: str) -> str:
        """The folder on the machine that a planned one was made in; empty where there is none."""
        entry = self.entry(path)
        own = (entry is not None and entry.is_dir and entry.origin) or ""
        return own if own.startswith(tuple(self._scratch)) else ""

    def way(self, path: str, follow: bool = False) -> Way:
        """Walk to the last name of a path. follow: a link at its end, too. Raises OSError where a
        folder is missing.
        """
        pending = names_of(path if path.startswith("/") else os.path.join(os.getcwd(), path))
        at: list[tuple[str, Entry]] = [("", self.root)]
        followed: list[Link] = []
        links = 0
        doubted = doubts()
        while pending:
            step = pending.pop()
            if step == "..":
                at = at[:-1] or at
                continue
            folder = at[-1][1]
            child = folder.child(step)
            if doubted is not None:
                child = _in_doubt(doubted, at, step, child, last=not pending)
            form = 0 if child is None else bits.S_IFMT(child.bits)
            if child is not None and form == bits.S_IFLNK and (pending or follow):
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                if link_of_others(child.stat(), folder.stat()):
                    followed.append(Link(_path_of(at, step), child.target, child.uid))
                pending += names_of(child.target)
                if child.target.startswith("/"):
                    at = at[:1]
            elif not pending:
                return Way(tuple(at), step, _path_of(at, step), tuple(followed))
            elif child is None or form != bits.S_IFDIR:
                number = errno.ENOENT if child is None else errno.ENOTDIR
                leads_to = _path_of(at, step, *reversed(pending))
                raise OSError(number, os.strerror(number), leads_to)
            else:
                at.append((step, child))
        return Way(tuple(at), ".", _path_of(at), tuple(followed))

    def entry(self, path: str, follow: bool = True) -> Entry | None:
        """Return what is at a path; None for nothing. Raises OSError where that cannot be seen."""
        try:
            entry = self.way(path, follow or path[-1:] == "/").entry()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return None if path[-1:] == "/" and entry is not None and not entry.is_dir else entry

    # ---------------------------------------------------------------- what looks ask

    def there(self, path: str, follow: bool) -> Entry:
        """Return what is at a path. Raises OSError."""
        entry = self.way(path, follow or path[-1:] == "/").entry()
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if path[-1:] == "/" and not entry.is_dir:  # only a folder's may end so
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return entry

    def stat(self, path: str, follow: bool = True) -> os.stat_result:
        return self.there(path, follow).stat()

    def listdir(self, path: str) -> list[str]:
        entry = self.there(path, follow=True)
        if not entry.is_dir:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return entry.listed()

    def readlink(self, path: str) -> str:
        entry = self.there(path, follow=False)
        if not entry.is_link:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        return entry.target

    def realpath(self, path: str) -> str:
        try:
            return self.way(path, follow=True).path
        except (FileNotFoundError, NotADirectoryError) as problem:
            return os.path.normpath(str(problem.filename))
        except OSError:
            return path

    def real_path(self, path: str) -> str:
        try:
            way = self.way(path, follow=True)
        except (FileNotFoundError, NotADirectoryError) as problem:
            return str(problem.filename)
        except OSError as problem:
            if problem.errno == errno.ELOOP:
                return self._in_circle("/", path, {})[0]
            raise StateFailed(f"cannot look at {path}: {problem.strerror}") from problem
        end = way.entry() or way.folders[-1][1]
        for link in way.links:
            refuse_unless(link, end.uid)
        return way.path

    def _in_circle(self, folder: str, path: str, seen: dict[str, str]) -> tuple[str, bool]:
        """Where links in a circle lead, as os.path.realpath says, and whether that is their end."""
        if path.startswith("/"):
            folder = "/"
        names = [name for name in path.split("/") if name not in ("", ".")]
        for number, name in enumerate(names, 1):
            at = os.path.dirname(folder) if name == ".." else os.path.join(folder, name)
            has_end = True
            if at in seen:
                folder, has_end = seen[at] or at, bool(seen[at])
            elif (link := self._entry(at, follow=False)) is not None and link.is_link:
                seen[at] = ""
                folder, has_end = self._in_circle(folder, link.target, seen)
                seen[at] = folder if has_end else ""
            else:
                folder = at
            if not has_end:
                return os.path.join(folder, *names[number:]), False
        return folder, True

    def access(self, path: str, mode: int) -> bool:
        entry = self._entry(path)
        if entry is None:
            return False
        if entry.is_real:
            return os.access(entry.origin or "", mode, effective_ids=True)
        if os.geteuid() == 0:
            return mode != os.X_OK or entry.is_dir or bool(entry.bits & 0o111)
        groups = (os.getegid(), *os.getgroups())
        shift = 6 if entry.uid == os.geteuid() else 3 if entry.gid in groups else 0
        return entry.bits >> shift & mode == mode

    def source(self, path: str) -> str | None:
        entry = self._entry(path, follow=False)
        return None if entry is None else entry.origin

    def opened(self, path: str) -> PlannedReader:
        entry = self.there(path, follow=True)
        if entry.is_dir:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        return entry.reader()

    def held_at(self, path: str) -> Entry | None:
        """Return what is planned at a path of names alone; None where that takes a walk."""
        entry: Entry | None = self.root
        for name in path[1:].split("/"):
            entry = entry.names.get(name) if entry is not None else None
        return entry if doubts() is None else None

    def is_planned(self, path: str) -> bool:
        if (held := self.held_at(path)) is not None and held.is_file and held.has_own_contents:
            return True
        try:
            entry = self.entry(path)
        except OSError:  # it cannot be looked at
            return False
        if entry is None:
            return os.path.exists(path)
        if entry.names or entry.has_own_contents:
            return True
        return entry.origin != os.path.realpath(path)

    def _entry(self, path: str, follow: bool = True) -> Entry | None:
        """Return what is at a path; None for nothing, and for what cannot be seen."""
        with suppress(OSError):
            return self.entry(path, follow)
        return None

    # ---------------------------------------------------------------- planning

    def hold(self, way: Way) -> Entry:
        """The last folder of a way, as one in which something can be planned."""
        self.note_altered(way.path)
        return self._held(way.folders)

    def _held(self, folders: tuple[tuple[str, Entry], ...]) -> Entry:
        folder = self.root
        for name, entry in folders[1:]:
            folder = folder.names.get(name) or folder.names.setdefault(name, entry) or entry
        return folder

    def note_altered(self, path: str) -> None:
        """Note that something else is planned at a path."""
        self.changes += 1
        planned_machine().settled[path] = True

    def held_folder(self, path: str) -> tuple[str, Entry] | None:
        """A folder, as one in which `put` can plan much, with its path without links; None where
        there is none. Raises OSError.
        """
        way = self.way(path, follow=True)
        entry = way.entry()
        if entry is None or not entry.is_dir:
            return None
        inside = () if way.name == "." else ((way.name, entry),)
        return way.path.rstrip("/"), self._held((*way.folders, *inside))

    def put(self, folder: tuple[str, Entry], name: str, entry: Entry | None) -> None:
        """Plan what a name in a held folder stands for."""
        self.note_altered(f"{folder[0]}/{name}")
        folder[1].names[name] = entry

    def last(self, way: Way) -> Entry:
        """The last folder of a way, as it is planned by now."""
        folder = self.root
        for name, entry in way.folders[1:]:
            folder = folder.names.get(name) or entry
        return folder


def planned_files() -> PlannedFiles | None:
    """The planned files themselves, for what plans by more than the changers of files."""
    files = overlay()
    return files if isinstance(files, PlannedFiles) else None


def refuse_kernels(path: str, removed: bool = False) -> None:
    """Raise Unforeseen for what the kernel makes of a change below /sys, OSError below /proc, where
    it lets nobody make or remove anything.
    """
    if path.startswith("/proc/"):
        number = errno.EPERM if removed else errno.ENOENT
        raise OSError(number, os.strerror(number), path)
    if path.startswith(KERNELS):
        raise Unforeseen(path)


def _path_of(at: Sequence[tuple[str, Entry]], *last: str) -> str:
    return "/" + "/".join([*(name for name, _ in at[1:]), *last])
