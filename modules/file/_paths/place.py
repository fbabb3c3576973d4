# SPDX-License-Identifier: Apache-2.0
"""A place is a name in a folder that is held open: what happens there stays there, wherever its
path leads meanwhile.

Everything in `modules` that changes a path does so through a place, and sets owner, mode and times
of what it holds by a descriptor. So nobody can swap a file, or a folder above it, for a link
between a look and a change.
"""

from __future__ import annotations

# os in this file: works in a folder that is held open; `planned_place.py` stands in for it
import errno
import os
import shutil
import stat as bits
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from io import FileIO
from types import TracebackType

from modules import _paths
from modules._paths import READ
from modules._planned.overlay import overlay
from modules.file._contents import limits
from modules.file._paths.walk import FOLDER, PATH_ONLY, Resolved, resolved
from modules.file._rights import lock_of
from runner.api import Overtaken, StateFailed, Version, here, others_write
from runner.api.durability import (
    announce_write,
    collects_files,
    commits_later,
    folder_commits_later,
    is_overtaken,
    note_contents,
    one_at_a_time,
    stand_in,
    sync_folder,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

BUFFER = 64 * 1024  # bytes; given, Python does not ask whether a file is a terminal
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def place(path: str, follow: bool = False) -> Place:
    """The place that a path means now, in a dry run on the planned machine. follow: a link at its
    end, too, where it may be followed.
    """
    planned = overlay()
    return Place(resolved(path, follow)) if planned is None else planned.place(path, follow)


class Place:
    """A name in an open folder. path: for messages; a context manager, which closes the folder."""

    _is_lent = False  # the folder is that of another place, which closes it

    def __init__(self, where: Resolved) -> None:
        self.folder, self.name, self.path, self._owner = (
            where.folder,
            where.name,
            where.path,
            where.owner,
        )

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError) and error.filename == self.name:
            error.filename = self.path  # a name alone says nothing
        self.close()

    def close(self) -> None:
        if not self._is_lent:
            os.close(self.folder)

    # ---------------------------------------------------------------- looking

    @property
    def present_name(self) -> str:
        """Where that is which has the name, or waits to get it."""
        return stand_in(self.path) or self.name

    def seen(self) -> os.stat_result | None:
        """The stat of what exists there, a link itself; None for nothing."""
        try:
            at = os.lstat(self.present_name, dir_fd=self.folder)
        except FileNotFoundError:
            return None
        self._check(at)
        return at

    def is_dir(self) -> bool:
        """Return whether a folder is there, no link to one."""
        at = self.seen()
        return at is not None and bits.S_ISDIR(at.st_mode)

    def shared(self) -> bool:
        """Return whether somebody but root and the caller can put something there."""
        return others_write(os.fstat(self.folder))

    def readlink(self) -> str:
        return os.readlink(self.present_name, dir_fd=self.folder)

    def open(self, flags: int = READ, mode: int = 0o600) -> int:
        """Open what is there: never a link, and nobody is waited for at the other end of a pipe."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(self.present_name, flags, mode, dir_fd=self.folder)
        try:
            self._check(os.fstat(handle))
        except BaseException:
            os.close(handle)
            raise
        return handle

    def open_file(self) -> int:
        """Open a regular file for reading. Raises StateFailed for what is none."""
        handle = self.open()
        if bits.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
        raise StateFailed(f"cannot read {self.path}: it is a device, a pipe or a socket")

    def opened(self, path: str) -> FileIO:
        """A regular file, opened for reading without a buffer. path: its name in messages. Raises
        OSError, and StateFailed for what is none.
        """
        return _paths.regular(self.open(), path)

    @contextmanager
    def reading(self) -> Iterator[tuple[IO[bytes], Pinned]]:
        """Open a regular file, and hold it. Raises StateFailed for what is none."""
        handle = self.open_file()
        with open(handle, "rb") as file:
            yield file, Pinned(self, handle)

    @contextmanager
    def pinned(self) -> Iterator[Pinned]:
        """Hold what exists there now, a link itself, so that owner, mode and times can be set
        whatever replaces it.
        """
        handle = os.open(self.present_name, PATH_ONLY, dir_fd=self.folder)
        try:
            pin = Pinned(self, handle, path_only=True)
            self._check(pin.at)
            yield pin
        finally:
            os.close(handle)

    @contextmanager
    def entered(self) -> Iterator[Folder]:
        """The folder that is here, opened; a link to one is none."""
        handle = self.open(FOLDER)
        try:
            yield Folder(self, handle)
        finally:
            os.close(handle)

    def _check(self, at: os.stat_result) -> None:
        if self._owner not in (-1, at.st_uid):
            raise StateFailed(
                f"{self.path} has been swapped since it was looked at; nothing was changed"
            )

    # ---------------------------------------------------------------- changing

    def refuse_too_large(self, size: int) -> None:
        """Raise StateFailed where the file system has certainly no room for so many bytes."""
        room = limits.lacking(self.folder, size) if size > BUFFER else None  # the write says so
        if room is not None:
            raise limits.too_large(self.path, size, room)

    def beside(self, lasting: bool = True) -> Place:
        """A new hidden name in the same folder, for what is then renamed to this one. lasting: it
        may be used when this one is closed. Raises StateFailed where it could not be renamed.
        """
        if lock_of(self.folder, "", "a"):
            above = os.path.dirname(self.path)
            why = f"in {above} nothing can be changed: it {lock_of(self.folder, above, 'a')}"
            raise StateFailed(f"{self.path} cannot be changed: {why}")
        path = beside_name(self.path)
        folder = os.dup(self.folder) if lasting else self.folder
        place = Place(Resolved(folder, path.rpartition("/")[2], path))
        place._is_lent = not lasting
        return place

    def mkdir(self, mode: int = 0o777) -> None:
        os.mkdir(self.name, mode, dir_fd=self.folder)

    def mknod(self, mode: int, device: int) -> None:
        os.mknod(self.name, mode, device, dir_fd=self.folder)

    def symlink(self, target: str) -> None:
        os.symlink(target, self.name, dir_fd=self.folder)

    def link_to(self, target: Place) -> None:
        """Become one more name of a file."""
        folders = {"src_dir_fd": target.folder, "dst_dir_fd": self.folder}
        os.link(target.present_name, self.name, follow_symlinks=False, **folders)

    def rename_to(self, new: Place) -> None:
        os.rename(self.name, new.name, src_dir_fd=self.folder, dst_dir_fd=new.folder)

    @contextmanager
    def only_if(self, looked_at: Version | None) -> Iterator[None]:
        """Hold off other edits of what is here, while it is still the version that was looked at.
        Raises Overtaken.
        """
        with one_at_a_time(self.folder):
            if is_overtaken(self.folder, self.name, looked_at):
                raise Overtaken(f"{self.path} was changed while it was being edited; run again")
            yield

    def becomes_later(self, new: Place, file: NewFile, looked_at: Version | None) -> bool:
        """Return whether the engine syncs and renames a file that was written here, together with
        others, as soon as anybody may look; False: that is to be done now. looked_at: as of
        `only_if`.
        """
        if not collects_files():
            return False
        at = os.fstat(self.folder)
        if not others_write(at):
            written = (self.folder, at, self.name, new.path, file.data, looked_at)
            if commits_later(file.handle, *written):
                file.is_given_away = True
                return True
        announce_write()
        return False

    def folder_becomes_later(self, new: Place, put_away: Callable[[], object]) -> bool:
        """As `becomes_later`, of a folder that was filled here, where `new` is nothing yet.
        put_away: removes what is left when it is done, and closes this place.
        """
        at = os.fstat(new.folder)
        if not collects_files() or others_write(at) or new.seen() is not None:
            return False
        handle = self.open(FOLDER)
        inside = f"/proc/self/fd/{handle}/."
        if os.path.isdir(inside) and os.fstat(handle).st_dev == at.st_dev:
            where = (new.folder, at, self.name, new.path, self.folder, inside, put_away)
            if folder_commits_later(handle, *where):
                return True
        os.close(handle)
        return False

    def unlink(self) -> None:
        os.unlink(self.name, dir_fd=self.folder)

    def rmdir(self) -> None:
        os.rmdir(self.name, dir_fd=self.folder)

    def remove(self) -> None:
        """Remove what is there, a folder with all in it; links in it are not followed. Nothing
        there is fine.
        """
        with suppress(FileNotFoundError):
            if self.is_dir():
                self._remove_tree()
            else:
                self.unlink()

    def _remove_tree(self) -> None:
        try:
            shutil.rmtree(self.name, dir_fd=self.folder)
        except (RecursionError, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno != errno.EMFILE:
                raise
            # deeper than Python's library can go; the system's own program can
            argv = ["rm", "-rf", "--", f"./{self.name}"]
            done = subprocess.run(
                argv,
                cwd=f"/proc/self/fd/{self.folder}",
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise StateFailed(f"{self.path} is not removed: {done.stderr.strip()}") from None

    def new_file(self) -> AbstractContextManager[NewFile]:
        """Create a file that nobody but the caller may read yet, and open it for writing."""
        handle = os.open(self.name, NEW, 0o600, dir_fd=self.folder)
        return NewFile(handle, Pinned(self, handle))

    def sync(self) -> None:
        """Make the names in the folder durable, at the next commit point of the run."""
        sync_folder(self.folder, os.path.dirname(self.path))


class Pinned:
    """One object, held by a descriptor, whatever its path names now. at: what it was when it was
    opened.
    """

    def __init__(self, place: Place, handle: int, path_only: bool = False) -> None:
        """path_only: the descriptor only says what is meant; nothing can be set by it."""
        self._place, self._handle, self._path_only = place, handle, path_only
        self.at = os.fstat(handle)

    @property
    def is_link(self) -> bool:
        return bits.S_ISLNK(self.at.st_mode)

    @property
    def is_dir(self) -> bool:
        return bits.S_ISDIR(self.at.st_mode)

    def name(self) -> str:
        """A name for the object itself, for this process and the programs that it starts. Raises
        OSError without /proc.
        """
        name = f"/proc/{os.getpid()}/fd/{self._handle}"
        if not os.path.lexists(name):
            raise OSError(errno.ENOTSUP, "/proc is not mounted", self._place.path)
        return name

    def mode(self) -> int:
        """The mode that it has now."""
        return bits.S_IMODE(os.fstat(self._handle).st_mode)

    def chmod(self, mode: int) -> None:
        self.refuse_shared()
        if not self._path_only:
            os.fchmod(self._handle, mode)
            return
        with self._settable() as own:
            os.chmod(own, mode)

    def chown(self, uid: int, gid: int) -> None:
        """Set the owner; the set-user-ID bits stay."""
        self.refuse_shared()
        with self._settable() as own:
            os.chown(own, uid, gid)
            if self.at.st_mode & 0o6000 and not self.is_link:
                os.chmod(own, bits.S_IMODE(self.at.st_mode))

    def utime(self, atime: float, mtime: float) -> None:
        with self._settable() as own:
            os.utime(own, (atime, mtime))

    def take_times(self, other: os.stat_result) -> None:
        """Get the times of something else."""
        with self._settable() as own:
            os.utime(own, ns=(other.st_atime_ns, other.st_mtime_ns))

    def attributes(self) -> dict[str, bytes]:
        """The extended attributes, access lists among them; none where the file system has none."""
        values = {}
        with suppress(OSError), self._settable() as own:
            for name in os.listxattr(own):
                with suppress(OSError):
                    values[name] = os.getxattr(own, name)
        return values

    def set_attribute(self, name: str, value: bytes) -> None:
        with self._settable() as own:
            os.setxattr(own, name, value)

    def remove_attribute(self, name: str) -> None:
        with self._settable() as own:
            os.removexattr(own, name)

    def readlink(self) -> str:
        return os.readlink("", dir_fd=self._handle)

    def refuse_foreign(self, kind: int = bits.S_IFLNK) -> None:
        """Raise StateFailed unless this is what the caller has just made here. kind: S_IFDIR and so
        on.
        """
        if not self._place.shared():
            return
        own = self.at.st_uid == os.geteuid() and bits.S_IFMT(self.at.st_mode) == kind
        if own and self.is_dir:
            handle = os.open(".", FOLDER, dir_fd=self._handle)
            try:
                own = not os.listdir(handle)  # a folder of ours with something in it is another one
            finally:
                os.close(handle)
        if not own:
            raise StateFailed(
                f"{self._place.path} was swapped while it was being made; it is not changed further"
            )

    def refuse_shared(self) -> None:
        """Raise StateFailed for a file that somebody may have linked here to get hold of it."""
        if self.at.st_nlink < 2 or self.is_dir or not self._place.shared():
            return
        owner = os.fstat(self._place.folder).st_uid
        protected = _paths.of_kernel("/proc/sys/fs/protected_hardlinks").strip() == "1"
        if (owner in (0, os.geteuid()) or self.at.st_uid != owner) and not protected:
            raise StateFailed(
                f"{self._place.path} has {self.at.st_nlink} hard links, in a folder that others can"
                " write to: it is not changed (set the sysctl fs.protected_hardlinks to 1)"
            )

    @contextmanager
    def _settable(self) -> Iterator[str | int]:
        """A name or a descriptor by which the object itself is set."""
        if not self._path_only:
            yield self._handle
            return
        own = f"/proc/self/fd/{self._handle}"
        if os.path.lexists(own):
            yield own
            return
        again = self._place.open(READ)  # without /proc what is opened for reading can be set
        try:
            if not os.path.samestat(os.fstat(again), self.at):
                raise StateFailed(
                    f"{self._place.path} has been swapped since it was looked at; nothing was"
                    " changed"
                )
            yield again
        finally:
            os.close(again)


class NewFile:
    """A file that is being written. pin: the file itself, for its owner and mode. data: all that is
    in it, where it was written at once. is_given_away: somebody else closes it.
    """

    data: bytes | None = None
    is_given_away = False

    def __init__(self, handle: int, pin: Pinned) -> None:
        self.handle, self.pin = handle, pin

    @cached_property
    def file(self) -> IO[bytes]:
        return open(self.handle, "wb", BUFFER, closefd=False)

    def write(self, data: bytes) -> None:
        """Write all that it is to have."""
        self.data, left = data, memoryview(data)
        while left:
            left = left[os.write(self.handle, left) :]

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.is_given_away:
            os.close(self.handle)

    def flush(self) -> None:
        if "file" in self.__dict__:
            self.file.flush()

    def sync(self) -> None:
        """Make what was written durable."""
        os.fsync(self.handle)

    def note(self) -> None:
        """Note what is in it, now that it has its name."""
        note_contents(self.handle, self.data)


class Folder:
    """A folder that is held open. pin: the folder itself, for its owner and mode."""

    def __init__(self, where: Place, handle: int) -> None:
        self.handle, self._path = handle, where.path
        self.pin = Pinned(where, handle)

    def names(self) -> list[str]:
        return os.listdir(self.handle)

    def clear(self) -> None:
        """Remove all that is in it."""
        for name in self.names():
            with self.place(name) as inner:
                inner.remove()

    def place(self, name: str) -> Place:
        """A name in it."""
        return Place(Resolved(os.dup(self.handle), name, os.path.join(self._path, name)))


def beside_name(path: str) -> str:
    """A new hidden name beside a path, for what is then renamed to it. It carries the mark of this
    run.
    """
    folder, _, name = path.rpartition("/")
    names = here.store("temporaries")
    mark = names.get("mark") or names.setdefault("mark", os.urandom(4).hex())
    if len(name) > 50:  # a name of 255 bytes is the longest there is
        name = os.fsdecode(os.fsencode(name)[:200])
    beside = f"{folder}/.{name}.runner-{mark}{os.urandom(2).hex()}"
    here.intends(beside)
    return beside
