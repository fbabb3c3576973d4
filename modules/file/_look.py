# SPDX-License-Identifier: Apache-2.0
"""Looking at paths."""

from __future__ import annotations

import errno
import os
import stat as bits
import subprocess
from io import BufferedReader, FileIO

from modules import _paths
from modules._paths import fetched as fetched
from modules._planned.overlay import overlay
from modules.file import _owners
from modules.file._contents import limits
from modules.file._paths import place
from runner.api import (
    ABSENT,
    Record,
    StateFailed,
    at_present,
    durability,
    for_states,
    here,
    planning,
    version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO, Any

    from modules.file._contents.streamed import Contents

SMALL = 64 * 1024  # bytes of a file that is read whole to be written
_KINDS = {
    bits.S_IFREG: "file",
    bits.S_IFDIR: "dir",
    bits.S_IFLNK: "link",
    bits.S_IFIFO: "pipe",
    bits.S_IFSOCK: "socket",
    bits.S_IFBLK: "block",
    bits.S_IFCHR: "char",
}


LONGEST_LINE = 1 << 20  # bytes


class Stat(Record):
    """The type, owner, mode and times of a path. size: bytes; mtime: seconds since 1970; type:
    file, dir, link, pipe, socket, block, char.
    """

    bits: int
    uid: int
    gid: int
    size: int
    type: str
    mtime: float

    @property
    def mode(self) -> str:
        """Four octal digits: "0644"."""
        return f"{self.bits:04o}"

    @property
    def user(self) -> str:
        return _owners.uid_to_user(self.uid)

    @property
    def group(self) -> str:
        return _owners.gid_to_group(self.gid)


def seen(path: str, follow: bool = True) -> Stat | None:
    """The facts on a path, of what a link points to with `follow`; None when nothing is there.
    Raises StateFailed when the caller may not look.
    """
    try:
        at = _paths.stat(path) if follow else _paths.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise StateFailed(f"cannot look at {path}: {problem.strerror}") from problem
    mode = at.st_mode
    return Stat(
        mode & 0o7777,
        at.st_uid,
        at.st_gid,
        at.st_size,
        _KINDS.get(bits.S_IFMT(mode), "other"),
        at.st_mtime,
    )


def stat(path: str, follow: bool = True) -> Stat:
    """The facts on a path; StateFailed when nothing is there."""
    entry = seen(path, follow)
    if entry is None:
        raise StateFailed(f"Path not found: {path}", missing=("file", path))
    return entry


def device(path: str) -> tuple[int, int]:
    """The major and minor number of a device file. Raises StateFailed when the caller cannot
    look.
    """
    try:
        number = _paths.lstat(path).st_rdev
    except OSError as problem:
        raise StateFailed(f"cannot look at {path}: {problem.strerror}") from problem
    return os.major(number), os.minor(number)


def lexists(path: str) -> bool:
    """Return whether anything is there, a dangling link too."""
    return _paths.lexists(path)


def exists(path: str) -> bool:
    """Return whether something is there, behind a link too."""
    return _paths.exists(path) or _is_absent(path)


def _is_absent(path: str) -> bool:
    """Note that a state goes by there being no file; for the sake of its callers, False."""
    note_version(path, None)
    return False


def is_file(path: str) -> bool:
    """Return whether there is a regular file (or a link to one)."""
    return _paths.isfile(path) or _is_absent(path)


@for_states
def why_no_file(path: str) -> str:
    """Return what stands at a path instead of a regular file ("a folder"); "" for nothing."""
    if not _paths.exists(path) or _paths.isfile(path):
        return ""
    return "a folder" if _paths.isdir(path) else "no regular file"


def is_dir(path: str) -> bool:
    """Return whether there is a folder (or a link to one)."""
    return _paths.isdir(path)


def is_link(path: str) -> bool:
    """Return whether there is a symbolic link, dangling or not."""
    return _paths.islink(os.path.expanduser(path))


def readlink(path: str) -> str:
    """The target of a symbolic link, as it is written. Raises StateFailed for what is no link."""
    try:
        return _paths.readlink(path)
    except OSError as problem:
        raise StateFailed(f"cannot read the link {path}: {problem.strerror}") from problem


def listdir(path: str) -> list[str]:
    """The names in a folder, sorted. Raises StateFailed for what cannot be listed."""
    try:
        names = sorted(_paths.listdir(path))
    except OSError as problem:
        raise StateFailed(f"cannot list {path}: {problem.strerror}") from problem
    _paths.note_listed(path, names)
    return names


def opened(path: str) -> FileIO:
    """A regular file, opened for reading without a buffer: nobody is waited for, and no link of
    others is followed.
    """
    return _opened(path)[0]


def _opened(path: str) -> tuple[FileIO, str]:
    """The file and its path without links."""
    if overlay() is None:
        handle = -1
        try:
            there = at_present(path)
            handle = os.open(there, _paths.READ)  # os: nothing is planned
            if os.readlink(f"/proc/self/fd/{handle}") == there:  # there was no link on the way
                return _paths.regular(handle, path), path
        except OSError as problem:
            if problem.errno not in (errno.ELOOP, errno.ENOENT):
                raise
        if handle != -1:
            os.close(handle)
    with place.place(path, follow=True) as where:
        return where.opened(path), where.path


def read_bytes(path: str) -> bytes:
    """The contents of a file; a write of the same state will go to what was read."""
    return _read(path, limits.limit_of_edits())


def read_table(path: str, limit: int | None = None) -> bytes:
    """As `read_bytes`, of a file whose lines or values take several times its size."""
    return _read(path, limits.limit_of_tables() if limit is None else limit)


def read_values(path: str) -> bytes:
    """As `read_bytes`, of a file whose values take a hundred times its size."""
    return _read(path, limits.limit_of_values())


def _read(path: str, limit: int) -> bytes:
    try:
        file, real = _opened(os.fspath(path))
        here.read[path] = real
        with file:
            note_version(path, file)
            data = limits.read_limited(file, path, limit)
    except OSError as problem:
        raise _explained(path, problem) from problem
    _note_read(data)
    return data


def _note_read(data: bytes) -> None:
    if (doubted := planning.doubts()) is not None:
        doubted.note_read(data)


def lines_of(path: str) -> Iterator[bytes]:
    """Yield the lines of a file that is not going to be written; a very long one in pieces."""
    with opened_to_read(path) as file:
        raw: Any = file
        lines = BufferedReader(raw)
        while line := lines.readline(LONGEST_LINE):
            _note_read(line)
            yield line


def note_version(path: str, file: IO[bytes] | FileIO | None) -> None:
    """Note what a file was when a state looked at it, which is going to edit it."""
    if here.chunk is not None and overlay() is None:
        here.versions[path] = ABSENT if file is None else version(_paths.stat_of(file))


def read_whole(path: str) -> bytes:
    """The contents of a file that is not going to be written."""
    with opened_to_read(path) as file:
        return limits.read_limited(file, path, limits.limit_of_edits())


@for_states
def same_contents(path: str, contents: Contents) -> bool:
    """Return whether a file holds just these contents."""
    with opened_to_read(path) as file:
        if isinstance(contents, bytes):
            return _exactly(file, len(contents) + 1) == contents
        if os.fstat(file.fileno()).st_size != contents.size:
            return False
        return all(_exactly(file, len(piece)) == piece for piece in contents.pieces())


@for_states
def read_unless(path: str, size: int, contents: bytes) -> bytes | None:
    """What a small file holds where that is not just these contents, which are to be written to it;
    None where it is. size: as it was seen.
    """
    with opened_to_read(path) as file:
        data = file.read(max(size, len(contents)) + 1)
        if data == contents:
            return None
        at = _paths.stat_of(file)
        if len(data) != at.st_size:  # it has grown, is one of /proc, or gave only a part
            data += limits.read_limited(file, path, limits.limit_of_edits())
        if data == contents:
            return None
        if here.chunk is not None and overlay() is None:
            here.versions[path] = version(at)
            if len(data) == at.st_size:
                durability.note_contents(at, data)
    return data


def _exactly(file: IO[bytes], size: int) -> bytes:
    """Read so many bytes, fewer only at the end; one call may give fewer anywhere."""
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data


class opened_to_read:  # in lower case: used as a function; a generator costs more
    """A file as `opened` gives it, with errors that name it."""

    __slots__ = ("_file", "_path")

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> IO[bytes]:
        try:
            self._file = opened(os.fspath(self._path))
        except OSError as problem:
            raise _explained(self._path, problem) from problem
        return self._file

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        self._file.close()
        if isinstance(problem, OSError):
            raise _explained(self._path, problem) from problem


def _explained(path: str, problem: OSError) -> StateFailed:
    """An error of the system as one that names the file."""
    if isinstance(problem, FileNotFoundError):
        return StateFailed(f"{path}: file not found", missing=("file", path))
    return StateFailed(f"cannot read {path}: {problem.strerror}")


def get_attributes(path: str) -> str | None:
    """The letters that lsattr shows for a path ("ie"); None where the file system has no
    attributes.
    """
    planning.refuse_unforeseen("lsattr")
    try:
        done = subprocess.run(
            ["lsattr", "-d", "--", path], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return (
        done.stdout.split(" ")[0].replace("-", "") if done.returncode == 0 and done.stdout else None
    )
