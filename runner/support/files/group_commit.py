# SPDX-License-Identifier: Apache-2.0
"""Files that are written beside their targets and wait for one sync of all, before each gets its
name: a group commit.

A file's contents are durable before it gets its name, so that after a power loss it is the old one
or the new one. One sync for each file is half of what a first run costs. States that have nothing
to do with each other therefore share one: the engine has their files collected, and commits them
before anything else looks or happens. A file whose commit fails is not there: its state runs once
more, by itself.

States that edit one file after each other share it: each reads what the one before has written, and
only the last version gets the name. Where that one gets none, all of them run once more. So it is
with a text that a program puts in its place (`crontab -`): nothing else waits beside that.

A state that looks at other files (a source) has those that wait named first; where one of them gets
no name, the state changes nothing and runs once more after that one's state.

Whoever keeps the history takes what was written from here (WRITTEN), instead of reading it again.
"""

from __future__ import annotations

import ctypes
import os
import stat
import time
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from itertools import chain

from runner.model.chunk import Chunk
from runner.model.records import Record
from runner.support.files import descriptors
from runner.support.files.folder_syncs import FEWEST, FOLDER_SYNCS, device_and_inode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

MOST = 128  # files that wait
MOST_DIRTY = 64 << 10  # kB that wait to be written on the whole machine: with more, one by one
# where syncfs(2) makes durable what fsync(2) does, and says so when it fails
SYNCED_AS_A_WHOLE = frozenset(("ext3", "ext4", "xfs", "f2fs", "tmpfs"))
SAYS_SO_SINCE = (5, 8)  # the release of Linux
# what tells who is who: looks of other files go by these
_LOOKED_AT_BY_OTHERS = frozenset(("passwd", "group", "nsswitch.conf"))

LARGEST_KEPT = 64 << 10  # bytes of a written file that are kept
MOST_KEPT = 4 << 20  # bytes of all: with more, files are read again

Stamp = tuple[int, ...]


def stamp(status: os.stat_result) -> Stamp:
    """Return what is another one when somebody has altered a path since."""
    return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, status.st_ctime_ns


Version = tuple[int, ...]  # of a file; ABSENT: there was none
ABSENT: Version = ()
LONGEST_EDIT = 1.0  # seconds that a rename waits for others, of which each takes microseconds
# the folders that others held for longer, as whoever may read one can
_HELD_FOR_LONG: set[tuple[int, int]] = set()
# those that this process holds as its own, by their locks: nobody else renames in them
OWN_FOLDERS: set[tuple[int, int]] = set()


def version(status: os.stat_result) -> Version:
    """Return what is another one when somebody has written a file since, whatever it is called."""
    return status.st_mtime_ns, status.st_ino, status.st_size


def version_at(path: str) -> Version:
    """The version of a file; of one that nobody may see as of none."""
    try:
        return version(os.stat(path))
    except OSError:
        return ABSENT


class one_at_a_time:  # in lower case: used as a function; a generator costs more
    """Hold off the renames of others in an open folder: other threads and other processes. Where
    somebody holds it for long, who is waited for once, or it cannot be locked, nobody is; nor in a
    folder that this process holds as its own.
    """

    __slots__ = ("_folder", "_is_held")

    def __init__(self, folder: int) -> None:
        self._folder, self._is_held = folder, False

    def __enter__(self) -> None:
        try:
            flock(self._folder, LOCK_EX | LOCK_NB)
            self._is_held = True
            if _HELD_FOR_LONG:  # no longer
                _HELD_FOR_LONG.discard(device_and_inode(os.fstat(self._folder)))
        except BlockingIOError:
            self._wait()
        except OSError:
            return

    def _wait(self) -> None:
        with suppress(OSError):
            at = device_and_inode(os.fstat(self._folder))
            if at in OWN_FOLDERS:
                return
            end = 0 if at in _HELD_FOR_LONG else time.monotonic() + LONGEST_EDIT
            while not self._is_held and time.monotonic() <= end:
                time.sleep(0.001)
                with suppress(BlockingIOError):
                    flock(self._folder, LOCK_EX | LOCK_NB)
                    self._is_held = True
            if not self._is_held:
                _HELD_FOR_LONG.add(at)

    def __exit__(self, *problem: object) -> None:
        if self._is_held:
            flock(self._folder, LOCK_UN)


