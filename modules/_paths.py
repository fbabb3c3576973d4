# SPDX-License-Identifier: Apache-2.0
"""What is at a path: on the machine, or in a dry run as the plans so far would leave it.

Looks ask here instead of `os`, `os.path` and `glob`, whose functions these stand for: the names are
theirs, and so are the errors. Changes go through `file/_place.py`.
"""

from __future__ import annotations

# os in this file: it is the view
import errno
import io
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from io import FileIO
from typing import IO

from modules._planned.files import KERNELS, Entry, Later, PlannedFiles, is_planned, planned_files
from modules._planned.machine import planned_machine
from modules.file._paths import walk as _paths_walk
from runner.api import for_states, here
from runner.api.planning import doubts

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def lstat(path: str) -> os.stat_result:
    """Raises OSError."""
    files = _planned(path)
    return os.lstat(path) if files is None else _there(files, path, follow=False).stat()


def stat(path: str) -> os.stat_result:
    """Raises OSError."""
    files = _planned(path)
    return os.stat(path) if files is None else _there(files, path, follow=True).stat()


def lexists(path: str) -> bool:
    files = _planned(path)
    return os.path.lexists(path) if files is None else _entry(files, path, False) is not None


def exists(path: str) -> bool:
    files = _planned(path)
    return os.path.exists(path) if files is None else _entry(files, path) is not None


def isfile(path: str) -> bool:
    files = _planned(path)
    if files is None:
        return os.path.isfile(path)
    entry = _entry(files, path)
    return entry is not None and entry.is_file


def isdir(path: str) -> bool:
    files = _planned(path)
    if files is None:
        return os.path.isdir(path)
    entry = _entry(files, path)
    return entry is not None and entry.is_dir


def islink(path: str) -> bool:
    files = _planned(path)
    if files is None:
        return os.path.islink(path)
    entry = _entry(files, path, follow=False)
    return entry is not None and entry.is_link


def listdir(path: str) -> list[str]:
    """Raises OSError."""
    files = _planned(path)
    if files is None:
        return os.listdir(path)
    entry = _there(files, path, follow=True)
    if not entry.is_dir:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return entry.listed()


def note_listed(folder: str, names: Collection[str]) -> None:
    """Note that a look goes by what is in a folder, which pending commands may alter."""
    if (doubted := doubts()) is not None:
        doubted.note_listed(realpath(folder), names)


def readlink(path: str) -> str:
    """Raises OSError."""
    files = _planned(path)
    if files is None:
        return os.readlink(path)
    entry = _there(files, path, follow=False)
    if not entry.is_link:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return entry.target


def realpath(path: str) -> str:
    files = _planned(path)
    if files is None:
        return os.path.realpath(path)
    try:
        return files.way(path, follow=True).path
    except (FileNotFoundError, NotADirectoryError) as problem:
        return os.path.normpath(str(problem.filename))
    except OSError:
        return path


def access(path: str, mode: int) -> bool:
    files = _planned(path)
    if files is None:
        return os.access(path, mode, effective_ids=True)
    entry = _entry(files, path)
    if entry is None:
        return False
    if entry.is_real:
        return os.access(entry.origin or "", mode, effective_ids=True)
    if os.geteuid() == 0:
        return mode != os.X_OK or entry.is_dir or bool(entry.bits & 0o111)
    groups = (os.getegid(), *os.getgroups())
    shift = 6 if entry.uid == os.geteuid() else 3 if entry.gid in groups else 0
    return entry.bits >> shift & mode == mode


@for_states
def fetched(url: str, saltenv: str | None = None) -> str | None:
    """The local file of `salt://path[?saltenv=x]`, `file:///path` or `/path`, in a dry run one that
    is only planned, too; None if there is none.
    """
    path = url.removeprefix("file://")
    if path.startswith("/") and is_planned(path):
        return path if isfile(path) else None
    return here.tree.fetch(url, saltenv or here.saltenv)


def planned_among(words: Iterable[str]) -> str | None:
    """The first path among the words of a command that is not on the machine as it is planned."""
    if planned_files() is None:
        return None
    for word in words:
        path = word if word.startswith("/") else word.partition("=")[2]
        if path.startswith("/") and not path.startswith(KERNELS) and is_planned(path):
            return path
    return None


def which(program: str, path: str | None = None) -> str | None:
    """The file of a program in the directories of PATH, or of another such list."""
    if planned_files() is None:
        import shutil

        return shutil.which(program, path=path)
    planned = planned_machine().environment.get("PATH")
    path = path or planned or os.environ.get("PATH", os.defpath)
    folders = [""] if "/" in program else path.split(":")
    for found in (os.path.join(folder, program) for folder in folders):
        if isfile(found) and access(found, os.X_OK):
            return found
    return None


