# SPDX-License-Identifier: Apache-2.0
"""Whole writes: after a kill or a full disk a file is the old one or the new one, never a part of
either.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat as bits
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress

from modules._machine.umask import umask
from modules.file._change import alters, owner_ids
from modules.file._contents import holes
from modules.file._contents.streamed import Contents, at_hand, copy_into, room_for
from modules.file._paths.place import Pinned, Place, place
from modules.file._snapshot import snapshot_of_written, target_of
from modules.file._validation.validated import ask
from runner.api import Record, StateFailed, Version, here, planned_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

    Fill = Callable[[IO[bytes]], object] | bytes
    Finish = Callable[[Pinned], None]


class Owner(Record):
    """The owner and mode that a file is to have; None and -1: what it had, or what the system gives
    a new one.
    """

    mode: int | None = None
    uid: int = -1
    gid: int = -1


@alters(before=snapshot_of_written, waits=True)
def write(
    path: str,
    data: Contents,
    *,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
    backup: str | None = None,
    follow: bool = True,
    private: bool = False,
) -> None:
    """Replace the contents of a file as a whole, or create it.

    mode, user, group: what is not given stays as it was, extended attributes too.
    backup: "minion" keeps the old file below the state folder. follow: write what a symbolic link
    points to; without it the link itself is replaced by a file. private: the old contents are kept
    nowhere, neither as a backup nor for undo, and a new file is the owner's alone.
    """
    target = target_of(path, follow)
    looked_at = here.versions.get(path)
    data = at_hand(data)
    owner = Owner(None if mode is None else int(mode, 8), *owner_ids(user, group))
    with place(target) as where:
        where.refuse_too_large(room_for(data))
        ask(where.path, data)
        kept = _keep_file(where) if backup and not private else ""
        fill: Fill = data if isinstance(data, bytes) else lambda file: copy_into(data, file)
        try:
            new_mode = 0o600 if private else 0o666
            replace(where, fill, owner, new_mode, looked_at=looked_at)
        except Exception:
            if kept:  # of a file that stays
                os.unlink(kept)
            raise


def replace(
    where: Place,
    fill: Fill,
    owner: Owner,
    new_mode: int = 0o666,
    finish: Finish | None = None,
    looked_at: Version | None = None,
    durable: bool = True,
) -> None:
    """Write beside a place, then rename.

    fill: the contents, or what writes them. new_mode: of a new file, cut by the umask. finish: gets
    the new file. looked_at: the version that the contents were made from; another one is not
    written over. durable: False for a new one that only the caller can reach, who syncs it.
    """
    if not looked_at and where.seen() is None:
        _put(where, None, fill, owner, new_mode, finish, looked_at, durable)
        return
    with ExitStack() as held:
        old = None
        with suppress(FileNotFoundError):
            old = held.enter_context(where.pinned())
        if old is not None and not _replaceable(where, old):
            old = looked_at = None  # a link, and what it leads to was looked at
        _put(where, old, fill, owner, new_mode, finish, looked_at, durable)
    if old is not None and old.at.st_nlink > 1:
        here.warn(
            f"{where.path} was one of {old.at.st_nlink} names of a file (hard links): the others"
            " keep its old contents, as a file is replaced whole"
        )


def _put(
    where: Place,
    old: Pinned | None,
    fill: Fill,
    owner: Owner,
    new_mode: int,
    finish: Finish | None,
    looked_at: Version | None,
    durable: bool,
) -> None:
    """As `replace`. old: the file that is replaced, for its owner, mode and attributes."""
    with where.beside(lasting=False) if durable else nullcontext(where) as beside:
        try:
            with beside.new_file() as new:  # nobody else may read it before it has its own mode
                new.write(fill) if isinstance(fill, bytes) else fill(new.file)
                new.flush()
                _set_attributes(new.pin, old, owner, new_mode)
                if finish:
                    finish(new.pin)
                if durable and beside.becomes_later(where, new, looked_at):
                    return
                if durable:
                    new.sync()
                    with where.only_if(looked_at):
                        _move_into_place(beside, where)
                new.note()
        except BaseException:
            with suppress(FileNotFoundError):
                beside.unlink()
            raise
    if durable:
        where.sync()


def _replaceable(where: Place, old: Pinned) -> bool:
    """Return whether owner, mode and attributes are taken over; StateFailed for what a file must
    not replace.
    """
    if bits.S_ISREG(old.at.st_mode):
        return True
    if old.is_link:
        return False
    kind = "a folder" if old.is_dir else "a device, pipe or socket"
    raise StateFailed(f"{where.path} is {kind}; it is not replaced by a file")


def _set_attributes(new: Pinned, old: Pinned | None, owner: Owner, new_mode: int) -> None:
    """Set the owner first, as that clears set-user-ID; then the attributes, whose access list
    follows the mode set last.
    """
    uid, gid = owner.uid, owner.gid
    if old is not None:
        uid, gid = (old.at.st_uid if uid == -1 else uid), (old.at.st_gid if gid == -1 else gid)
    if (uid not in (-1, new.at.st_uid)) or (gid not in (-1, new.at.st_gid)):
        new.chown(uid, gid)
    if old is not None:
        _copy_attributes(old, new)
    mode = owner.mode
    if mode is None:
        mode = bits.S_IMODE(old.at.st_mode) if old is not None else new_mode & 0o777 & ~umask()
    new.chmod(mode)


def _copy_attributes(source: Pinned, new: Pinned) -> None:
    """Extended attributes, access lists among them; not those that vouch for the old contents."""
    for name, value in source.attributes().items():
        if name in ("security.capability", "security.ima", "security.evm"):
            continue
        try:
            new.set_attribute(name, value)
        except OSError as problem:
            if problem.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA):
                raise


def _move_into_place(beside: Place, where: Place) -> None:
    try:
        beside.rename_to(where)
    except OSError as problem:
        # a file that is a mount point of its own (/etc/hosts of a container) can only be written in
        # place
        if problem.errno != errno.EBUSY:
            raise
        with (
            open(beside.open(), "rb") as source,  # os: its place opens it
            open(where.open(os.O_RDWR), "r+b") as file,  # os: its place opens it
        ):
            file.truncate()
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
        beside.unlink()


def default_mode() -> str:
    """The mode of a new file for which none is asked: "0644" with the usual umask."""
    return f"{0o666 & ~umask():04o}"


def default_folder_mode() -> str:
    """The mode of a new folder for which none is asked: "0755" with the usual umask."""
    return f"{0o777 & ~umask():04o}"


@planned_as(lambda where: "")
def _keep_file(where: Place) -> str:
    """Keep the present file below the state folder under its path and the time; where it is kept,
    "" for none.
    """
    at = where.seen()
    if at is None or not bits.S_ISREG(at.st_mode):
        return ""
    now = time.time()
    stamp = time.strftime("%a_%b_%d_%H:%M:%S_", time.localtime(now)) + f"{int(now % 1 * 1e6):06d}"
    stamp += f"_{time.strftime('%Y', time.localtime(now))}"
    backup = f"{here.state_dir}/file_backup{where.path}_{stamp}"
    *below, name = os.path.relpath(backup, here.state_dir).split("/")
    handle = here.state_folder(*below).open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with (
        open(handle, "wb") as target,
        open(where.open_file(), "rb") as source,  # os: its place opens it
    ):
        at = os.fstat(source.fileno())
        holes.copy_contents(source, target)
        with suppress(PermissionError):
            os.fchown(handle, at.st_uid, at.st_gid)
        os.fchmod(handle, bits.S_IMODE(at.st_mode))
    return backup
