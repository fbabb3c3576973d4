# SPDX-License-Identifier: Apache-2.0
"""Changes under Salt's names and arguments, for `runner call`, module.run and templates."""

from __future__ import annotations

import os
import time
from typing import Any

from modules import _paths
from modules.file import _change, _look
from modules.file._contents import copy, write
from modules.file._salt.arguments import lines_given, path_given
from runner.api import StateFailed


def salt_write(path: str, *args: Any, **kwargs: Any) -> str:
    """Write lines to a file (also as the argument `args`)."""
    lines = lines_given(args, kwargs)
    write.write(path_given(path), "".join(lines).encode("utf-8", "surrogateescape"))
    return f'Wrote {len(lines)} lines to "{path}"'


def touch(name: str, atime: float | None = None, mtime: float | None = None) -> bool:
    """Create a file if there is none, and set its times (seconds since 1970; now by default)."""
    path = path_given(name)
    if not _paths.lexists(path):
        write.write(path, b"")
    now = time.time()
    _change.utime(
        path, now if atime is None else float(atime), now if mtime is None else float(mtime)
    )
    return _paths.exists(path)


def truncate(path: str, length: int) -> None:
    """Cut a file to a length in bytes."""
    with _look.opened(path_given(path)) as file:
        data = file.read(int(length))
    write.write(path_given(path), data.ljust(int(length), b"\0"))


def salt_remove(path: str, **_: Any) -> bool:
    """Remove a file, link or folder; False when there was none."""
    path = path_given(path)
    existed = _paths.lexists(path)
    _change.remove(path)
    return existed


def salt_rename(src: str, dst: str) -> bool:
    """Move a path."""
    copy.rename(path_given(src), path_given(dst))
    return True


def salt_copy(src: str, dst: str, recurse: bool = False, remove_existing: bool = False) -> bool:
    """Copy a file, or a folder with `recurse`. Raises StateFailed when there is no source, and for
    a folder without `recurse`. remove_existing: what is at the target goes first.
    """
    src, dst = path_given(src), path_given(dst)
    if not _paths.exists(src):
        raise StateFailed(f"No such file or directory '{src}'")
    if _paths.isdir(src) and not recurse:
        raise StateFailed(
            f"Cannot copy overwriting a directory without recurse flag set to true: {src}"
        )
    if remove_existing and _paths.lexists(dst):
        _change.remove(dst)
    copy.copy(src, dst)
    return True


def salt_symlink(src: str, path: str, force: bool = False, atomic: bool = False) -> bool:
    """Create a symbolic link at `path` to `src`. force: what is there goes first."""
    path = path_given(path)
    if _paths.islink(path) and _paths.readlink(path) == src:
        return True
    if force and _paths.lexists(path):
        _change.remove(path)
    _change.symlink(src, path)
    return True


def salt_link(src: str, path: str) -> bool:
    """Create a hard link at `path` to `src`."""
    _change.link(path_given(src), path)
    return True


def salt_mkdir(
    dir_path: str, user: str | None = None, group: str | None = None, mode: Any = None
) -> bool:
    """Create a folder and those above it that are missing."""
    _change.makedirs(
        path_given(dir_path), mode=None if mode is None else str(mode), user=user, group=group
    )
    return True


def salt_makedirs(
    path: str, user: str | None = None, group: str | None = None, mode: Any = None
) -> None:
    """Create the folders above a path; a path that ends with a slash is created itself."""
    folder = os.path.dirname(path_given(path))
    _change.makedirs(folder, mode=None if mode is None else str(mode), user=user, group=group)


def makedirs_perms(
    name: str, user: str | None = None, group: str | None = None, mode: Any = "0755"
) -> None:
    """Create a folder and those above it that are missing, all with this owner and mode."""
    _change.makedirs(path_given(name), mode=str(mode), user=user, group=group)


def move(src: str, dst: str) -> dict[str, Any]:
    """Move a file or folder; into a folder where `dst` is one. Raises StateFailed when there is
    none.
    """
    old, new = path_given(src), path_given(dst)
    if not _paths.lexists(old):
        raise StateFailed(
            f"Unable to move '{src}' to '{dst}': there is no such file or directory",
            missing=("file", old),
        )
    if _paths.isdir(new):
        new = os.path.join(new, os.path.basename(old.rstrip("/")))
    copy.rename(old, new)
    return {"result": True, "comment": f"'{src}' moved to '{dst}'"}


def rmdir(path: str, recurse: bool = False) -> bool:
    """Remove an empty folder, with `recurse` the empty ones below it too; False when something is
    left. Raises StateFailed for what is not a folder.
    """
    path = path_given(path)
    if not _paths.isdir(path):
        raise StateFailed(f"A valid directory was not specified: {path}")
    below = (
        sorted(folder for folder, _, _ in _paths.walk(path) if folder != path) if recurse else []
    )
    for folder in [*reversed(below), path]:
        if not _paths.listdir(folder):
            _change.remove_folder(folder)
    return not _paths.lexists(path)


def chgrp(path: str, group: str | int) -> None:
    """Set the group of a path."""
    _change.chown(path_given(path), None, group)


def lchown(path: str, user: str | int | None, group: str | int | None) -> None:
    """Set the owner of a path, of a link itself."""
    _change.chown(path_given(path), user, group, follow=False)


def salt_mknod(
    name: str,
    ntype: str,
    major: int = 0,
    minor: int = 0,
    user: str | None = None,
    group: str | None = None,
    mode: Any = "0600",
) -> bool:
    """Create a special file. Raises StateFailed for an unknown kind, and when something is there
    already. ntype: p for a pipe, c and b for devices with `major` and `minor`.
    """
    if ntype not in ("p", "c", "b"):
        raise StateFailed(
            f"there is no kind {ntype!r} of special files; there are c, b (devices) and p (a pipe)"
        )
    path = path_given(name)
    if _paths.lexists(path):
        raise StateFailed(f"Node already exists: {path}")
    _change.mknod(path, ntype, int(major), int(minor), str(mode))
    if user is not None or group is not None:
        _change.chown(path, user, group)
    return True
