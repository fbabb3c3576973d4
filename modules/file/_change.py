# SPDX-License-Identifier: Apache-2.0
"""Changing paths: each function is a changer and turns the system's errors into StateFailed."""

from __future__ import annotations

import errno
import functools
import os
import stat as bits
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modules import _paths
from modules._machine import umask
from modules.file import _look, _rights
from modules.file._owners import gid_of, uid_of
from modules.file._paths.place import Place, place
from modules.file._rights import refuse_mounted
from modules.file._snapshot import snapshot, snapshot_of_missing, snapshot_of_second
from runner.api import FormerState, StateFailed, changer, here, is_planning
from runner.api import forget_looks as _forget_looks
from runner.api.durability import waits_for_name, write_at_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

# what packages, services, mounts and users are read from: a change below one of these may make any
# look stale
_SYSTEM = ("/etc/", "/usr/", "/lib", "/run/", "/var/lib/", "/boot/")


def alters(
    *,
    before: Callable[..., object],
    path: int = 0,
    planned: Callable[..., object] | bool = True,
    waits: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A changer of files. path: which positional argument is the path that changes. planned: as of
    `changer`; True, the default, for one that only changes places. waits: as of `changer`.
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            where = str(args[path]) if len(args) > path else str(kwargs.get("path", ""))
            if not waits and waits_for_name(where):
                write_at_once()
            try:
                return function(*args, **kwargs)
            except OSError as problem:
                raise _explained(function.__name__, where, problem) from problem
            finally:
                here.versions.pop(where, None)
                if where.startswith(_SYSTEM):
                    only = is_planning()  # dry: programs that looks have asked see no plan
                    _forget_looks(None, *((where, _paths.realpath(where)) if only else ()))

        call.__module__ = "modules.file"  # events say file.write, wherever the function lies
        return changer(touches=["files"], before=before, planned=planned, waits=waits)(call)

    return wrap


@contextmanager
def explained(action: str, path: str) -> Iterator[None]:
    """Turn what the system says into a StateFailed that names the path."""
    try:
        yield
    except OSError as problem:
        raise _explained(action, path, problem) from problem


def _explained(action: str, path: str, problem: OSError) -> StateFailed:
    reason = problem.strerror or str(problem)
    cure = _CURES.get(problem.errno or 0, "")
    if problem.errno == errno.EPERM and (why := _rights.locked(path)):
        cure = f": {why}"
    return StateFailed(f"{action.replace('_', ' ')} of {path} failed: {reason}{cure}")


_CURES = {
    errno.EPERM: " (only root may, or the file system takes no such change)",
    errno.EROFS: " (mount it writable first)",
    errno.ENOSPC: " (free some space; nothing was replaced)",
    errno.EDQUOT: " (free some space; nothing was replaced)",
}


def owner_ids(user: str | int | None, group: str | int | None) -> tuple[int, int]:
    """Numbers for chown, -1 for "as it is"; StateFailed for an unknown name."""
    uid = -1 if user in (None, "") else uid_of(user)
    gid = -1 if group in (None, "") else gid_of(group)
    if uid is None:
        raise StateFailed(f"User {user} is not available", missing=("user", str(user)))
    if gid is None:
        raise StateFailed(f"Group {group} is not available", missing=("group", str(group)))
    return uid, gid


def _snapshot_of_removed(path: str) -> object:
    refuse_mounted("remove", path, below=True)  # before all that it holds is kept for undo
    return snapshot(path)


@alters(before=_snapshot_of_removed)
def remove(path: str) -> None:
    """Remove a file, a link or a folder with all that it holds; links in it are not followed.
    Nothing there is fine. Raises StateFailed where something is mounted in it: nothing is removed.
    """
    _remove(path)


@alters(before=lambda path: {})
def discard(path: str) -> None:
    """Remove what a step that failed has left where nothing was: undo has nothing to restore."""
    _remove(path)


def _remove(path: str) -> None:
    refuse_mounted("remove", path, below=True)
    try:
        where = place(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    with where:
        if where.seen() is not None:
            where.remove()
            where.sync()


@alters(before=snapshot)
def remove_folder(path: str) -> None:
    """Remove a folder that holds nothing; one that does fails."""
    refuse_mounted("remove folder", path)
    with place(path) as where:
        where.rmdir()
        where.sync()


@alters(before=snapshot)
def mkdir(
    path: str,
    *,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
) -> None:
    """Create one folder; one that already exists stays as it is."""
    _make(path, mode, owner_ids(user, group))


@alters(before=snapshot_of_missing)
def makedirs(
    path: str,
    *,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
) -> None:
    """Create a folder and those above it that are missing, all of them with this mode and owner."""
    make_folders(path, mode, owner_ids(user, group))


def make_folders(path: str, mode: str | None = None, owner: tuple[int, int] = (-1, -1)) -> None:
    """Create a folder and those above it that are missing; each is opened where the one above it
    was made.
    """
    missing = []
    while not _paths.isdir(path):
        missing.append(path)
        path = os.path.dirname(path.rstrip("/"))
    for folder in reversed(missing):
        _make(folder, mode, owner)


def _make(path: str, mode: str | None, owner: tuple[int, int]) -> None:
    with place(path) as where:
        try:
            where.mkdir(0o777 if mode is None else int(mode, 8) & 0o700)
        except FileExistsError:
            if not _paths.isdir(path):
                raise
            return
        where.sync()
        mask = umask.of_state()
        final = int(mode, 8) if mode is not None else None if mask is None else 0o777 & ~mask
        if owner == (-1, -1) and final is None:
            return
        with where.pinned() as folder:
            folder.refuse_foreign(bits.S_IFDIR)
            if owner != (-1, -1):
                folder.chown(*owner)
            if final is not None:
                folder.chmod(final)


@alters(before=snapshot_of_second, path=1)
def symlink(target: str, path: str) -> None:
    """Create a symbolic link at `path` that says `target`."""
    with place(path) as where:
        where.symlink(target)
        where.sync()


@alters(before=snapshot_of_second, path=1)
def put_symlink(
    target: str, path: str, user: str | int | None = None, group: str | int | None = None
) -> None:
    """Put a symbolic link with its owner at `path` in one step, instead of the file or link that is
    there.
    """
    refuse_mounted("put symlink", path)
    with place(path) as where:
        put_link(where, target, owner_ids(user, group))


def put_link(where: Place, target: str, owner: tuple[int, int]) -> None:
    """Put a symbolic link with its owner at a place, as a whole."""
    with where.beside() as beside:
        beside.symlink(target)
        try:
            with beside.pinned() as new_link:
                uid, gid = owner
                if uid not in (-1, new_link.at.st_uid) or gid not in (-1, new_link.at.st_gid):
                    new_link.refuse_foreign()
                    new_link.chown(uid, gid)
            beside.rename_to(where)
        except BaseException:
            beside.unlink()
            raise
    where.sync()


@alters(before=snapshot_of_second, path=1)
def link(target: str, path: str) -> None:
    """Create a hard link at `path` to the file `target`."""
    with place(target) as file, place(path) as where:
        where.link_to(file)
        where.sync()


@alters(before=snapshot)
def set_mode(path: str, mode: str, follow: bool = True) -> str:
    """Set the mode of a path ("0644"); answers with the mode that it has then. Without `follow` a
    link is refused.
    """
    with place(path, follow) as where, where.pinned() as pin:
        if pin.is_link:
            raise StateFailed(f"{path} has become a symbolic link; it is not followed")
        pin.chmod(int(str(mode), 8))
        return f"{pin.mode():04o}"


@alters(before=snapshot)
def chown(path: str, user: str | int | None, group: str | int | None, follow: bool = True) -> None:
    """Set the owner, None for "as it is"; without `follow` that of a link itself. Raises
    StateFailed for what has become a link. The set-user-ID bits stay.
    """
    uid, gid = owner_ids(user, group)
    with place(path, follow) as where, where.pinned() as pin:
        if pin.is_link and follow:
            raise StateFailed(f"{path} has become a symbolic link; it is not followed")
        pin.chown(uid, gid)


@alters(before=snapshot)
def utime(path: str, atime: float, mtime: float) -> None:
    """Set the times of access and change (seconds since 1970). Raises StateFailed for what has
    become a link.
    """
    with place(path, follow=True) as where, where.pinned() as pin:
        if pin.is_link:
            raise StateFailed(f"{path} has become a symbolic link; it is not followed")
        pin.utime(atime, mtime)


@alters(before=snapshot)
def mknod(path: str, kind: str, major: int = 0, minor: int = 0, mode: str = "0600") -> None:
    """Create a special file. kind: "p" (a pipe), "c" and "b" (devices), "f" (an empty one)."""
    form = {"p": bits.S_IFIFO, "c": bits.S_IFCHR, "b": bits.S_IFBLK, "f": bits.S_IFREG}[kind]
    with place(path) as where:
        where.mknod(form | 0o600, os.makedev(major, minor))
        with where.pinned() as node:
            node.refuse_foreign(form)
            node.chmod(int(mode, 8))
        where.sync()


def former_attributes(path: str, *_: object) -> FormerState:
    """The attributes of a path that chattr can change, as undo restores them."""
    letters = _look.get_attributes(path)
    settable = "".join(
        letter for letter in letters or "" if letter in _rights.LETTERS and letter != "e"
    )
    return FormerState("attributes", path, {} if letters is None else {"chattr": f"={settable}"})


@alters(before=former_attributes, planned=False)
def set_attributes(path: str, change: str) -> None:
    """Set the attributes of a file or folder as chattr does: "+i", "-a" or "=ai", say."""
    with place(path) as where:
        handle = where.open()
        try:
            _rights.change_attributes(handle, change)
        finally:
            os.close(handle)
