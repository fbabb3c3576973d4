# SPDX-License-Identifier: Apache-2.0
"""Copies and moves: each file whole, nothing readable for more people than it is meant for, not
even for a moment.
"""

from __future__ import annotations

import errno
import os
import stat as bits
from typing import IO

from modules import _paths
from modules._planned.overlay import overlay
from modules.file._change import alters, owner_ids
from modules.file._contents import holes, limits
from modules.file._contents.streamed import streamed
from modules.file._contents.write import Owner, replace
from modules.file._paths.place import Pinned, Place, place
from modules.file._rights import refuse_mounted
from modules.file._snapshot import paths_below, snapshot_of_copy, snapshot_of_move
from modules.file._validation.validated import ask
from runner.api import StateFailed
from runner.api.durability import make_contents_durable, write_at_once


@alters(before=snapshot_of_move)
def rename(old: str, new: str) -> None:
    """Move a path; a file at `new` is replaced."""
    refuse_mounted("rename", old)
    with place(old) as source, place(new) as target:
        move_place(source, target)


def move_place(source: Place, target: Place) -> None:
    """Move what is at one place to another, of another file system, too."""
    try:
        source.rename_to(target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        _move_across(source, target)
    target.sync()


def _move_across(source: Place, target: Place) -> None:
    """Move to another file system: first all of it beside its new place."""
    with target.beside() as beside:
        try:
            copy_place(source, beside, Owner(), preserve=True, special=True)
            beside.rename_to(target)
        except BaseException:
            beside.remove()
            raise
    source.remove()


@alters(before=snapshot_of_copy, path=1, waits=True)
def copy(
    old: str,
    new: str,
    preserve: bool = False,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
) -> None:
    """Copy a file or a folder, links in it as links.

    preserve: mode, times and owner too. mode, user, group: of the copy; not of what is in a folder.
    """
    owner = Owner(None if mode is None else int(mode, 8), *owner_ids(user, group))
    with place(old, follow=True) as source:
        into_folder = _paths.isdir(new)
        if into_folder and not source.is_dir():
            new = os.path.join(new, os.path.basename(old))
        with place(new, follow=into_folder or not source.is_dir()) as target:
            if source.is_dir() and not target.is_dir():
                target.refuse_too_large(_needed_below(old))
                if overlay() is None:
                    _copy_aside(source, target, owner, preserve)
                    return
            copy_place(source, target, owner, preserve)


def _copy_aside(source: Place, target: Place, owner: Owner, preserve: bool) -> None:
    """Copy a folder to a hidden name first: after a kill all of it is there, or nothing."""
    beside = target.beside()
    hidden, beside.path = beside.path, target.path  # the one that messages name

    def put_away() -> None:
        with beside:
            beside.remove()

    try:
        copy_place(source, beside, owner, preserve, durable=False)
        if beside.folder_becomes_later(target, put_away):
            return
        write_at_once()
        make_contents_durable(hidden)
        beside.rename_to(target)
    except BaseException:
        put_away()
        raise
    beside.close()
    target.sync()


def _needed_below(folder: str) -> int:
    """The bytes that the files below a folder take."""
    stats = (_paths.lstat(path) for path in paths_below(folder))
    return sum(limits.needed(at) for at in stats if bits.S_ISREG(at.st_mode))


def copy_place(
    source: Place,
    target: Place,
    owner: Owner,
    preserve: bool = False,
    special: bool = False,
    durable: bool = True,
) -> None:
    """Copy what is at one place to another. preserve: owner, extended attributes, mode and times
    too. special: make devices, pipes and sockets anew; else they raise StateFailed. durable: False
    for what the caller syncs.
    """
    with source.pinned() as pinned:
        if durable and not bits.S_ISREG(pinned.at.st_mode):
            write_at_once()
        if pinned.is_link:
            _copy_link(pinned, target, preserve)
        elif pinned.is_dir:
            _copy_folder(source, target, owner, preserve, special, durable)
        elif bits.S_ISREG(pinned.at.st_mode):
            _copy_file(source, target, owner, preserve, durable)
        elif special:
            _make_special(pinned, target)
        else:
            raise StateFailed(f"{source.path} is a device, a pipe or a socket; it is not copied")


def _copy_link(source: Pinned, target: Place, preserve: bool) -> None:
    at = target.seen()
    if at is not None and bits.S_ISLNK(at.st_mode):
        target.unlink()
    target.symlink(source.readlink())
    if preserve:
        with target.pinned() as copied_link:
            copied_link.refuse_foreign()
            preserve_from(source, copied_link)


def _make_special(source: Pinned, target: Place) -> None:
    kind = bits.S_IFMT(source.at.st_mode)
    target.mknod(kind | 0o600, source.at.st_rdev)
    with target.pinned() as node:
        node.refuse_foreign(kind)
        preserve_from(source, node)


def _copy_file(source: Place, target: Place, owner: Owner, preserve: bool, durable: bool) -> None:
    with source.reading() as (file, pinned):
        target.refuse_too_large(limits.needed(pinned.at))
        ask(target.path, streamed(source.path, looked_at=False))

        def finish(new: Pinned) -> None:
            if preserve:
                preserve_from(pinned, new)

        def fill(new: IO[bytes]) -> None:
            if take := getattr(new, "take", None):  # of a planned file
                take(source.path, pinned.at.st_size)
            else:
                holes.copy_contents(file, new)

        replace(target, fill, owner, pinned.at.st_mode, finish, durable=durable)


def _copy_folder(
    source: Place, target: Place, owner: Owner, preserve: bool, special: bool, durable: bool
) -> None:
    """Private until all is in it."""
    is_new = not target.is_dir()
    if is_new:
        target.mkdir(0o700)
    with source.entered() as old, target.entered() as new:
        if is_new:
            new.pin.refuse_foreign(bits.S_IFDIR)
        for name in sorted(old.names()):
            with old.place(name) as inner, new.place(name) as copy_of_it:
                copy_place(inner, copy_of_it, Owner(), preserve, special, durable)
        if preserve:
            preserve_from(old.pin, new.pin)
        elif is_new:
            mode = bits.S_IMODE(old.pin.at.st_mode)
            new.pin.chown(owner.uid, owner.gid)
            new.pin.chmod(mode if owner.mode is None else owner.mode)


def preserve_from(source: Pinned, target: Pinned) -> None:
    """Owner, extended attributes, mode and times."""
    target.chown(source.at.st_uid, source.at.st_gid)
    for name, value in source.attributes().items():
        try:
            target.set_attribute(name, value)
        except OSError as problem:
            if problem.errno not in _UNSETTABLE:
                raise
    if not source.is_link:
        target.chmod(bits.S_IMODE(source.at.st_mode))
    target.take_times(source.at)


_UNSETTABLE = (errno.EPERM, errno.ENOTSUP, errno.ENODATA, errno.EINVAL, errno.EACCES)
