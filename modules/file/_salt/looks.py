# SPDX-License-Identifier: Apache-2.0
"""Look-ups of paths for templates, under Salt's names with Salt's answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from stat import S_ISBLK, S_ISCHR, S_ISFIFO
from typing import Any

from modules import _paths
from modules.file._contents.hash import get_hash
from modules.file._look import Stat, read_whole, stat
from modules.file._owners import gid_to_group, uid_to_user
from runner.api import StateFailed

_home = os.path.expanduser


def file_exists(path: str) -> bool:
    """Return whether there is a regular file (or a link to one)."""
    return _paths.isfile(_home(path))


def directory_exists(path: str) -> bool:
    """Return whether there is a folder (or a link to one)."""
    return _paths.isdir(_home(path))


def is_chrdev(name: str) -> bool:
    """Return whether there is a character device."""
    return _has_mode(name, S_ISCHR)


def is_blkdev(name: str) -> bool:
    """Return whether there is a block device."""
    return _has_mode(name, S_ISBLK)


def is_fifo(name: str) -> bool:
    """Return whether there is a named pipe."""
    return _has_mode(name, S_ISFIFO)


def _has_mode(name: str, is_kind: Callable[[int], bool]) -> bool:
    try:
        return is_kind(_paths.stat(_home(name)).st_mode)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise StateFailed(f"cannot look at {name}: {problem.strerror}") from problem


def path_exists_glob(path: str) -> bool:
    """Return whether anything matches a pattern."""

    return bool(_paths.glob(_home(path)))


def dirname(path: str) -> str:
    """All but the last part of a path."""
    return os.path.dirname(path)


def basename(path: str) -> str:
    """The last part of a path."""
    return os.path.basename(path)


def join(*args: str) -> str:
    """Parts put together to a path."""
    return os.path.join(*args)


def normpath(path: str) -> str:
    """A path without `.`, `..` and double slashes."""
    return os.path.normpath(path)


def readdir(path: str) -> list[str]:
    """The names in a folder, `.` and `..` among them. Raises StateFailed for what is no folder, and
    for a relative path.
    """
    path = _home(path)
    if not os.path.isabs(path):
        raise StateFailed("Dir path must be absolute.")
    if not _paths.isdir(path):
        raise StateFailed("A valid directory was not specified.")
    return [".", "..", *_paths.listdir(path)]


def access(path: str, mode: str) -> bool:
    """Return whether the caller may use a path. Raises StateFailed for an unknown one. mode: f (is
    there), r, w or x.
    """
    modes = {"f": os.F_OK, "r": os.R_OK, "w": os.W_OK, "x": os.X_OK}
    wanted = modes.get(mode, mode)
    if wanted not in modes.values():
        raise StateFailed("Invalid mode specified.")
    return _paths.access(_home(path), int(wanted))


def read(path: str, binary: bool = False) -> str | bytes:
    """The contents of a file."""
    data = read_whole(_home(path))
    return data if binary else data.decode("utf-8", "surrogateescape")


def salt_readlink(path: str, canonicalize: bool = False) -> str:
    """The path that a symbolic link points to. Raises StateFailed for what is not a link.
    canonicalize: follow all links on the way.
    """
    path = _home(path)
    if not _paths.islink(path):
        raise StateFailed("A valid link was not specified.")
    return _paths.realpath(path) if canonicalize else _paths.readlink(path)


def _stat_of(path: str, follow_symlinks: bool) -> Stat:
    """A link that leads nowhere is looked at itself."""
    path = _home(path)
    return stat(path, follow_symlinks and _paths.exists(path))


def get_user(path: str, follow_symlinks: bool = True) -> str:
    """The name of the user who owns a path."""
    return _stat_of(path, follow_symlinks).user


def get_group(path: str, follow_symlinks: bool = True) -> str:
    """The name of the group that owns a path."""
    return _stat_of(path, follow_symlinks).group


def get_uid(path: str, follow_symlinks: bool = True) -> int:
    """The number of the user who owns a path."""
    return _stat_of(path, follow_symlinks).uid


def get_gid(path: str, follow_symlinks: bool = True) -> int:
    """The number of the group that owns a path."""
    return _stat_of(path, follow_symlinks).gid


def get_mode(path: str, follow_symlinks: bool = True) -> str:
    """The mode of a path, such as "0644"; "" when nothing is there."""
    return _stat_of(path, follow_symlinks).mode if _paths.lexists(_home(path)) else ""


def lstat(path: str) -> dict[str, Any]:
    """The numbers of a path, a link's own."""
    try:
        at = _paths.lstat(_home(path))
    except OSError:
        return {}
    keys = (
        "st_atime",
        "st_mtime",
        "st_ctime",
        "st_size",
        "st_mode",
        "st_nlink",
        "st_uid",
        "st_gid",
    )
    return {key: getattr(at, key) for key in keys}


def stats(path: str, hash_type: str | None = None, follow_symlinks: bool = True) -> dict[str, Any]:
    """All facts on a path. hash_type: adds `sum`, the hash of the contents."""
    path = _home(path)
    follow_symlinks = follow_symlinks and _paths.exists(path)
    kind = stat(path, follow_symlinks).type
    at = _paths.stat(path) if follow_symlinks else _paths.lstat(path)
    facts: dict[str, Any] = {
        "inode": at.st_ino,
        "uid": at.st_uid,
        "gid": at.st_gid,
        "group": gid_to_group(at.st_gid),
        "user": uid_to_user(at.st_uid),
        "atime": at.st_atime,
        "mtime": at.st_mtime,
        "ctime": at.st_ctime,
        "size": at.st_size,
        "mode": f"{at.st_mode & 0o7777:04o}",
        "type": kind,
        "target": _paths.realpath(path),
    }
    if hash_type:
        facts["sum"] = get_hash(path, hash_type)
    return facts


def is_hardlink(path: str) -> bool:
    """Return whether a file has a second name."""
    return _paths.isfile(_home(path)) and _paths.lstat(_home(path)).st_nlink > 1


def diskusage(path: str) -> int:
    """The bytes of a file, or of all files below a folder, each counted once."""
    top = _home(path)
    below = (os.path.join(folder, name) for folder, _, names in _paths.walk(top) for name in names)
    files = below if _paths.isdir(top) else [top]
    seen = {
        (at.st_dev, at.st_ino): at.st_size for at in map(_paths.stat, filter(_paths.exists, files))
    }
    return sum(seen.values())


def statvfs(path: str) -> dict[str, int]:
    """The capacity of a path's file system: blocks, inodes, their sizes and how many are free.
    Raises StateFailed when the system cannot tell.
    """
    try:
        values = _paths.statvfs(_home(path))
    except OSError as problem:
        raise StateFailed(f"Could not statvfs '{path}': {problem.strerror}") from problem
    names = "bavail bfree blocks bsize favail ffree files flag frsize namemax"
    return {f"f_{name}": getattr(values, f"f_{name}") for name in names.split()}


def pardir() -> str:
    """The name of the folder above: `..`."""
    return os.pardir