def statvfs(path: str) -> os.statvfs_result:
    """The file system of what is at a path, or will be. Raises OSError."""
    stat(path)  # for its errors
    real = realpath(path)
    while source(real) != real:  # it is only planned
        real = os.path.dirname(real)
    return os.statvfs(real)


def below(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what lies in a folder, if there is one, in the order of the names. Raises OSError."""
    for name in sorted(listdir(folder)) if isdir(folder) else ():
        path = os.path.join(folder, name)
        with suppress(FileNotFoundError):
            yield path, stat(path)


def copy_out(path: str, copy: str) -> None:
    """Copy the contents that a file will have to one of a scratch folder, for a program that is to
    read it there. Raises OSError.
    """
    import shutil

    with open_bytes(path) as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target)


def source(path: str) -> str | None:
    """Where on the machine that is which is at a path; None for what is new, or nothing."""
    files = _planned(path)
    if files is None:
        return path
    entry = _entry(files, path, follow=False)
    return None if entry is None else entry.origin


def walk(
    top: str, topdown: bool = True, followlinks: bool = False
) -> Iterator[tuple[str, list[str], list[str]]]:
    files = _planned(top)
    if files is None:
        yield from os.walk(top, topdown, followlinks=followlinks)
        return
    try:
        names = listdir(top)
    except OSError:
        return
    folders = [name for name in names if isdir(os.path.join(top, name))]
    found = top, folders, [name for name in names if name not in set(folders)]
    if topdown:
        yield found
    for name in found[1]:
        below = os.path.join(top, name)
        if followlinks or not islink(below):
            yield from walk(below, topdown, followlinks)
    if not topdown:
        yield found


def glob(pattern: str) -> list[str]:
    import glob as _glob

    files = _planned(pattern)
    if files is None or not _glob.has_magic(pattern):
        return _glob.glob(pattern) if files is None else [pattern] * lexists(pattern)
    import fnmatch

    folder, _, name = pattern.rpartition("/")
    above = glob(folder) if _glob.has_magic(folder) else [folder]
    matches = []
    for path in above:
        if isdir(path or "/"):
            inside = fnmatch.filter(listdir(path or "/"), name)
            hidden = name.startswith(".")
            matches += [f"{path}/{found}" for found in inside if hidden or found[:1] != "."]
    return matches


def open_text(path: str, encoding: str, errors: str = "strict") -> IO[str]:
    """A file, opened for reading. Raises OSError."""
    files = _planned(path)
    if files is None:
        return open(path, encoding=encoding, errors=errors)
    entry = _there(files, path, follow=True)
    if entry.is_dir:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return open(open_planned(entry), encoding=encoding, errors=errors)


def open_bytes(path: str) -> IO[bytes]:
    """A file, opened for reading. Raises OSError."""
    files = _planned(path)
    if files is None:
        return open(path, "rb")
    entry = _there(files, path, follow=True)
    if entry.is_dir:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return io.BufferedReader(reader_of(entry))


class _PlannedReader(FileIO):
    """The contents of a planned file. at: its stat."""

    at: os.stat_result


def open_planned(entry: Entry) -> int:
    """A descriptor for the contents of a planned file."""
    if entry.contents is None:
        return _open_in_place(entry.origin or "", follow=False)
    contents = entry.contents.stored() if isinstance(entry.contents, Later) else entry.contents
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


def _open_in_place(path: str, follow: bool) -> int:
    """A descriptor of a file of the machine, through no link that somebody has put on the way since
    it was looked at. Raises OSError and StateFailed.
    """
    at = _paths_walk.resolved(path, follow)
    try:
        return os.open(at.name, READ, dir_fd=at.folder)
    finally:
        os.close(at.folder)


def reader_of(entry: Entry) -> FileIO:
    """A planned file, opened for reading."""
    reader = _PlannedReader(open_planned(entry), "rb")
    reader.at = entry.stat()
    return reader


def stat_of(file: IO[bytes] | FileIO) -> os.stat_result:
    """The stat of an open file, of a planned one what it will be."""
    reader = getattr(file, "raw", file)
    return reader.at if isinstance(reader, _PlannedReader) else os.fstat(file.fileno())


def _planned(path: str) -> PlannedFiles | None:
    """The planned files, for a path that can be among them."""
    files = planned_files()
    return None if files is None or os.fspath(path).startswith(KERNELS) else files


def _entry(files: PlannedFiles, path: str, follow: bool = True) -> Entry | None:
    try:
        return files.entry(path, follow)
    except OSError:
        return None


def _there(files: PlannedFiles, path: str, follow: bool) -> Entry:
    entry = files.way(path, follow).entry()
    if entry is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return entry
