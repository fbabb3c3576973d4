"""Whole writes: after a kill or a full disk a file is the old one or the new one, never a part of either."""

from __future__ import annotations

import errno
import os
import stat as bits
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from modules._umask import umask
from modules.file._change import alters, beside_name, owner_ids, sync_folder
from modules.file._was import target_of, was_written
from runner.api import Record, StateFailed, here

Fill = Callable[[IO[bytes]], object]


class Owner(Record):
    """What a file is to have; None and -1: what it had, or what the system gives a new one."""

    mode: int | None = None
    uid: int = -1
    gid: int = -1


@alters(before=was_written)
def write(
    path: str,
    data: bytes,
    *,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
    backup: str | None = None,
    follow: bool = True,
) -> None:
    """Replace the contents of a file as a whole, or create it.

    mode, user, group: what is not given stays as it was, extended attributes too.
    backup: "minion" keeps the old file below the state folder. follow: write what a symbolic link points to; without
    it the link itself is replaced by a file.
    """
    target = target_of(path, follow)
    owner = Owner(None if mode is None else int(mode, 8), *owner_ids(user, group))
    if backup and os.path.isfile(target):
        keep_copy(target)
    replace_whole(target, lambda file: file.write(data), owner)


def replace_whole(target: str, fill: Fill, owner: Owner, new_mode: int = 0o666) -> None:
    """Write beside the target, then rename. fill: writes the contents. new_mode: of a new file, cut by the umask."""
    old = _replaceable(target)
    beside = beside_name(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(beside, flags, 0o600)  # nobody else may read it before it has its own mode
    try:
        with open(handle, "wb") as file:
            fill(file)
            file.flush()
            _dress(handle, target, old, owner, new_mode)
            os.fsync(handle)
        _put(beside, target, fill)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    sync_folder(os.path.dirname(target))


def _replaceable(target: str) -> os.stat_result | None:
    """What is there; StateFailed for what a file must not replace."""
    try:
        old = os.lstat(target)
    except FileNotFoundError:
        return None
    if bits.S_ISREG(old.st_mode):
        return old
    if bits.S_ISLNK(old.st_mode):
        return None
    kind = "a folder" if bits.S_ISDIR(old.st_mode) else "a device, pipe or socket"
    raise StateFailed(f"{target} is {kind}; it is not replaced by a file")


def _dress(handle: int, target: str, old: os.stat_result | None, owner: Owner, new_mode: int) -> None:
    """Owner first, as that clears set-user-ID; then the attributes, whose access list follows the mode set last."""
    uid, gid = owner.uid, owner.gid
    if old is not None:
        uid, gid = (old.st_uid if uid == -1 else uid), (old.st_gid if gid == -1 else gid)
    now = os.fstat(handle)
    if (uid not in (-1, now.st_uid)) or (gid not in (-1, now.st_gid)):
        os.fchown(handle, uid, gid)
    if old is not None:
        _copy_attributes(target, handle)
    mode = owner.mode
    if mode is None:
        mode = bits.S_IMODE(old.st_mode) if old is not None else new_mode & 0o777 & ~umask()
    os.fchmod(handle, mode)


def _copy_attributes(source: str, handle: int) -> None:
    """Extended attributes, access lists among them; not those that vouch for the old contents."""
    try:
        names = os.listxattr(source)
    except OSError:
        return
    for name in names:
        if name in ("security.capability", "security.ima", "security.evm"):
            continue
        try:
            os.setxattr(handle, name, os.getxattr(source, name))
        except OSError as problem:
            if problem.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA):
                raise


def _put(beside: str, target: str, fill: Fill) -> None:
    try:
        os.rename(beside, target)
    except OSError as problem:
        # a file that is a mount point of its own (/etc/hosts of a container) can only be written in place
        if problem.errno != errno.EBUSY:
            raise
        with open(beside, "rb") as source, open(target, "r+b") as file:
            import shutil

            file.truncate()
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
        os.unlink(beside)


def default_mode() -> str:
    """The mode of a new file for which none is asked: "0644" with the usual umask."""
    return f"{0o666 & ~umask():04o}"


def default_folder_mode() -> str:
    """The mode of a new folder for which none is asked: "0755" with the usual umask."""
    return f"{0o777 & ~umask():04o}"


def keep_copy(path: str) -> str:
    """Keep the present file below the state folder under its path and the time; answers with the copy's path."""
    import shutil
    import time

    now = time.time()
    stamp = time.strftime("%a_%b_%d_%H:%M:%S_", time.localtime(now)) + f"{int(now % 1 * 1e6):06d}"
    kept = f"{here.state_dir}/file_backup{path}_{stamp}_{time.strftime('%Y', time.localtime(now))}"
    top = here.state_dir
    folder = os.path.dirname(kept)
    for part in os.path.relpath(folder, top).split("/"):
        top = os.path.join(top, part)
        with suppress(FileExistsError):
            os.mkdir(top, 0o700)
    at = os.stat(path)
    handle = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(handle, "wb") as target, open(path, "rb") as source:
        shutil.copyfileobj(source, target)
        with suppress(PermissionError):
            os.fchown(handle, at.st_uid, at.st_gid)
        os.fchmod(handle, bits.S_IMODE(at.st_mode))
    return kept
