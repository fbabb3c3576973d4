# SPDX-License-Identifier: Apache-2.0
"""Putting a path back as it was: what undo does."""

from __future__ import annotations

import stat as bits
from collections.abc import Iterator, Mapping
from contextlib import suppress

from modules.file._change import alters, put_link
from modules.file._contents.copy import move_place
from modules.file._contents.write import Owner, replace
from modules.file._paths.place import Pinned, Place, place
from modules.file._snapshot import snapshot, snapshot_of_move
from runner.api import StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from modules.file._contents.write import Finish

# extended attributes that the system gives a file by itself
OWN = ("trusted.", "security.ima", "security.evm", "security.selinux")


def _before(
    path: str,
    kind: str,
    mode: int = 0,
    uid: int = 0,
    gid: int = 0,
    target: str = "",
    *_: object,
    **__: object,
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
    attributes: Mapping[str, bytes] | None = None,
    alone: bool = False,
) -> None:
    """Make a path what it was. kind: none, file, dir, link, other (a device, a pipe or a socket
    that is there gets its mode and its owner), or moved (what was moved to `target` comes back).
    attributes: all extended attributes; None for as they are. alone: a file that is
    there is not to be one of several names. Raises StateFailed, at the end, for attributes that
    cannot be set.
    """
    if kind == "moved":
        with place(target) as moved, place(path) as where:
            move_place(moved, where)
        return
    lost: list[str] = []

    def dress(pin: Pinned) -> None:
        if attributes is not None:
            lost.extend(_set_attributes(pin, attributes))
            pin.chmod(mode)

    with place(path) as where:
        _clear(where, kind)
        # the file itself stays, with its other names
        if kind == "file" and not alone and _holds(where, data):
            with where.pinned() as pin:
                pin.chown(uid, gid)
                pin.chmod(mode)
                dress(pin)
        elif kind == "file":
            replace(where, data, Owner(mode, uid, gid), finish=dress)
        elif kind == "dir":
            _folder(where, mode, uid, gid, dress)
        elif kind == "link":
            put_link(where, target, (uid, gid))
        elif kind == "other":
            _special(where, mode, uid, gid)
        where.sync()
    if lost:
        raise StateFailed(f"it is restored without its extended attributes: {', '.join(lost)}")


def _holds(where: Place, data: bytes) -> bool:
    """Return whether a regular file with these contents is there."""
    at = where.seen()
    if at is None or not bits.S_ISREG(at.st_mode) or at.st_size != len(data):
        return False
    try:
        with open(where.open_file(), "rb") as file:  # os: its place opens it
            return file.read() == data
    except PermissionError:  # it is its owner's all the same, who may replace it
        return False


def _set_attributes(pin: Pinned, wanted: Mapping[str, bytes]) -> Iterator[str]:
    """Give what is held these extended attributes and no others; those that cannot be set are
    yielded, with the reason.
    """
    present = pin.attributes()
    for name in present.keys() - wanted.keys():
        if not name.startswith(OWN):
            with suppress(OSError):
                pin.remove_attribute(name)
    for name, value in wanted.items():
        try:
            if present.get(name) != value:
                pin.set_attribute(name, value)
        except OSError as problem:
            yield f"{name} ({problem.strerror})"


def _folder(where: Place, mode: int, uid: int, gid: int, dress: Finish) -> None:
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
        dress(pin)


def _special(where: Place, mode: int, uid: int, gid: int) -> None:
    with where.pinned() as pin:
        if bits.S_IFMT(pin.at.st_mode) in (bits.S_IFREG, bits.S_IFDIR, bits.S_IFLNK):
            raise StateFailed(f"{where.path} is no longer a device, a pipe or a socket")
        pin.chown(uid, gid)
        pin.chmod(mode)


def _clear(where: Place, kind: str) -> None:
    """Remove what is in the way; a folder only when it is empty."""
    at = where.seen()
    if at is None:
        return
    is_folder = bits.S_ISDIR(at.st_mode)
    if is_folder and kind not in ("dir", "other"):
        try:
            where.rmdir()
        except OSError as problem:
            raise StateFailed(
                f"the folder {where.path} is not removed: {problem.strerror}"
            ) from problem
    elif not is_folder and kind in ("none", "dir"):
        where.unlink()
