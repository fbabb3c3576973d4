"""Putting a path back as it was: what undo does."""

from __future__ import annotations

import os
import stat as bits

from modules.file._change import alters, beside_name, sync_folder
from modules.file._was import was
from modules.file._write import Owner, replace_whole
from runner.api import StateFailed


@alters(before=was)
def put_back(
    path: str, kind: str, mode: int = 0, uid: int = 0, gid: int = 0, target: str = "", data: bytes = b""
) -> None:
    """Make a path what it was. kind: none, file, dir, link, or moved (what was moved to `target` comes back)."""
    if kind == "moved":
        os.rename(target, path)
        sync_folder(os.path.dirname(path))
        return
    _clear(path, kind)
    if kind == "file":
        replace_whole(path, lambda file: file.write(data), Owner(mode, uid, gid))
    elif kind == "dir":
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
        os.chown(path, uid, gid)
        os.chmod(path, mode)
    elif kind == "link":
        beside = beside_name(path)
        os.symlink(target, beside)
        os.chown(beside, uid, gid, follow_symlinks=False)
        os.rename(beside, path)
    sync_folder(os.path.dirname(path))


def _clear(path: str, kind: str) -> None:
    """Remove what is in the way; a folder only when it is empty."""
    try:
        is_folder = bits.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    if is_folder and kind != "dir":
        try:
            os.rmdir(path)
        except OSError as problem:
            raise StateFailed(f"the folder {path} is not removed: {problem.strerror}") from problem
    elif not is_folder and kind in ("none", "dir"):
        os.unlink(path)
