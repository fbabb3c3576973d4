"""Changing paths: each function is a changer and turns the system's errors into StateFailed."""

from __future__ import annotations

import errno
import functools
import os
import stat as bits
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from modules.file._owners import gid_of, uid_of
from modules.file._was import was, was_copied_over, was_missing, was_moved, was_second
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
            import shutil

            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return
    sync_folder(os.path.dirname(path.rstrip("/")))


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
    if mode is not None:
        os.chmod(path, int(mode, 8))


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


@alters(before=was_moved)
def rename(old: str, new: str) -> None:
    """Move a path; a file at `new` is replaced."""
    try:
        os.rename(old, new)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        import shutil

        shutil.move(old, new)
    sync_folder(os.path.dirname(new.rstrip("/")))


@alters(before=was_copied_over, path=1)
def copy(old: str, new: str, preserve: bool = False) -> None:
    """Copy a file or a folder, links in it as links. preserve: mode, times and owner too."""
    if os.path.isdir(old):
        import shutil

        shutil.copytree(old, new, symlinks=True, dirs_exist_ok=True)
    else:
        if os.path.isdir(new):
            new = os.path.join(new, os.path.basename(old))
        _copy_file(old, new)
    if preserve:
        _preserve(old, new)


def _copy_file(old: str, new: str) -> None:
    import shutil

    from modules.file._write import Owner, replace_whole

    at = os.stat(old)
    with open(old, "rb") as source:
        replace_whole(
            os.path.realpath(new), lambda target: shutil.copyfileobj(source, target), Owner(None, -1, -1), at.st_mode
        )


def _preserve(old: str, new: str) -> None:
    import shutil

    pairs = [(old, new)]
    if os.path.isdir(old):
        for folder, folders, files in os.walk(old):
            inside = os.path.join(new, os.path.relpath(folder, old))
            pairs += [(os.path.join(folder, name), os.path.join(inside, name)) for name in [*folders, *files]]
    for source, target in reversed(pairs):
        follow = source == old  # the source itself may be a link, whose file was copied
        at = os.stat(source, follow_symlinks=follow)
        os.chown(target, at.st_uid, at.st_gid, follow_symlinks=follow)
        shutil.copystat(source, target, follow_symlinks=follow)


@alters(before=was)
def set_mode(path: str, mode: str) -> str:
    """Set the mode of a path ("0644"); answers with the mode that it has then."""
    os.chmod(path, int(str(mode), 8))
    return f"{os.stat(path).st_mode & 0o7777:04o}"


@alters(before=was)
def chown(path: str, user: str | int | None, group: str | int | None, follow: bool = True) -> None:
    """Set the owner, None for "as it is"; without `follow` that of a link itself. The set-user-ID bits stay."""
    uid, gid = owner_ids(user, group)
    before = os.stat(path, follow_symlinks=follow).st_mode
    os.chown(path, uid, gid, follow_symlinks=follow)
    if before & 0o6000 and not bits.S_ISLNK(before):
        os.chmod(path, before & 0o7777)


@alters(before=was)
def utime(path: str, atime: float, mtime: float) -> None:
    """Set the times of access and change (seconds since 1970)."""
    os.utime(path, (atime, mtime))


@alters(before=was)
def append_bytes(path: str, data: bytes) -> None:
    """Add bytes to the end of a file."""
    with open(path, "ab", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())


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
