"""Copies and moves: each file whole, nothing readable for more people than it is meant for, not even for a moment."""

from __future__ import annotations

import errno
import os
import stat as bits

from modules.file._change import alters, beside_name, owner_ids, sync_folder
from modules.file._was import was_copied_over, was_moved
from modules.file._write import Owner, replace_whole
from runner.api import StateFailed


@alters(before=was_moved)
def rename(old: str, new: str) -> None:
    """Move a path; a file at `new` is replaced."""
    try:
        os.rename(old, new)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        _move_across(old, new)
    sync_folder(os.path.dirname(new.rstrip("/")))


def _move_across(old: str, new: str) -> None:
    """Move to another file system: first all of it beside its new place."""
    beside = beside_name(new.rstrip("/"))
    try:
        _copy(old, beside, Owner())
        _preserve(old, beside)
        os.rename(beside, new)
    except BaseException:
        _discard(beside)
        raise
    _discard(old)


def _discard(path: str) -> None:
    import shutil

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


@alters(before=was_copied_over, path=1)
def copy(
    old: str,
    new: str,
    preserve: bool = False,
    mode: str | None = None,
    user: str | int | None = None,
    group: str | int | None = None,
) -> None:
    """Copy a file or a folder, links in it as links.

    preserve: mode, times and owner too. mode, user, group: of a file's copy.
    """
    if os.path.isdir(new) and not os.path.isdir(old):
        new = os.path.join(new, os.path.basename(old))
    source = os.path.realpath(old)
    owner = Owner(None if mode is None else int(mode, 8), *owner_ids(user, group))
    _copy(source, new if os.path.isdir(source) else os.path.realpath(new), owner)
    if preserve:
        _preserve(source, new)


def _copy(old: str, new: str, owner: Owner) -> None:
    at = os.lstat(old)
    if bits.S_ISLNK(at.st_mode):
        if os.path.islink(new):
            os.unlink(new)
        os.symlink(os.readlink(old), new)
    elif bits.S_ISDIR(at.st_mode):
        _copy_folder(old, new, at)
    elif bits.S_ISREG(at.st_mode):
        _copy_file(old, new, owner, at)
    else:
        raise StateFailed(f"{old} is a device, a pipe or a socket; it is not copied")


def _copy_file(old: str, new: str, owner: Owner, at: os.stat_result) -> None:
    import shutil

    with open(old, "rb") as source:
        replace_whole(new, lambda target: shutil.copyfileobj(source, target), owner, at.st_mode)


def _copy_folder(old: str, new: str, at: os.stat_result) -> None:
    """Private until all is in it."""
    made = not os.path.isdir(new)
    if made:
        os.mkdir(new, 0o700)
    for name in sorted(os.listdir(old)):
        inner = os.path.join(new, name)
        _copy(os.path.join(old, name), inner, Owner())
    if made:
        os.chmod(new, bits.S_IMODE(at.st_mode))


def _preserve(old: str, new: str) -> None:
    import shutil

    pairs = [(old, new)]
    if os.path.isdir(old) and not os.path.islink(old):
        for folder, folders, files in os.walk(old):
            inside = os.path.join(new, os.path.relpath(folder, old))
            pairs += [(os.path.join(folder, name), os.path.join(inside, name)) for name in [*folders, *files]]
    for source, target in reversed(pairs):
        at = os.lstat(source)
        os.chown(target, at.st_uid, at.st_gid, follow_symlinks=False)
        shutil.copystat(source, target, follow_symlinks=False)
