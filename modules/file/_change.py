"""Changing paths: each function is a changer and turns the system's errors into StateFailed."""

from __future__ import annotations

import errno
import functools
import os
import stat as bits
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from modules import _umask
from modules.file._owners import gid_of, uid_of
from modules.file._was import was, was_missing, was_second
from runner.api import StateFailed, changer, here
from runner.api import forget_looks as _forget_looks

P = ParamSpec("P")
R = TypeVar("R")

# what packages, services, mounts and users are read from: a change below one of these may make any look stale
_SYSTEM = ("/etc/", "/usr/", "/lib", "/run/", "/var/lib/", "/boot/")


def alters(*, before: Callable[..., object], path: int = 0) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A changer of files. path: which positional argument is the path that changes."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            where = str(args[path]) if len(args) > path else str(kwargs.get("path", ""))
            with explained(function.__name__, where):
                try:
                    return function(*args, **kwargs)
                finally:
                    if where.startswith(_SYSTEM):
                        _forget_looks(None)

        call.__module__ = "modules.file"  # events say file.write, wherever the function lies
        return changer(touches=["files"], before=before)(call)

    return wrap


@contextmanager
def explained(action: str, path: str) -> Iterator[None]:
    """Turn what the system says into a failure that names the path."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        cure = _CURES.get(problem.errno or 0, "")
        raise StateFailed(f"{action.replace('_', ' ')} of {path} failed: {reason}{cure}") from problem


_CURES = {
    errno.EPERM: " (not root, or the file is immutable: see lsattr)",
    errno.EROFS: " (mount it writable first)",
    errno.ENOSPC: " (free some space; nothing was replaced)",
    errno.EDQUOT: " (free some space; nothing was replaced)",
}


def owner_ids(user: str | int | None, group: str | int | None) -> tuple[int, int]:
    """Numbers for chown, -1 for "as it is"; StateFailed for an unknown name."""
    uid = -1 if user in (None, "") else uid_of(user)
    gid = -1 if group in (None, "") else gid_of(group)
    if uid is None:
        raise StateFailed(f"User {user} is not available", lacks=("user", str(user)))
    if gid is None:
        raise StateFailed(f"Group {group} is not available", lacks=("group", str(group)))
    return uid, gid


def beside_name(path: str) -> str:
    """A new hidden name beside a path, for what is then renamed to it. It carries the mark of this run."""
    folder, name = os.path.split(path)
    mark = here.store("temporaries").setdefault("mark", os.urandom(4).hex())
    # a name of 255 bytes is the longest there is
    beside = os.path.join(folder, f".{os.fsdecode(os.fsencode(name)[:200])}.runner-{mark}{os.urandom(2).hex()}")
    here.intends(beside)
    return beside


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder or "/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as problem:  # file systems without it (some FUSE ones)
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


@alters(before=was)
def remove(path: str) -> None:
    """Remove a file, a link or a folder with all that it holds; links in it are not followed. Nothing there is fine."""
    try:
        if bits.S_ISDIR(os.lstat(path).st_mode):
            _remove_tree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return
    sync_folder(os.path.dirname(path.rstrip("/")))


def _remove_tree(path: str) -> None:
    import shutil

    try:
        shutil.rmtree(path)
    except RecursionError:  # deeper than Python's library can go; the system's own program can
        import subprocess

        done = subprocess.run(["rm", "-rf", "--", path], capture_output=True, text=True, check=False)
        if done.returncode:
            raise StateFailed(f"{path} is not removed: {done.stderr.strip()}") from None


@alters(before=was)
def remove_folder(path: str) -> None:
    """Remove a folder that holds nothing; one that does fails."""
    os.rmdir(path)
    sync_folder(os.path.dirname(path.rstrip("/")))


@alters(before=was)
def mkdir(path: str, *, mode: str | None = None, user: str | int | None = None, group: str | int | None = None) -> None:
    """Create one folder; one that is there already stays as it is."""
    _make(path, mode, owner_ids(user, group))


@alters(before=was_missing)
def makedirs(
    path: str, *, mode: str | None = None, user: str | int | None = None, group: str | int | None = None
) -> None:
    """Create a folder and those above it that are missing, all of them with this mode and owner."""
    missing = []
    owner = owner_ids(user, group)
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path.rstrip("/"))
    for folder in reversed(missing):
        _make(folder, mode, owner)


def _make(path: str, mode: str | None, owner: tuple[int, int]) -> None:
    try:
        os.mkdir(path, 0o777 if mode is None else int(mode, 8) & 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    if owner != (-1, -1):
        os.chown(path, *owner, follow_symlinks=False)
    said = _umask.of_state()
    if mode is not None:
        os.chmod(path, int(mode, 8))
    elif said is not None:
        os.chmod(path, 0o777 & ~said)


@alters(before=was_second, path=1)
def symlink(target: str, path: str) -> None:
    """Create a symbolic link at `path` that says `target`."""
    os.symlink(target, path)


@alters(before=was_second, path=1)
def put_symlink(target: str, path: str, user: str | int | None = None, group: str | int | None = None) -> None:
    """Put a symbolic link with its owner at `path` in one step, instead of the file or link that is there."""
    uid, gid = owner_ids(user, group)
    beside = beside_name(path)
    os.symlink(target, beside)
    try:
        made = os.lstat(beside)
        if uid not in (-1, made.st_uid) or gid not in (-1, made.st_gid):
            os.chown(beside, uid, gid, follow_symlinks=False)
        os.rename(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    sync_folder(os.path.dirname(path))


@alters(before=was_second, path=1)
def link(target: str, path: str) -> None:
    """Create a hard link at `path` to the file `target`."""
    os.link(target, path)


@contextmanager
def pinned(path: str, follow: bool) -> Iterator[tuple[str, os.stat_result]]:
    """What a path names now, under a name that nobody can swap; a link at its end is followed or refused."""
    handle = os.open(os.path.realpath(path) if follow else path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        at = os.fstat(handle)
        if bits.S_ISLNK(at.st_mode):
            raise StateFailed(f"{path} has become a symbolic link; it is not followed")
        own = f"/proc/self/fd/{handle}"
        yield own if os.path.exists(own) else path, at
    finally:
        os.close(handle)


@alters(before=was)
def set_mode(path: str, mode: str, follow: bool = True) -> str:
    """Set the mode of a path ("0644"); answers with the mode that it has then. Without `follow` a link is refused."""
    with pinned(path, follow) as (own, _):
        os.chmod(own, int(str(mode), 8))
        return f"{os.stat(own).st_mode & 0o7777:04o}"


@alters(before=was)
def chown(path: str, user: str | int | None, group: str | int | None, follow: bool = True) -> None:
    """Set the owner, None for "as it is"; without `follow` that of a link itself. The set-user-ID bits stay."""
    uid, gid = owner_ids(user, group)
    if not follow and os.path.islink(path):
        os.chown(path, uid, gid, follow_symlinks=False)
        return
    with pinned(path, follow) as (own, at):
        os.chown(own, uid, gid)
        if at.st_mode & 0o6000:
            os.chmod(own, at.st_mode & 0o7777)


@alters(before=was)
def utime(path: str, atime: float, mtime: float) -> None:
    """Set the times of access and change (seconds since 1970)."""
    os.utime(path, (atime, mtime))


@alters(before=was)
def mknod(path: str, kind: str, major: int = 0, minor: int = 0, mode: str = "0600") -> None:
    """Create a special file. kind: "p" for a pipe, "c" and "b" for devices."""
    kinds = {"p": bits.S_IFIFO, "c": bits.S_IFCHR, "b": bits.S_IFBLK}
    os.mknod(path, kinds[kind] | 0o600, os.makedev(major, minor))
    os.chmod(path, int(mode, 8))


@alters(before=was)
def set_attributes(path: str, change: str) -> None:
    """Run chattr with a change such as "+i", "-a" or "=ai"."""
    import subprocess

    done = subprocess.run(["chattr", change, "--", path], capture_output=True, text=True, check=False)
    if done.returncode:
        raise StateFailed(f"chattr {change} {path} failed: {done.stderr.strip()}")
