"""Unpacking: first beside the target, then each member to its place as a whole."""

from __future__ import annotations

import errno
import os
import stat as bits
from collections.abc import Collection, Sequence
from typing import Any

from modules import cmd
from modules.archive._members import TAR, Member, readable, stripped
from modules.file._change import alters
from modules.file._place import beside_name
from modules.file._was import was, was_second
from runner.api import StateFailed


@alters(before=was_second, path=1)
def unpack(
    source: str,
    target: str,
    kind: str,
    *,
    strip: int = 0,
    options: Sequence[str] = (),
    password: str | None = None,
    user: int = -1,
    group: int = -1,
    permissions: bool = True,
    without: Collection[str] = (),
) -> str:
    """Unpack to a hidden folder on the target's file system, which is the answer; `place` or `discard` come next.

    strip: leading parts of the names that are dropped. options: further ones, for the tar program. user, group: of all
    members; -1 keeps those of the archive. permissions: as a zip has them. without: names in a zip that are left out.
    """
    beside = beside_name(os.path.join(_beside(target), "archive"))
    os.mkdir(beside, 0o700)
    try:
        if options and kind == TAR:
            _with_program(source, beside, strip, options)
        elif kind == TAR:
            _with_tarfile(source, beside, strip)
        else:
            _with_zipfile(source, beside, strip, password, permissions, without)
        _own(beside, user, group)
    except BaseException as problem:
        _remove(beside)
        if isinstance(problem, OSError):
            raise StateFailed(f"{source} cannot be extracted: {problem.strerror or problem}", changes={}) from problem
        raise
    return beside


def shortage(found: Sequence[Member], target: str) -> str:
    """What is missing on the target's file system to unpack members there; empty when they fit."""
    folder = _beside(target)
    disk = os.statvfs(folder)
    free = disk.f_frsize * (disk.f_bavail if os.geteuid() else disk.f_bfree)
    needed = sum(member.size for member in found)
    if needed <= free:
        return ""
    return f"needs {needed / 1e6:,.1f} MB, and the disk of {folder} has {free / 1e6:,.1f} MB left; free some space"


def _beside(target: str) -> str:
    """The folder that holds the target, or will; a mount point itself, as renaming works within one file system."""
    folder = os.path.dirname(target)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    mounted = os.path.isdir(target) and os.stat(target).st_dev != os.stat(folder).st_dev
    return target if mounted else folder


@alters(before=was_second, path=1)
def place(beside: str, target: str, user: int = -1, group: int = -1, folders: Collection[str] | None = None) -> None:
    """Move what was unpacked to the target; folders that are there are merged, everything else is replaced.

    user, group: of the target and the folders above it that are new. folders: those that the archive itself has
    (default: all): only they give their mode, times and owner to folders that are there.
    """
    try:
        _make(target, user, group)
        _move(beside, target, folders)
    finally:
        _remove(beside)


def _make(folder: str, user: int, group: int) -> None:
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for each in reversed(missing):
        os.mkdir(each)
        os.chown(each, user, group)


@alters(before=was)
def discard(beside: str) -> None:
    """Remove what was unpacked."""
    _remove(beside)


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _with_program(source: str, inner: str, strip: int, options: Sequence[str]) -> None:
    done = cmd.execute(["tar", "-x", f"--strip-components={strip}", *options, "-f", source, "-C", inner])
    if done.retcode:
        raise StateFailed(f"tar failed: {done.stderr or done.stdout}", changes={})


def _with_tarfile(source: str, inner: str, strip: int) -> None:
    import tarfile

    # what is dangerous was refused when the archive was listed; this filter keeps owners and modes
    trusted: dict[str, Any] = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
    folders = []
    with readable(source, "{} cannot be extracted"), tarfile.open(source) as archive:
        for info in archive:
            info.name = stripped(info.name, strip)
            if not info.name:
                continue
            if info.islnk():
                info.linkname = stripped(info.linkname, strip)
            if info.isdir():
                folders.append((info.name, info.mode, info.mtime))
                info.mode = 0o700
            archive.extract(info, inner, numeric_owner=False, **trusted)
    for name, mode, mtime in reversed(folders):
        os.chmod(os.path.join(inner, name), mode)
        os.utime(os.path.join(inner, name), (mtime, mtime))


def _with_zipfile(
    source: str, inner: str, strip: int, password: str | None, permissions: bool, without: Collection[str]
) -> None:
    import zipfile

    secret = password.encode() if password else None
    modes = []
    with readable(source, "{} cannot be extracted"), zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            name, mode = stripped(info.filename, strip), bits.S_IMODE(info.external_attr >> 16)
            if not name or info.filename in without:
                continue
            path = os.path.join(inner, name)
            _zip_member(archive, info, path, secret)
            if permissions and mode and not os.path.islink(path):
                modes.append((path, mode & 0o777))
    for path, mode in modes:  # last, as folders may be read-only then
        os.chmod(path, mode)


def _zip_member(archive: Any, info: Any, path: str, secret: bytes | None) -> None:
    import shutil

    if info.is_dir():
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if bits.S_ISLNK(info.external_attr >> 16):
        os.symlink(archive.read(info, secret).decode(), path)
        return
    with archive.open(info, pwd=secret) as data, open(path, "wb") as file:
        shutil.copyfileobj(data, file)


def _own(folder: str, user: int, group: int) -> None:
    if (user, group) != (-1, -1):
        for root, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                os.chown(os.path.join(root, name), user, group, follow_symlinks=False)


def _move(inner: str, target: str, known: Collection[str] | None) -> None:
    for root, folders, files in os.walk(inner, topdown=True):
        below = os.path.relpath(root, inner)
        place = os.path.normpath(os.path.join(target, below))
        for name in list(folders):
            source, path = os.path.join(root, name), os.path.join(place, name)
            adopts = known is None or os.path.normpath(os.path.join(below, name)) in known
            if os.path.islink(source) or not os.path.lexists(path):
                if _renamed(source, path):
                    folders.remove(name)
                    continue
                os.mkdir(path)
                adopts = True
            if adopts:
                _adopt(source, path)
        for name in files:
            _renamed(os.path.join(root, name), os.path.join(place, name))


def _renamed(source: str, path: str) -> bool:
    """Whether something is in its place now; a folder cannot move to another file system below the target."""
    import shutil

    try:
        os.rename(source, path)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        if os.path.isdir(source) and not os.path.islink(source):
            return False
        beside, at = beside_name(path), os.lstat(source)
        shutil.copy2(source, beside, follow_symlinks=False)
        os.chown(beside, at.st_uid, at.st_gid, follow_symlinks=False)
        os.rename(beside, path)
    return True


def _adopt(source: str, path: str) -> None:
    """Give a folder that is there the mode, times and owner of the unpacked one."""
    import shutil

    at, there = os.stat(source), os.stat(path)
    if (at.st_uid, at.st_gid) != (there.st_uid, there.st_gid):
        os.chown(path, at.st_uid, at.st_gid)
    shutil.copystat(source, path)