def is_overtaken(folder: int, name: str, looked_at: Version | None) -> bool:
    """Return whether somebody has written what has a name since it was looked at. looked_at: None:
    nobody goes by what it was.
    """
    if looked_at is None:
        return False
    try:
        return version(os.lstat(name, dir_fd=folder)) != looked_at
    except FileNotFoundError:
        return looked_at != ABSENT


class WrittenFiles:
    """The contents of files that are written, or written over, that nobody has asked for yet. A
    file is known by its stamp, which is another one as soon as anybody alters it.
    """

    def __init__(self) -> None:
        self._is_wanted = False
        self._contents: dict[Stamp, bytes] = {}
        self._size = 0

    def want(self, wanted: bool) -> None:
        """Note whether anybody will ask."""
        self._is_wanted = wanted
        self._clear()

    def note(self, file: int | os.stat_result, data: bytes | None) -> None:
        """Note what is in a file that has its name. file: open, or its stat."""
        if not self._is_wanted or data is None or len(data) > LARGEST_KEPT:
            return
        if self._size + len(data) > MOST_KEPT:
            self._clear()
        self._size += len(data)
        self._contents[stamp(os.fstat(file) if isinstance(file, int) else file)] = data

    def taken(self, found: Stamp) -> bytes | None:
        """Return what is in a file, once; None where that is not known."""
        data = self._contents.pop(found, None)
        if data is not None:
            self._size -= len(data)
        return data

    def _clear(self) -> None:
        self._contents.clear()
        self._size = 0


WRITTEN = WrittenFiles()


