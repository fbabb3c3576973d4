# SPDX-License-Identifier: Apache-2.0
"""Unpacking: first to a private folder beside the target, then each member whole to its place."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import shutil
import stat as bits
import tarfile
import zipfile
from collections.abc import Collection, Sequence
from functools import cache
from typing import IO, Any, cast

from modules import _paths, cmd
from modules.archive._members import (
    TAR,
    LinksInside,
    Member,
    readable,
    refuse,
    refuse_changed,
    stripped,
)
from modules.archive._source import fixed, name_of
from modules.file._change import alters, make_folders
from modules.file._contents import limits
from modules.file._contents.copy import copy_place, preserve_from
from modules.file._contents.write import Owner
from modules.file._paths.place import Folder, Place
from modules.file._paths.place import place as place_of
from modules.file._paths.planned_place import PlannedPlace
from modules.file._paths.private_folder import INSIDE, PrivateFolder, folder_beside
from modules.file._paths.walk import real_path, resolved
from modules.file._snapshot import missing_folders, snapshot, snapshot_of_missing
from runner.api import StateFailed, Unforeseen, for_states, here, lies_in
from runner.api.durability import collects_files, make_contents_durable, write_at_once
from runner.api.planning import only_files

MOST_PLANNED = 64 << 20  # bytes of an archive that a dry run unpacks
MOST_PLANNED_MEMBERS = 256 << 20  # bytes of all that is in it
MOST_RESTORED = 2_000  # members whose places undo restores


class Unpacked(PrivateFolder):
    """An archive that was unpacked to a private folder beside the target, held open; `place` or
    `discard` come next.
    """

    def make_durable(self) -> None:
        make_contents_durable(self.path)


class _PlannedUnpacked(Unpacked):
    """An archive that a dry run has unpacked to a folder of the cache, as if to a planned one."""

    def __init__(self, target: str) -> None:
        with place_of(os.path.join(folder_beside(target), "archive")) as above:
            self._planned = cast(PlannedPlace, above.beside())
        super().__init__(Place(resolved(os.path.join(self._planned.scratch(), "archive"))))

    def members(self) -> Place:
        self._planned.graft(os.path.join(self._where.path, INSIDE))
        return self._planned

    def make_durable(self) -> None:
        """Nothing of it has to last."""

    def remove(self) -> None:
        self._planned.remove()
        os.close(self._private.handle)
        os.close(self._where.folder)


@only_files
def _plan_unpacking(source: str, target: str, kind: str, **options: Any) -> Unpacked:
    _, members = here.store("archives").get(source, (None, None))
    size = sum(member.size for member in members or ())
    if members is None or _paths.stat(source).st_size > MOST_PLANNED or size > MOST_PLANNED_MEMBERS:
        raise Unforeseen(f"the members of {source}")
    return _fill(_PlannedUnpacked(target), source, kind, **options)


def _before_unpacking(_: str, target: str, *__: object, **___: object) -> object:
    return snapshot_of_missing(real_path(target))  # which members go to is recorded with them


@alters(before=_before_unpacking, path=1, planned=_plan_unpacking, waits=True)
def unpack(source: str, target: str, kind: str, **options: Any) -> Unpacked:
    """Unpack to a hidden folder on the target's file system, which is the answer; `place` or
    `discard` come next. Raises StateFailed when it cannot be extracted. options: as of `_fill`.
    """
    with place_of(os.path.join(folder_beside(target), "archive")) as above:
        unpacked = Unpacked(above.beside())
    return _fill(unpacked, source, kind, **options)


def _fill(
    unpacked: Unpacked,
    source: str,
    kind: str,
    *,
    strip: int = 0,
    options: Sequence[str] = (),
    password: str | None = None,
    user: int = -1,
    group: int = -1,
    permissions: bool = True,
    without: Collection[str] = (),
) -> Unpacked:
    """Unpack an archive. Raises StateFailed when it cannot be extracted.

    strip: leading parts of the names that are dropped. options: further ones, for the tar program.
    user, group: of all members; -1 keeps those of the archive. permissions: as a zip has them.
    without: names in a zip that are left out.
    """
    try:
        with readable(source, "{} cannot be extracted"), fixed(source) as file:
            refuse_changed(file, source, kind, strip, password, options)
            if options and kind == TAR:
                _with_program(file, unpacked.path, strip, options)
            elif kind == TAR:
                _with_tarfile(file, unpacked.path, strip)
            else:
                _with_zipfile(file, unpacked.path, strip, password, permissions, without)
        _refuse_unsafe(source, unpacked.path)
        _own(unpacked.path, user, group)
        if not collects_files():  # else `place` sees to it
            unpacked.make_durable()
    except BaseException as problem:
        unpacked.remove()
        if isinstance(problem, OSError):
            raise StateFailed(
                f"{source} cannot be extracted: {problem.strerror or problem}", changes={}
            ) from problem
        raise
    return unpacked


@for_states
def shortage(members: Sequence[Member], target: str) -> str:
    """Describe what space is missing on the target's file system to unpack members there; empty
    when they fit.
    """
    folder = folder_beside(target)
    while not (there := _paths.source(folder)):  # it is only planned
        folder = os.path.dirname(folder)
    free = limits.free(there) or 0
    needed = sum(member.size for member in members)
    if needed <= free:
        return ""
    return (
        f"needs {needed / 1e6:,.1f} MB, and the disk of {folder} has {free / 1e6:,.1f} MB left;"
        " free some space"
    )


def _before_members(unpacked: Unpacked, target: str, *_: object, **__: object) -> object:
    """Return what is at the paths of the members; nothing if they are too many for the history."""
    top, real = unpacked.path, real_path(target)
    facts: list[dict[str, Any]] = [*missing_folders(real)]
    for root, folders, files in os.walk(top):  # os: where it was unpacked to
        for name in [*folders, *files]:
            path = os.path.normpath(os.path.join(real, os.path.relpath(root, top), name))
            there = cast(dict[str, Any], snapshot(path))
            is_replaced = there["type"] == "dir" and name in files
            facts.append({**there, "removed": True} if is_replaced else there)
        if len(facts) > MOST_RESTORED:
            return None
    return {"several": facts}


@alters(before=_before_members, path=1, waits=True)
def place(
    unpacked: Unpacked,
    target: str,
    user: int = -1,
    group: int = -1,
    folders: Collection[str] | None = None,
) -> bool:
    """Move what was unpacked to the target; folders that are there are merged, everything else is
    replaced. False: that waits for the engine, as nothing is there.

    user, group: of the target and the folders above it that are new. folders: those that the
    archive itself has (default: all): only they give their mode, times and owner to folders that
    are there.
    """
    is_placed = True
    try:
        make_folders(target, owner=(user, group))
        with (
            unpacked.members() as members,
            members.entered() as inner,
            place_of(target, follow=True) as where,
            where.entered() as outer,
        ):
            is_placed = not _becomes_later(unpacked, inner, outer)
            if is_placed:
                if collects_files():
                    write_at_once()
                    unpacked.make_durable()
                _merge(inner, outer, "", folders, where.path)
        return is_placed
    finally:
        if is_placed:
            unpacked.remove()


def _becomes_later(unpacked: Unpacked, inner: Folder, outer: Folder) -> bool:
    """Return whether the engine gives all that is in a folder, one new folder, its name later."""
    names = inner.names() if collects_files() else ()
    if len(names) != 1:
        return False
    source = inner.place(names[0])

    def put_away() -> None:
        source.close()
        unpacked.remove()

    with source.pinned() as held, outer.place(names[0]) as new:
        may_move = held.is_dir and held.mode() & 0o700 == 0o700
        if may_move and source.folder_becomes_later(new, put_away):
            return True
    source.close()
    return False


@alters(before=lambda unpacked: {"path": str(unpacked), "type": "none"})
def discard(unpacked: Unpacked) -> None:
    """Remove what was unpacked."""
    unpacked.remove()


def _with_program(file: IO[bytes], inner: str, strip: int, options: Sequence[str]) -> None:
    done = cmd.execute(
        ["tar", "-x", f"--strip-components={strip}", *options, "-f", name_of(file), "-C", inner]
    )
    if done.retcode:
        raise StateFailed(f"tar failed: {done.error_text}", changes={})


def _with_tarfile(file: IO[bytes], inner: str, strip: int) -> None:
    # the names were refused before; while files are written there is no link to write through
    trusted: dict[str, Any] = {"filter": "fully_trusted"} if hasattr(tarfile, "data_filter") else {}
    folders, links, followed = [], [], LinksInside()
    number = cache(_number)
    with tarfile.open(fileobj=file) as archive:
        for info in archive:
            info.uid, info.uname = number("pwd", info.uname, info.uid), ""
            info.gid, info.gname = number("grp", info.gname, info.gid), ""
            info.name = followed.place(stripped(info.name, strip))
            if not info.name:
                continue
            if info.islnk():
                info.linkname = followed.place(stripped(info.linkname, strip))
            if info.isdir():
                folders.append((info.name, info.mode, info.mtime))
                info.mode = 0o700
            if info.issym():
                followed.add(info.name, info.linkname)
                links.append(info)
                continue
            archive.extract(info, inner, **trusted)
        for info in links:
            archive.extract(info, inner, **trusted)
    for name, mode, mtime in reversed(folders):
        os.chmod(os.path.join(inner, name), mode)
        os.utime(os.path.join(inner, name), (mtime, mtime))


def _number(database: str, name: str, number: int) -> int:
    """The number of a user or group on this machine; its own where nobody is called so."""
    try:
        if not name:
            return number
        if database == "pwd":
            return pwd.getpwnam(name).pw_uid  # os: as the tar program does
        return grp.getgrnam(name).gr_gid  # os: as the tar program does
    except KeyError:
        return number


def _with_zipfile(
    file: IO[bytes],
    inner: str,
    strip: int,
    password: str | None,
    permissions: bool,
    without: Collection[str],
) -> None:
    secret = password.encode() if password else None
    modes, links, followed = [], {}, LinksInside()
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            name = followed.place(stripped(info.filename, strip))
            mode = bits.S_IMODE(info.external_attr >> 16)
            if not name or info.filename in without:
                continue
            path = os.path.join(inner, name)
            if bits.S_ISLNK(info.external_attr >> 16):
                links[path] = archive.read(info, secret).decode()
                followed.add(name, links[path])
                continue
            _zip_member(archive, info, path, secret)
            if permissions and mode:
                modes.append((path, mode & 0o777))
    for path, target in links.items():  # after all files: none is written through a link
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
    for path, mode in modes:  # last, as folders may be read-only then
        os.chmod(path, mode)


def _zip_member(archive: Any, info: Any, path: str, secret: bytes | None) -> None:
    if info.is_dir():
        os.makedirs(path, exist_ok=True)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with archive.open(info, pwd=secret) as data, open(path, "wb") as file:
        shutil.copyfileobj(data, file)


def _refuse_unsafe(source: str, inner: str) -> None:
    """Look once more, at what was really unpacked. Nobody else can reach it yet."""
    for root, folders, files in os.walk(inner):  # os: where it was unpacked to
        for name in [*folders, *files]:
            path = os.path.join(root, name)
            at, fault = os.lstat(path), None  # os: where it was unpacked to
            if bits.S_ISREG(at.st_mode):
                fault = "has a set-user-ID or set-group-ID bit" if at.st_mode & 0o6000 else None
            elif not (bits.S_ISDIR(at.st_mode) or bits.S_ISLNK(at.st_mode)):
                fault = "is a device, pipe or socket"
            refuse(source, os.path.relpath(path, inner), fault)


def _own(folder: str, user: int, group: int) -> None:
    if (user, group) != (-1, -1):
        for root, folders, files in os.walk(folder):  # os: where it was unpacked to
            for name in [*folders, *files]:
                os.chown(os.path.join(root, name), user, group, follow_symlinks=False)


def _merge(
    inner: Folder, outer: Folder, below: str, known: Collection[str] | None, top: str
) -> None:
    """Move what is in a folder to another one. top: what no link may lead out of."""
    for name in sorted(inner.names()):
        path = os.path.join(below, name)
        with inner.place(name) as source, outer.place(name) as target, source.pinned() as held:
            merges = held.is_dir and target.seen() is not None
            mode = held.mode()
            closed = held.is_dir and mode & 0o700 != 0o700
            if closed:  # to move or to empty a folder takes the right to write to it
                held.chmod(mode | 0o700)
            if not merges and _renamed(source, target):
                if closed:
                    held.chmod(mode)
                continue
            adopts = known is None or path in known
            if not merges:
                target.mkdir()
                adopts = True
            with (
                source.entered() as new,
                place_of(target.path, follow=True) as opened,
                opened.entered() as old,
            ):
                if not lies_in(opened.path, top):
                    raise StateFailed(
                        f"{target.path} is a link out of {top}, to {opened.path}: nothing is"
                        " extracted through it (remove it, or extract to where it leads)"
                    )
                _merge(new, old, path, known, top)
                if adopts:  # last, as it may be read-only then
                    preserve_from(held, old.pin)


def _renamed(source: Place, target: Place) -> bool:
    """Return whether something is in its place now; a folder cannot move to another file system
    below the target.
    """
    try:
        source.rename_to(target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        if source.is_dir():
            return False
        with target.beside() as beside:
            copy_place(source, beside, Owner(), preserve=True)
            beside.rename_to(target)
    return True
