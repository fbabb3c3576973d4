"""Changes under Salt's names and arguments, for `runner call`, module.run and templates."""

from __future__ import annotations

import os
import time
from typing import Any

from modules.file import _change, _copy, _write
from runner.api import StateFailed


def _path(path: str) -> str:
    path = os.path.expanduser(path)
    if not os.path.isabs(path):
        raise StateFailed(f"File path must be absolute: {path}")
    return path


def salt_write(path: str, *args: str, **kwargs: Any) -> str:
    """Write lines to a file (also as the argument `args`)."""
    lines = kwargs.get("args", args)
    lines = [lines] if isinstance(lines, str) else list(lines)
    _write.write(_path(path), "".join(f"{line}\n" for line in lines).encode())
    return f'Wrote {len(lines)} lines to "{path}"'


def touch(name: str, atime: float | None = None, mtime: float | None = None) -> bool:
    """Create a file if it is not there, and set its times (seconds since 1970, now without them)."""
    path = _path(name)
    if not os.path.lexists(path):
        _write.write(path, b"")
    now = time.time()
    _change.utime(path, now if atime is None else float(atime), now if mtime is None else float(mtime))
    return os.path.exists(path)


def truncate(path: str, length: int) -> None:
    """Cut a file to a length in bytes."""
    with open(_path(path), "rb") as file:
        data = file.read(int(length))
    _write.write(_path(path), data.ljust(int(length), b"\0"))


def salt_remove(path: str, **_: Any) -> bool:
    """Remove a file, link or folder; False when there was none."""
    path = _path(path)
    there = os.path.lexists(path)
    _change.remove(path)
    return there


def salt_rename(src: str, dst: str) -> bool:
    """Move a path."""
    _copy.rename(_path(src), _path(dst))
    return True


def salt_copy(src: str, dst: str, recurse: bool = False, remove_existing: bool = False) -> bool:
    """Copy a file, or a folder with `recurse`. remove_existing: what is at the target goes first."""
    src, dst = _path(src), _path(dst)
    if not os.path.exists(src):
        raise StateFailed(f"No such file or directory '{src}'")
    if os.path.isdir(src) and not recurse:
        raise StateFailed(f"Cannot copy overwriting a directory without recurse flag set to true: {src}")
    if remove_existing and os.path.lexists(dst):
        _change.remove(dst)
    _copy.copy(src, dst)
    return True


def salt_symlink(src: str, path: str, force: bool = False, atomic: bool = False) -> bool:
    """Create a symbolic link at `path` to `src`. force: what is there goes first."""
    path = _path(path)
    if os.path.islink(path) and os.readlink(path) == src:
        return True
    if force and os.path.lexists(path):
        _change.remove(path)
    _change.symlink(src, path)
    return True


def salt_link(src: str, path: str) -> bool:
    """Create a hard link at `path` to `src`."""
    _change.link(_path(src), path)
    return True


def salt_mkdir(dir_path: str, user: str | None = None, group: str | None = None, mode: Any = None) -> bool:
    """Create a folder and those above it that are missing."""
    _change.makedirs(_path(dir_path), mode=None if mode is None else str(mode), user=user, group=group)
    return True


def salt_makedirs(path: str, user: str | None = None, group: str | None = None, mode: Any = None) -> None:
    """Create the folders above a path; a path that ends with a slash is created itself."""
    folder = os.path.dirname(_path(path))
    _change.makedirs(folder, mode=None if mode is None else str(mode), user=user, group=group)