class WaitingFile(Record):
    """A file beside its target. descriptor, folder: it and where it lies, both open. at: the device
    and inode of the folder. hidden: its name; path: its target's. data: what is in it, where that
    is known. chunk: its state. looked_at: the version of the target that it was made from.
    """

    descriptor: int
    folder: int
    at: tuple[int, int]
    hidden: str
    path: str
    data: bytes | None = None
    chunk: Chunk | None = None
    looked_at: Version | None = None

    def is_named(self) -> bool:
        """Give it its name; whether that could be done."""
        folder, _, name = self.path.rpartition("/")
        try:
            with one_at_a_time(self.folder):
                if is_overtaken(self.folder, name, self.looked_at):
                    return False
                os.rename(self.hidden, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            WRITTEN.note(self.descriptor, self.data)
            FOLDER_SYNCS.changed(self.folder, folder or "/", self.chunk, self.at)
        except OSError:
            return False
        return True

    def abandon(self) -> None:
        with suppress(OSError):
            os.unlink(self.hidden, dir_fd=self.folder)

    def is_synced(self, alone: Collection[int]) -> bool:
        """Make its contents durable where it lies on one of some file systems; whether they are."""
        try:
            if self.at[0] in alone:
                os.fsync(self.descriptor)
        except OSError:
            return False
        return True

    def close(self) -> None:
        os.close(self.descriptor)


class WaitingFolder(Record):
    """A folder that was filled under a hidden name, where no target is yet. source: where it lies,
    open. inside: a path to it. entries: of what is in it. put_away: removes what is left when it
    has its name, or gets none; closes `source`. The rest as of WaitingFile.
    """

    descriptor: int
    folder: int
    at: tuple[int, int]
    hidden: str
    path: str
    chunk: Chunk | None
    source: int
    inside: str
    entries: int
    put_away: Callable[[], object]

    def is_named(self) -> bool:
        """Give it its name; whether that could be done."""
        above, _, name = self.path.rpartition("/")
        try:
            os.rename(self.hidden, name, src_dir_fd=self.source, dst_dir_fd=self.folder)
            FOLDER_SYNCS.changed(self.folder, above or "/", self.chunk, self.at)
        except OSError:
            return False
        return True

    def abandon(self) -> None:
        """See `close`."""

    def is_synced(self, alone: Collection[int]) -> bool:
        """As of WaitingFile."""
        try:
            if self.at[0] in alone:
                make_contents_durable(self.inside)
        except OSError:
            return False
        return True

    def close(self) -> None:
        os.close(self.descriptor)
        self.put_away()


class WaitingText(Record):
    """What a program is to put in its place. path: what stands for that place, and is no path.
    install: has it done; whether it was. looked_at: the versions of files, by their paths, that it
    was made from.
    """

    path: str
    text: tuple[str, ...]
    install: Callable[[], bool]
    looked_at: Mapping[str, Version]

    def is_named(self) -> bool:
        """Have it put in its place; whether that could be done."""
        seen = self.looked_at.items()
        return all(version_at(path) == version for path, version in seen) and self.install()

    def abandon(self) -> None:
        """See WaitingFile."""

    def is_synced(self, alone: Collection[int]) -> bool:
        """Return whether it may be put in its place: the program makes it durable."""
        return True

    def close(self) -> None:
        """See WaitingFile."""


Waiting = WaitingFile | WaitingFolder | WaitingText


class GroupCommit:
    """The files that wait; of one thread."""

    def __init__(self) -> None:
        self._owner: int | None = None  # whose files are collected now
        self._files: dict[int, list[Waiting]] = {}  # of each owner
        self._newest: dict[str, tuple[int, Waiting]] = {}  # by their paths, with the owner
        self.is_of_program = False  # what waits is a text
        self._joined: dict[int, int] = {}  # who edits a file that waits: whose it is
        self._folders: dict[tuple[int, int], int] = {}  # where they lie, open
        self._targets: set[tuple[int, int, str]] = set()
        self._above: dict[str, tuple[int, int]] = {}  # the folders above, as far as was asked
        self._nameless: dict[int, list[str]] = {}  # the paths of files that did not get theirs
        self._unsynced: set[int] = set()  # file systems whose files are synced one by one
        self._can_sync: dict[int, bool] = {}  # file systems, by their devices
        # what is to be done before a file gets its name: the history notes what is about to happen
        self.announce: Callable[[], None] = lambda: None

    def collecting(self, owner: int | None, path: str = "") -> GroupCommit:
        """Have the files that a state writes wait, until the end of this context. owner: its
        position; None: they do not wait. path: the file that it is about.
        """
        if owner is not None and path in self._newest:
            self._joined[owner] = owner = self._newest[path][0]
        self._owner = owner
        return self

    def __enter__(self) -> None:
        """See `collecting`."""

    def __exit__(self, *error: object) -> None:
        self._owner = None

    @property
    def is_collecting(self) -> bool:
        return self._owner is not None

    @property
    def is_waiting(self) -> bool:
        """Return whether any file waits for its name."""
        return bool(self._files)

    @property
    def has_room(self) -> bool:
        return len(self._targets) < MOST

    def owns(self, owner: int) -> bool:
        """Return whether a file of a state waits, or did not get its name."""
        return owner in self._files or owner in self._nameless

    def stand_in(self, path: str) -> str | None:
        """The hidden name of the file that waits to get a path; None for none."""
        waits = self._newest.get(path)
        return waits[1].hidden if waits and isinstance(waits[1], WaitingFile) else None

    def text_of(self, path: str) -> tuple[str, ...] | None:
        """The text that waits to be put in a place by a program; None for none."""
        waits = self._newest.get(path)
        return waits[1].text if waits and isinstance(waits[1], WaitingText) else None

    def at_present(self, path: str) -> str:
        """Where that is which will have a path: the path itself, unless its file waits."""
        if path not in self._newest:  # asked for each look
            return path
        hidden = self.stand_in(path)
        return path if hidden is None else os.path.join(os.path.dirname(path), hidden)

    def is_own(self, path: str) -> bool:
        """Return whether a file waits for a path that belongs to the state that writes now."""
        return path in self._newest and self._newest[path][0] == self._owner

    def may_follow(self, path: str) -> bool:
        """Return whether what waits has nothing to do with a file, or all of it that has is about
        just this one: its next version is made of that.
        """
        if path[:1] != "/":  # of a program, which may look at anything
            return path in self._newest
        return self.may_be_joined(path) or not self.may_concern(path)

    def may_be_joined(self, path: str) -> bool:
        """Return whether a file waits for just this path, which is no link."""
        if path not in self._newest or isinstance(self._newest[path][1], WaitingFolder):
            return False
        try:
            return stat.S_ISREG(os.lstat(path).st_mode)
        except OSError as error:
            return isinstance(error, FileNotFoundError)

    def look_beside(self, path: str) -> None:
        """Give files their names where that may concern a path beside the state's own."""
        if self._owner is not None and self._targets and self.may_concern(path):
            self.settle()

    def look_around(self) -> None:
        """Give all files their names: the state that runs now looks at what nobody foresees."""
        if self._owner is not None and self._targets:
            self.settle()

    def write_at_once(self) -> None:
        """Have the files of the state that writes now wait no longer: it does more."""
        if self._owner is not None:
            self.settle()
            self.announce()
            self._owner = None

    @property
    def has_to_run_again(self) -> bool:
        """Return whether the state that runs now runs once more when a file that it goes by, or
        its own, has got its name.
        """
        return self._owner is not None and self._owner in self._nameless

    def add(self, file: WaitingFile | WaitingFolder) -> bool:
        """Have one wait; its descriptor is closed when it has its name, that of the folder stays
        the caller's. False where it has to get its name now.
        """
        name = file.path.rpartition("/")[2]
        if self._owner is None or name in _LOOKED_AT_BY_OTHERS or not name.isascii():
            return False
        if not descriptors.may_be_held(file.descriptor):
            return False
        if not self.has_room:  # one state writes many
            self.settle()
        folder = self._folders.get(file.at)
        if folder is None:
            folder = descriptors.held(file.folder)
            if folder is None:
                return False
            self._folders[file.at] = folder
        self._wait(self._owner, file._replace(folder=folder))
        self._targets.add((*file.at, name.casefold()))
        return True

    def add_text(self, text: WaitingText) -> bool:
        """Have a text wait for its program; False where it has to be put in its place now."""
        if self._targets and not self.is_own(text.path):
            self.settle()
        if self._owner is None:
            return False
        self._wait(self._owner, text)
        self._targets.add((0, 0, text.path))
        self.is_of_program = True
        return True

    def _wait(self, owner: int, file: Waiting) -> None:
        """Have a file wait instead of its version that the same owner had."""
        files = self._files.setdefault(owner, [])
        if self.is_own(file.path) and not isinstance(file, WaitingFolder):
            former = self._newest[file.path][1]
            file = file._replace(looked_at=former.looked_at)  # type: ignore  # of one kind
            files.remove(former)
            former.abandon()
            former.close()
        files.append(file)
        self._newest[file.path] = owner, file

    def may_concern(self, path: str) -> bool:
        """Return whether what is at a path, or above it, may be another one after the commit."""
        if self.is_of_program:
            return True
        folder, _, name = path.rpartition("/")
        if not name.isascii() or name in ("", ".", "..") or "//" in folder or "/." in folder:
            return True
        try:
            with suppress(FileNotFoundError):
                at = os.lstat(path)
                if stat.S_ISDIR(at.st_mode):  # which no file takes the place of
                    return self._lie_below(at)
                if not stat.S_ISREG(at.st_mode):
                    return True
            at = os.stat(folder or ("/" if path[:1] == "/" else "."))
        except FileNotFoundError:  # not yet
            return self.may_concern(folder)
        except OSError:
            return True
        return (at.st_dev, at.st_ino, name.casefold()) in self._targets

    def _lie_below(self, at: os.stat_result) -> bool:
        """Return whether files that wait lie below a folder, as named or where links lead."""
        for path in self._newest:
            folder = path
            if os.path.dirname(path) not in self._above:
                real = os.path.realpath(path)
                while (real := os.path.dirname(real)) not in self._above:
                    self._above[real] = device_and_inode(os.stat(real))
            while (folder := os.path.dirname(folder)) not in self._above:
                self._above[folder] = device_and_inode(os.stat(folder))
        return device_and_inode(at) in self._above.values()

    def sync(self) -> None:
        """Make the contents of all files durable, where that can be done for many at once."""
        if self._files:
            self.announce()
        self._unsynced = self._synced_one_by_one()

    def finish(self, owner: int) -> list[str]:
        """Give the files of a state their names; the paths of those that did not get one."""
        owner = self._joined.get(owner, owner)
        self._name(owner)
        return self._nameless.get(owner, [])

    def settle(self) -> None:
        """Give all files their names now; who owns one that gets none is told when it is asked, and
        so is the state that runs now: it goes by what the other one is to do again.
        """
        self.sync()
        for owner in list(self._files):
            self._name(owner)
        if self._nameless and self._owner is not None:
            self._nameless.setdefault(self._owner, [""])

    def finish_all(self) -> None:
        """Give all files their names, as far as that can be done; nobody asks for more."""
        for owner in list(self._files):
            self._name(owner)
        self._nameless.clear()
        self._joined.clear()

    def _name(self, owner: int) -> None:
        """Give the files of a state their names, in their order: none where one of them cannot be
        synced, and none after one that gets none, as the copy of a file that is edited.
        """
        files = self._files.pop(owner, [])
        lost = owner in self._nameless
        lost = lost or False in [file.is_synced(self._unsynced) for file in files]
        writes_now, self._owner = self._owner, None  # a program that names one names no other
        try:
            for file in files:
                is_named = False
                try:
                    is_named = not lost and file.is_named()
                finally:
                    lost = not is_named
                    if lost:
                        file.abandon()
                        self._nameless.setdefault(owner, []).append(file.path)
                    self._newest.pop(file.path, None)
                    file.close()
        finally:
            self._owner = writes_now
        if not self._files:
            self.is_of_program = False
            self._targets.clear()
            self._above.clear()
            for folder in self._folders.values():
                os.close(folder)
            self._folders.clear()

    def _synced_one_by_one(self) -> set[int]:
        """Sync the file systems of many of the files; those whose files are to be synced one by one
        remain.
        """
        files: dict[int, list[int]] = {}
        for file in chain.from_iterable(self._files.values()):
            if not isinstance(file, WaitingText):
                count = file.entries if isinstance(file, WaitingFolder) else 1
                files.setdefault(file.at[0], []).extend([file.descriptor] * count)
        alone = set()
        for device, group in files.items():
            if len(group) < FEWEST:
                alone.add(device)
            elif not self.sync_all(device, group[0]):
                alone.add(device)
                for descriptor in group:
                    _begin_writing(descriptor)
        return alone

    def sync_all(self, device: int, descriptor: int) -> bool:
        """Sync a whole file system; False where its files are to be synced one by one."""
        return self._may_sync(device) and _is_little_dirty() and _sync_file_system(descriptor)

    def _may_sync(self, device: int) -> bool:
        if device not in self._can_sync:
            types = types_of(device)
            known = bool(types) and types <= SYNCED_AS_A_WHOLE
            self._can_sync[device] = known and _release() >= SAYS_SO_SINCE
        return self._can_sync[device]


def make_contents_durable(folder: str) -> None:
    """Make all that is in a folder durable, files and names, which nobody else can reach. Raises
    OSError.
    """
    paths = []
    for root, _, names in os.walk(folder):
        files = (os.path.join(root, name) for name in names)
        paths += [path for path in files if stat.S_ISREG(os.lstat(path).st_mode)]
        paths.append(root)
    if len(paths) >= FEWEST:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if GROUP_COMMIT.sync_all(os.fstat(top).st_dev, top):
                return
        finally:
            os.close(top)
    for act in (_begin_writing, os.fsync):
        for path in paths:
            with suppress(PermissionError):  # of a user, who may not read it
                file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    act(file)
                finally:
                    os.close(file)


def _begin_writing(descriptor: int) -> None:
    """Have what is dirty of a file written soon, without waiting for it."""
    with suppress(OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def types_of(device: int) -> set[str]:
    """The types with which the file system of a device number is mounted; none where that is not
    known.
    """
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            rows = [line.split(" ") for line in mounts]
    except OSError:
        return set()
    return {row[row.index("-") + 1] for row in rows if row[2:3] == [number]}


def _release() -> tuple[int, ...]:
    major, minor, *_ = os.uname().release.split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _is_little_dirty() -> bool:
    """Return whether little waits to be written on this machine, so that a sync is no long wait."""
    kilobytes = 0
    with suppress(OSError, ValueError), open("/proc/meminfo", "rb") as facts:
        for line in facts:
            if line.startswith((b"Dirty:", b"Writeback:")):
                kilobytes += int(line.split()[1])
        return kilobytes <= MOST_DIRTY
    return False


def _sync_file_system(descriptor: int) -> bool:
    """Make a whole file system durable; False where that failed."""
    try:
        return bool(ctypes.CDLL(None).syncfs(descriptor) == 0)
    except (OSError, AttributeError):
        return False


GROUP_COMMIT = GroupCommit()
FOLDER_SYNCS.sync_many = GROUP_COMMIT.sync_all
