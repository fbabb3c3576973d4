# SPDX-License-Identifier: Apache-2.0
"""salt.utils.files: opening, reading and removing files."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from runner.language.filters.files import is_bin_file as is_binary
from runner.language.filters.files import is_empty, list_files
from runner.language.filters.files import is_text_file as is_text
from runner.language.filters.text import human_to_bytes
from runner.language.salt import exceptions


def fopen(path: Any, mode: str = "r", *args: Any, **options: Any) -> IO[Any]:
    """Open a file; texts are UTF-8."""
    if "b" not in mode and len(args) < 2:
        options.setdefault("encoding", "utf-8")
    return open(path, mode, *args, **options)


@contextmanager
def fpopen(
    path: str, *args: Any, uid: int = -1, gid: int = -1, mode: int | None = None, **options: Any
) -> Iterator[Any]:
    """Open a file that gets an owner and a mode."""
    with fopen(path, *args, **options) as file:
        if uid != -1 or gid != -1:
            os.fchown(file.fileno(), uid, gid)
        if mode is not None and stat.S_IMODE(os.fstat(file.fileno()).st_mode) != mode:
            os.fchmod(file.fileno(), mode)
        yield file


@contextmanager
def flopen(*args: Any, **options: Any) -> Iterator[Any]:
    """Open a file and hold its lock."""
    with fopen(*args, **options) as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)
        try:
            yield file
        finally:
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


def mkstemp(*args: Any, prefix: str = "__salt.tmp.", close_fd: bool = True, **options: Any) -> Any:
    """A new temporary file: its path, or (close_fd false) its descriptor and its path."""
    make: Any = tempfile.mkstemp
    descriptor, path = make(*args, **{"prefix": prefix, **options} if len(args) < 2 else options)
    if not close_fd:
        return descriptor, path
    os.close(descriptor)
    return path


def rm_rf(path: str) -> None:
    """Remove a file or a folder with all that is in it."""
    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path)


def safe_rm(path: str) -> None:
    """Remove a file, if it is there and may be removed."""
    with suppress(OSError):
        os.remove(path)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.remove(path)


def rename(src: str, dst: str) -> None:
    """Give a file another path, over what is there."""
    os.replace(src, dst)


def recursive_copy(source: str, dest: str) -> None:
    """Copy all that is in a folder into another one."""
    shutil.copytree(source, dest, dirs_exist_ok=True)


def copyfile(source: str, dest: str, backup_mode: str = "", cachedir: str = "") -> None:
    """Copy a file in one step; a file that is there keeps its owner and mode."""
    descriptor, path = tempfile.mkstemp(prefix=os.path.basename(dest), dir=os.path.dirname(dest))
    with open(source, "rb") as read, open(descriptor, "wb") as written:
        shutil.copyfileobj(read, written)  # others may swap what its path means
        with suppress(FileNotFoundError):
            status = os.stat(dest)
            os.fchown(descriptor, status.st_uid, status.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    os.replace(path, dest)


def get_umask() -> int:
    """The umask of this process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def set_umask(mask: int | None) -> Iterator[None]:
    """Have another umask for a while."""
    if mask is None:
        yield
        return
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def safe_walk(
    top: str, topdown: bool = True, onerror: Any = None, followlinks: bool = True
) -> Iterator[Any]:
    """os.walk, without walking in circles."""
    seen: set[tuple[int, int]] = set()
    for folder, folders, files in os.walk(top, topdown, onerror, followlinks):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            folders[:] = []
            continue
        seen.add((status.st_dev, status.st_ino))
        yield folder, folders, files


def normalize_mode(mode: Any) -> str | None:
    """A mode as a text of digits."""
    if mode is None:
        return None
    return (
        str(mode).strip("\"'").lstrip("0Oo").zfill(4)
        if not isinstance(mode, int)
        else str(mode).zfill(4)
    )


def st_mode_to_octal(mode: int) -> str:
    """The digits of a mode that os.stat gave."""
    try:
        return (oct(mode)[2:])[-4:]
    except (TypeError, IndexError):
        return ""


def human_size_to_bytes(human_size: str) -> int:
    """The bytes of a size like 10M."""
    return (
        human_to_bytes(human_size.strip()) if human_size.strip()[-1:].isalpha() else int(human_size)
    )


def guess_archive_type(name: str) -> str | None:
    """The kind of an archive, by its name."""
    lowered = name.lower()
    for kind in ("zip", "rar"):
        if lowered.endswith(f".{kind}"):
            return kind
    ends = tuple(".tar .tgz .tbz .tbz2 .txz .tlz .tar.gz .tar.bz2 .tar.xz .tar.lzma".split())
    return "tar" if lowered.endswith(ends) else None


def safe_filename_leaf(file_basename: str) -> str:
    """A name of a file in which what some systems forbid is encoded."""
    return re.sub(
        r'[\\:/*?"<>|]', lambda character: urllib.parse.quote(character[0], safe=""), file_basename
    )


def safe_filepath(file_path_name: str, dir_sep: str | None = None) -> str:
    """A path of such names."""
    separator = dir_sep or os.sep
    names = file_path_name.split(separator)
    return separator.join(safe_filename_leaf(name) for name in names)


@contextmanager
def wait_lock(
    path: str,
    lock_fn: str | None = None,
    timeout: float = 5,
    sleep: float = 0.1,
    time_start: float | None = None,
) -> Iterator[None]:
    """Hold the lock file of a path for a while. Raises FileLockError when somebody else holds it
    for longer than the timeout.
    """
    lock = lock_fn or f"{path}.w"
    end = time.monotonic() + timeout
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise exceptions.FileLockError(f"Timeout on waiting for lock {lock}") from None
            time.sleep(sleep)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock)


def is_fcntl_available(check_sunos: bool = False) -> bool:
    """True: files can be locked."""
    return True


def process_read_exception(exc: OSError, path: str, ignore: Any = None) -> None:
    """Raise CommandExecutionError for what kept a file from being read; not for numbers to be
    ignored.
    """
    ignored = [ignore] if isinstance(ignore, int) else ignore or ()
    if exc.errno not in ignored:
        raise exceptions.CommandExecutionError(f"{path}: {exc.strerror}") from exc


TEMPFILE_PREFIX = "__salt.tmp."
REMOTE_PROTOS = ("http", "https", "ftp", "swift", "s3")
VALID_PROTOS = ("salt", "file", *REMOTE_PROTOS)
LOCAL_PROTOS = ("", "file")
HASHES = {"sha512": 128, "sha384": 96, "sha256": 64, "sha224": 56, "sha1": 40, "md5": 32}
HASHES_REVMAP = {digits: name for name, digits in HASHES.items()}
