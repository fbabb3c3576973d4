# SPDX-License-Identifier: Apache-2.0
"""What is at a path: on the machine, or in a dry run as the plans so far would leave it.

Looks ask here instead of `os`, `os.path` and `glob`, whose functions these stand for: the names are
theirs, and so are the errors. Changes go through `file/_paths/place.py`.
"""

from __future__ import annotations

# os in this file: it is the view
import errno
import fnmatch
import glob as _glob
import io
import os
import shutil
import stat as bits
from contextlib import suppress
from io import FileIO

from modules import _paths
from modules._planned.overlay import (
    KERNELS,
    Overlay,
    PlannedReader,
    is_planned,
    overlay,
    planned_machine,
)
from modules.file._contents import limits
from runner.api import StateFailed, at_present, for_states, here, open_input, paths, planning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import IO, Any

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def lstat(path: str) -> os.stat_result:
    """Raises OSError."""
    planned = _planned(path)
    return os.lstat(at_present(path)) if planned is None else planned.stat(path, follow=False)


def stat(path: str) -> os.stat_result:
    """Raises OSError."""
    planned = _planned(path)
    return os.stat(at_present(path)) if planned is None else planned.stat(path)


def lexists(path: str) -> bool:
    planned = _planned(path)
    return (
        os.path.lexists(at_present(path)) if planned is None else _mode(planned, path, False) != 0
    )


def exists(path: str) -> bool:
    planned = _planned(path)
    return os.path.exists(at_present(path)) if planned is None else _mode(planned, path) != 0


def isfile(path: str) -> bool:
    planned = _planned(path)
    return (
        os.path.isfile(at_present(path)) if planned is None else bits.S_ISREG(_mode(planned, path))
    )


def isdir(path: str) -> bool:
    planned = _planned(path)
    return (
        os.path.isdir(at_present(path)) if planned is None else bits.S_ISDIR(_mode(planned, path))
    )


def islink(path: str) -> bool:
    planned = _planned(path)
    return (
        os.path.islink(at_present(path))
        if planned is None
        else bits.S_ISLNK(_mode(planned, path, False))
    )


def listdir(path: str) -> list[str]:
    """Raises OSError."""
    planned = _planned(path)
    return os.listdir(path) if planned is None else planned.listdir(path)


def note_listed(folder: str, names: Collection[str]) -> None:
    """Note that a look goes by what is in a folder, which pending commands may alter."""
    if (doubted := planning.doubts()) is not None:
        doubted.note_listed(realpath(folder), names)


def readlink(path: str) -> str:
    """Raises OSError."""
    planned = _planned(path)
    return os.readlink(at_present(path)) if planned is None else planned.readlink(path)


def realpath(path: str) -> str:
    planned = _planned(path)
    return os.path.realpath(path) if planned is None else planned.realpath(path)


def access(path: str, mode: int) -> bool:
    planned = _planned(path)
    if planned is None:
        return os.access(at_present(path), mode, effective_ids=True)
    return planned.access(path, mode)


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
    if overlay() is None:
        return None
    for word in words:
        path = word if word.startswith("/") else word.partition("=")[2]
        if path.startswith("/") and not path.startswith(KERNELS) and is_planned(path):
            return path
    return None


# what programs read without being told to
READ_BY = dict.fromkeys(
    ("getent", "groups", "id", "runuser", "su", "sudo"), ("/etc/passwd", "/etc/group")
)


def planned_in(words: Iterable[str]) -> str | None:
    """The same for the words of a shell, of which any may be a program."""
    for word in words:
        paths = [word] if word.startswith("/") else [*READ_BY.get(word, ()), which(word) or ""]
        if found := planned_among(paths):
            return found
    return None


def search_path() -> str:
    """The directories in which programs are looked for."""
    return planned_machine().environment.get("PATH") or os.environ.get("PATH", os.defpath)


def which(program: str, path: str | None = None) -> str | None:
    """The file of a program in the directories of PATH, or of another such list."""
    if overlay() is None:
        return shutil.which(program, path=path)
    path = path or search_path()
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
    with open_bytes(path) as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target)


