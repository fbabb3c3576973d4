# SPDX-License-Identifier: Apache-2.0
"""The opener of the folders in which runner keeps its own files: `state_dir` and `cachedir`.

What lies in them is believed, and partly run: compiled templates, the history that undo follows,
reactions to do. So nobody else may be able to put anything there. A folder is walked down to from /
by descriptors; each folder and link on the way has to belong to root or the caller, and others must
not be able to write it (a sticky folder such as /tmp is passed through, as what is the caller's
cannot be replaced in it). Its files are opened relative to the descriptor, never through a link,
and have to be rightly owned too: they may be from a time when the folder was open to others.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
import time
from _weakref import ref  # weakref imports more
from contextlib import suppress

from runner.model.errors import REFUSED, RunnerError
from runner.support.files.permissions import MOST_LINKS, Flaw, flaw, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PASSED = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
SCRATCH = "scratch-"  # what the names of scratch folders in `cachedir` begin with
ELSEWHERE = (
    "or choose a folder of your own: --cachedir DIR; `state_dir` and `cachedir` in the"
    " configuration"
)


class Untrusted(RunnerError):
    """Others can write a folder that runner would keep its files in."""

    code = REFUSED


class UntrustedFile(OSError):
    """An entry of a trusted folder has a type or an owner that cannot be trusted."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(errno.EPERM, reason, path)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def is_there(folder: str, name: str) -> bool:
    """Return whether a folder of runner has a file. Raises OSError where this user may not know."""
    try:
        os.lstat(os.path.join(folder, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def hint_to(folder: str, error: object) -> str | None:
    """What helps where a folder of runner is another user's; None where it is not that."""
    if not isinstance(error, PermissionError) or isinstance(error, UntrustedFile):
        return None
    owner = "root"
    with suppress(OSError, LookupError, ImportError):
        owner = pwd.getpwuid(os.stat(folder).st_uid).pw_name
    own = "a history of your own: --cachedir DIR"
    return f"{folder} is {owner}'s: run this as {owner} (sudo), or with {own}"


class TrustedFolder:
    """A folder that only root and the caller can write. path: where it is, without links."""

    __slots__ = ("__weakref__", "descriptor", "path")

    def __init__(self, path: str, descriptor: int) -> None:
        self.path, self.descriptor = path, descriptor

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self.descriptor)

    def is_at(self, path: str) -> bool:
        """Return whether a path still leads to it."""
        try:
            return os.path.samestat(os.stat(path), os.fstat(self.descriptor))
        except OSError:
            return False

    def below(self, *names: str, make: bool = True) -> TrustedFolder:
        """A folder in it, readable by nobody else if made now. Raises OSError and Untrusted."""
        folder = self
        for name in names:
            if name in ("", ".", "..") or "/" in name:
                raise ValueError(f"{name!r} is not a name of a folder")
            path = os.path.join(folder.path, name)
            folder = _checked(path, _entered(folder.descriptor, name, 0o700 if make else None))
        return folder

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """A descriptor of a file in it. Raises OSError: UntrustedFile for what is no file, or not
        rightly owned.
        """
        path = os.path.join(self.path, name)
        try:
            descriptor = os.open(name, flags | _SAFELY, mode, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise UntrustedFile(path, "it is not a regular file; remove it") from None
            raise
        try:
            self._check(path, os.fstat(descriptor), descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    @staticmethod
    def _check(path: str, status: os.stat_result, target: int | str) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise UntrustedFile(path, "it is not a regular file; remove it")
        if status.st_nlink > 1:  # somebody may have linked another file of ours to this name
            raise UntrustedFile(path, "it has a second name (a hard link); remove it")
        if problem := flaw(path, status, target):
            why = (
                f"belongs to user {problem.owner}" if problem.owner else "can be written by others"
            )
            raise UntrustedFile(
                path,
                f"it {why}, and is not trusted; remove it, or if it is right: {problem.remedy}",
            )

    def database(self, name: str) -> str:
        """The path of an SQLite file for SQLite to open, made if there is none.

        SQLite opens by path, and two files beside it. A path is as good as a descriptor here: it
        has no links, and nobody else can replace anything on it. (A path below /proc/self/fd would
        be none the better: SQLite reads that link and opens what it leads to; and there may be no
        /proc.)
        """
        os.close(self.open(name, os.O_RDWR | os.O_CREAT))
        for suffix in ("-wal", "-shm", "-journal"):
            path = os.path.join(self.path, name + suffix)
            try:
                self._check(path, os.lstat(name + suffix, dir_fd=self.descriptor), path)
            except FileNotFoundError:
                continue
        return os.path.join(self.path, name)

    def read(self, name: str) -> bytes:
        """The contents of a file in it. Raises OSError."""
        with open(self.open(name, os.O_RDONLY), "rb") as file:
            return file.read()

    def write(
        self, name: str, data: bytes | Iterable[bytes], mode: int = 0o600, *, durable: bool = False
    ) -> None:
        """Write a file whole: nobody sees a half of it, nor do others read it. Raises OSError.

        durable: it is on the disk, under its name, when this returns.
        """
        beside = f"{name}.{os.urandom(6).hex()}.new"
        descriptor = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY, mode, dir_fd=self.descriptor
        )
        try:
            with open(descriptor, "wb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            self.rename(beside, name)
        except BaseException:
            self.remove(beside)
            raise
        if durable:
            self.sync()

    def exists(self, name: str) -> bool:
        """Return whether it has an entry of this name."""
        try:
            os.lstat(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        return True

    def names(self) -> list[str]:
        """The names of what is in it."""
        return os.listdir(self.descriptor)

    def remove(self, name: str) -> bool:
        """Delete a file in it; whether there was one. Raises OSError."""
        try:
            os.unlink(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return False
        return True

    def rename(self, name: str, new: str) -> None:
        """Give a file in it another name. Raises OSError."""
        os.rename(name, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def set_aside(self, database: str) -> str:
        """Make room for a new SQLite file: the path that the old one has now. Raises OSError."""
        aside = f"{database}.corrupt-{time.strftime('%Y%m%d%H%M%S')}"
        self.rename(database, aside)
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.rename(database + suffix, aside + suffix)
        return os.path.join(self.path, aside)

    def sync(self) -> None:
        """Make durable which names it has. Raises OSError."""
        os.fsync(self.descriptor)


# as long as somebody holds them
_open_folders: dict[str, ref[TrustedFolder]] = {}


def trusted_folder(path: str, make: bool = True) -> TrustedFolder:
    """The folder at a path, made with those above it: 0700, those above 0755, or less where the
    umask says so.

    Raises Untrusted when others can write it or one above it, and OSError.
    """
    known = _open_folders.get(path)
    folder = known() if known else None
    if folder is None or not folder.is_at(path):
        folder = _walked(os.path.abspath(path), make)
        _open_folders[path] = ref(folder)
    return folder


def _walked(path: str, make: bool) -> TrustedFolder:
    waiting = names_of(path)
    at, reached, links = os.open("/", _PASSED), "/", 0
    try:
        _pass(at, reached, not waiting)
        while waiting:
            name = waiting.pop()
            entry = _entered(at, name, (0o755 if waiting else 0o700) if make else None)
            where = os.path.dirname(reached) if name == ".." else os.path.join(reached, name)
            status = os.fstat(entry)
            if not stat.S_ISLNK(status.st_mode):
                os.close(at)
                at, reached = entry, where
                _pass(at, reached, not waiting)
                continue
            try:
                links += 1
                target = _target(entry, where, status, links)
            finally:
                os.close(entry)
            waiting += names_of(target)
            if target.startswith("/"):
                os.close(at)
                at, reached = os.open("/", _PASSED), "/"
        return TrustedFolder(reached, os.open(".", _KEPT, dir_fd=at))
    finally:
        os.close(at)


def _entered(folder: int, name: str, mode: int | None) -> int:
    """A descriptor of an entry of a folder. mode: of a folder that is made where none is."""
    try:
        return os.open(name, _PASSED, dir_fd=folder)
    except FileNotFoundError:
        if mode is None:
            raise
    with suppress(FileExistsError):  # somebody was faster; it is looked at like any other
        os.mkdir(name, mode, dir_fd=folder)
    return os.open(name, _PASSED, dir_fd=folder)


def _target(link: int, path: str, status: os.stat_result, count: int) -> str:
    if count > MOST_LINKS:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    _refuse(flaw(path, status, path))
    return os.readlink("", dir_fd=link)


def _pass(folder: int, path: str, last: bool) -> None:
    """Refuse a folder that others can write. last: it is the one that was asked for."""
    status = os.fstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or status.st_uid:
        _refuse(flaw(path, status, path, passed=not last))


def _checked(path: str, entry: int) -> TrustedFolder:
    try:
        if stat.S_ISLNK(os.fstat(entry).st_mode):
            raise UntrustedFile(path, "it is a link, which is not followed; remove it")
        _pass(entry, path, True)
        return TrustedFolder(path, os.open(".", _KEPT, dir_fd=entry))
    finally:
        os.close(entry)


def _refuse(problem: Flaw | None) -> None:
    if problem:
        message = f"runner cannot keep its files safely: {problem.message}"
        raise Untrusted(message, hint=f"{problem.remedy}, {ELSEWHERE}")
