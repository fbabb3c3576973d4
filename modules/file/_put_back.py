# SPDX-License-Identifier: Apache-2.0
"""Putting a path back as it was: what undo does."""

from __future__ import annotations

import stat as bits

from modules.file._change import alters, put_link
from modules.file._copy import move_place
from modules.file._place import Place, place
from modules.file._snapshot import snapshot, snapshot_of_move
from modules.file._write import Owner, replace
from runner.api import StateFailed


def _before(
    path: str,
    kind: str,
    mode: int = 0,
    uid: int = 0,
    gid: int = 0,
    target: str = "",
    data: bytes = b"",
) -> object:
    return snapshot_of_move(target, path) if kind == "moved" else snapshot(path)


@alters(before=_before)
def put_back(
    path: str,
    kind: str,
    mode: int = 0,
    uid: int = 0,
    gid: int = 0,
    target: str = "",
    data: bytes = b"",
) -> None:
    """Make a path what it was. kind: none, file, dir, link, or moved (what was moved to `target`
    comes back).
    """
    if kind == "moved":
        with place(target) as moved, place(path) as where:
            move_place(moved, where)
        return
    with place(path) as where:
        _clear(where, kind)
        if kind == "file":
            replace(where, lambda file: file.write(data), Owner(mode, uid, gid))
        elif kind == "dir":
            _folder(where, mode, uid, gid)
        elif kind == "link":
            put_link(where, target, (uid, gid))
        where.sync()


def _folder(where: Place, mode: int, uid: int, gid: int) -> None:
    is_new = where.seen() is None
    if is_new:
        where.mkdir(0o700)
    with where.pinned() as pin:
        if is_new:
            pin.refuse_foreign(bits.S_IFDIR)
        if not pin.is_dir:
            raise StateFailed(f"{where.path} is no longer a directory; it is not changed")
        pin.chown(uid, gid)
        pin.chmod(mode)


def _clear(where: Place, kind: str) -> None:
    """Remove what is in the way; a folder only when it is empty."""
    at = where.seen()
    if at is None:
        return
    is_folder = bits.S_ISDIR(at.st_mode)
    if is_folder and kind != "dir":
        try:
            where.rmdir()
        except OSError as problem:
            raise StateFailed(
                f"the folder {where.path} is not removed: {problem.strerror}"
            ) from problem
    elif not is_folder and kind in ("none", "dir"):
        where.unlink()