def source(path: str) -> str | None:
    """Where on the machine that is which is at a path; None for what is new, or nothing."""
    planned = _planned(path)
    return at_present(path) if planned is None else planned.source(path)


def walk(
    top: str, topdown: bool = True, followlinks: bool = False
) -> Iterator[tuple[str, list[str], list[str]]]:
    if _planned(top) is None:
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
    if _planned(pattern) is None:
        return _glob.glob(pattern)
    if not _glob.has_magic(pattern):
        return [pattern] * lexists(pattern)
    folder, _, name = pattern.rpartition("/")
    above = glob(folder) if _glob.has_magic(folder) else [folder]
    matches = []
    for path in above:
        if isdir(path or "/"):
            inside = fnmatch.filter(listdir(path or "/"), name)
            hidden = name.startswith(".")
            matches += [f"{path}/{found}" for found in inside if hidden or found[:1] != "."]
    return matches


def open_text(path: str, encoding: str, errors: str = "strict") -> io.TextIOWrapper:
    """A file, opened for reading. Raises OSError, StateFailed for a pipe: nobody is waited for."""
    return io.TextIOWrapper(open_bytes(path), encoding, errors)


def read_text(path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a file, as it is planned. Raises OSError, StateFailed for a pipe, and for a file
    that is too large to be held.
    """
    with open_text(path, encoding, errors) as file:
        buffer: Any = file.buffer
        limits.refuse_large(stat_of(buffer).st_size, path)
        limit = limits.limit_of_edits()
        text = file.read(limit + 1 if limit else -1)  # some devices have no end, some files grow
        limits.refuse_large(len(text), path)
        return text


def open_bytes(path: str) -> io.BufferedReader:
    """A file, opened for reading, through no link of others to what is not theirs. Raises OSError,
    RunnerError for such a link, StateFailed for a pipe: nobody is waited for.
    """
    planned = _planned(path)
    if planned is not None:
        return io.BufferedReader(planned.opened(path))
    handle = open_input(at_present(path))
    if bits.S_IFMT(os.fstat(handle).st_mode) in (bits.S_IFBLK, bits.S_IFCHR):
        return open(handle, "rb")
    return io.BufferedReader(regular(handle, path))


def regular(handle: int, path: str) -> FileIO:
    """A regular file that was opened by a path. Raises OSError and StateFailed for what is none."""
    mode = os.fstat(handle).st_mode
    if bits.S_ISREG(mode):
        return FileIO(handle, "rb")
    os.close(handle)
    if bits.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise StateFailed(f"cannot read {path}: it is a device, a pipe or a socket")


def stat_of(file: IO[bytes] | FileIO) -> os.stat_result:
    """The stat of an open file, of a planned one what it will be."""
    reader = getattr(file, "raw", file)
    return reader.at if isinstance(reader, PlannedReader) else os.fstat(file.fileno())


def mount_of(path: str) -> str:
    """The mount point that a path is below."""
    real = realpath(path)
    above = (point for point in mount_points() if paths.lies_in(real, point))
    return max(above, key=len, default="/")


def mount_points() -> list[str]:
    """Where something is mounted, in the order of the mounts; nothing without /proc."""
    lines = of_kernel("/proc/self/mountinfo").split("\n")[:-1]
    return [paths.unescaped(line.split(" ", 5)[4]) for line in lines]


def _planned(path: str) -> Overlay | None:
    """The planned files, for a path that can be among them."""
    planned = overlay()
    return None if planned is None or os.fspath(path).startswith(KERNELS) else planned


def _mode(planned: Overlay, path: str, follow: bool = True) -> int:
    """The type and the mode of a planned file; 0 for nothing, and for what cannot be seen."""
    with suppress(OSError):
        return planned.stat(path, follow).st_mode
    return 0


def of_kernel(path: str) -> str:
    """Return what the kernel says in a file, of which no state decides; empty where it does not."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return file.read()
    except OSError:
        return ""


def text_of(path: str, errors: str = "replace") -> str:
    """Return the text of a file, as it is planned; empty where there is none, or none for us."""
    try:
        return _paths.read_text(path, errors=errors)
    except OSError:
        return ""
