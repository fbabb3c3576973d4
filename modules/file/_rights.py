# SPDX-License-Identifier: Apache-2.0
"""The caller's right to change a path: the kernel's answer, asked without changing anything. What
takes it away: mounts, and the attributes of chattr(1).
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat as bits
import sys
from functools import cache

from modules import _paths
from modules.file._owners import gid_of, uid_of, uid_to_user
from modules.file._paths.walk import real_path
from runner.api import StateFailed, for_states

CHOWN, FOWNER = 0, 3  # capabilities(7)
LOCKS = {"i": "immutable", "a": "append-only"}


# undo calls these by their names: they are execution functions
def refuse_put(path: str, unlocks: bool = False, direct: bool = False) -> None:
    """Raise StateFailed where nothing can be put at, or taken from, a path. unlocks: what is there
    will be neither immutable nor append-only by then. direct: what is new is made under its own
    name, which an append-only folder takes.
    """
    folder = _nearest(os.path.dirname(path.rstrip("/")) or "/")
    if not _paths.isdir(folder) or not _paths.source(folder):
        return
    _refuse_read_only(path, folder)
    lock = _lock(folder, "i" if direct and _lstat(path) is None else "ia")
    if lock or not _paths.access(folder, os.W_OK | os.X_OK):
        cause = f"it {lock}" if lock else f"{_caller_name()} may not write there"
        _refuse(path, f"in {folder} nothing can be changed: {cause}", folder)
    at, above = _lstat(path), _paths.stat(folder)
    if at is not None and not unlocks and (lock := _lock(path)):
        _refuse(path, f"it {lock}", path, roots=True)
    mine = at is None or os.geteuid() in (at.st_uid, above.st_uid)
    if above.st_mode & bits.S_ISVTX and not mine and not has_capability(FOWNER):
        _refuse(
            path,
            f"it belongs to {uid_to_user(at.st_uid if at else 0)}, and {folder} is sticky",
            folder,
        )


@for_states
def refuse_removal(path: str) -> None:
    """Raise StateFailed where a path cannot be removed, or something that it holds."""
    refuse_put(path)
    if _paths.source(path) != path or _paths.islink(path):
        return
    for root, folders, files in _paths.walk(path):
        for inner in (os.path.join(root, name) for name in (*folders, *files)):
            if lock := _lock(inner):
                _refuse(inner, f"it {lock}", inner)


@for_states
def refuse_rewrite(path: str, unlocks: bool = False) -> None:
    """Raise StateFailed where the contents of a file cannot be replaced: the new one gets the old
    one's owner. unlocks: as of refuse_put.
    """
    refuse_put(path, unlocks)
    at = _lstat(path)
    if at is not None and not (bits.S_ISREG(at.st_mode) or bits.S_ISLNK(at.st_mode)):
        kind = "a folder" if bits.S_ISDIR(at.st_mode) else "a device, pipe or socket"
        raise StateFailed(f"{path} is {kind}; it is not replaced by a file", missing=("file", path))
    if at is not None and bits.S_ISREG(at.st_mode) and _paths.source(path):
        _refuse_read_only(path, path)  # of a file that is a mount point of its own
    if (
        at is not None
        and not has_capability(CHOWN)
        and (at.st_uid != os.geteuid() or not _is_member(at.st_gid))
    ):
        _refuse(
            path,
            f"it belongs to {uid_to_user(at.st_uid)}, and only root can write it anew",
            os.path.dirname(path),
        )


def refuse_chmod(path: str, unlocks: bool = False) -> None:
    """Raise StateFailed where the mode of a path cannot be changed. unlocks: as of refuse_put."""
    at = _lstat(path)
    if at is None or not _paths.source(path):
        return
    if not _paths.islink(path):
        _refuse_read_only(path, path)
    if not unlocks and (lock := _lock(path)):
        _refuse(path, f"it {lock}", path, roots=True)
    if at.st_uid != os.geteuid() and not has_capability(FOWNER):
        _refuse(
            path, f"it belongs to {uid_to_user(at.st_uid)}, and {_caller_name()} is not root", path
        )


@for_states
def refuse_touch(path: str) -> None:
    """Raise StateFailed where the times of a path cannot be set."""
    if _lock(path) or not _paths.access(path, os.W_OK):
        refuse_chmod(path)


def refuse_owner(path: str, user: str | int | None, group: str | int | None) -> None:
    """Raise StateFailed where a path cannot be given to a user or a group that there is."""
    if has_capability(CHOWN):
        return
    uid = None if user in (None, "") else uid_of(user)
    gid = None if group in (None, "") else gid_of(group)
    if uid not in (None, os.geteuid()):
        _refuse(path, f"only root may give it to {user}", path, roots=True)
    if gid is not None and not _is_member(gid):
        _refuse(path, f"only root may give it to the group {group}", path, roots=True)


def _refuse_read_only(path: str, folder: str) -> None:
    there = _paths.source(folder) or folder
    if os.statvfs(there).f_flag & os.ST_RDONLY:  # os: what it is taken from
        why = f"{folder} is on a read-only file system (mount it writable first)"
        _refuse(path, why, folder, roots=True)


def _refuse(path: str, why: str, obstacle: str, roots: bool = False) -> None:
    """Refuse a change. A pending state may yet change the folder that is in the way, or one above
    it; but not for a caller who can do nothing about any of them. roots: only root can, anywhere.
    """
    above = [obstacle]
    while above[-1] not in ("/", ""):
        above.append(os.path.dirname(above[-1]))
    missing: list[tuple[str, str]] = [("file", path_above) for path_above in above]
    if os.geteuid() and (roots or not any(map(_may_alter, above))):
        missing = [("right", path)]
    raise StateFailed(f"{path} cannot be changed: {why}", missing=missing)


def _may_alter(path: str) -> bool:
    """Return whether the caller, who is not root, can change the mode of something, or what lies in
    a folder.
    """
    at = _lstat(path)
    if at is None:
        return True
    free = bits.S_ISDIR(at.st_mode) and not at.st_mode & bits.S_ISVTX
    return at.st_uid == os.geteuid() or (free and _paths.access(path, os.W_OK | os.X_OK))


def _nearest(path: str) -> str:
    while not _paths.exists(path):
        path = os.path.dirname(path) or "/"
    return real_path(path)  # through no link that the change will not follow


def _lstat(path: str) -> os.stat_result | None:
    try:
        return _paths.lstat(path)
    except OSError:
        return None


def locked(path: str) -> str:
    """Why nobody, not even root, may change a path, and what lets them; empty without a reason."""
    for there in (path, os.path.dirname(path)):
        if why := _lock(there):
            return f"{there} {why}"
    return ""


def _lock(path: str, letters: str = "ia") -> str:
    """Why not even root may change a file or a folder: chattr +i or +a; empty without a reason."""
    at = _lstat(path)
    if at is None or not (bits.S_ISREG(at.st_mode) or bits.S_ISDIR(at.st_mode)):
        return ""
    try:
        how = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(_paths.source(path) or path, how)  # os: what it is taken from
    except OSError:
        return ""
    try:
        return lock_of(handle, path, letters)
    finally:
        os.close(handle)


def lock_of(handle: int, path: str, letters: str) -> str:
    """Why an open file or folder may not be changed; empty without a reason."""
    try:
        present = flags(handle)
    except OSError:  # a file system without such flags
        return ""
    for letter in letters:
        if present & LETTERS[letter]:
            return f"is {LOCKS[letter]} (root can: chattr -{letter} {path})"
    return ""


def _caller_name() -> str:
    return str(uid_to_user(os.geteuid()) or os.geteuid())


def _is_member(gid: int) -> bool:
    return gid == os.getegid() or gid in os.getgroups()


@cache
def has_capability(capability: int) -> bool:
    """Return whether this process has a capability; without /proc only root has all."""
    held = re.search(r"^CapEff:\s*(\w+)", _paths.of_kernel("/proc/self/status"), re.MULTILINE)
    return bool(int(held[1], 16) >> capability & 1) if held else os.geteuid() == 0


@for_states
def refuse_mounted(action: str, *paths: str, below: bool = False) -> None:
    """Raise StateFailed for paths that something is mounted on, before anything in them is changed.

    action: the change that cannot be made, as a verb. below: something in them counts, too.
    """
    mounted = _paths.mount_points() if paths else []
    for path in paths:
        if _paths.islink(path):
            continue
        real = _paths.realpath(path)  # where its text is planned, it stays a mount point
        if (origin := _paths.source(path)) is not None:
            real = os.path.realpath(origin)  # os: what it is taken from
        points = [
            point
            for point in mounted
            if point == real or (below and point.startswith(f"{real.rstrip('/')}/"))
        ]
        if points:
            busy = f"{os.strerror(errno.EBUSY)} ({points[0]} is a mount point)"
            raise StateFailed(
                f"{action} of {path} failed: {busy}",
                missing=[(kind, point) for point in points for kind in ("no mount", "check")],
            )


# ---------------------------------------------------------------- attributes

# of ioctl_iflags(2), by descriptor
LONG = (sys.maxsize.bit_length() + 1) // 8  # bytes of C's long
GET, SET = (number | LONG << 16 for number in (0x80006601, 0x40006602))
LETTERS = {
    "s": 0x1,
    "u": 0x2,
    "c": 0x4,
    "S": 0x8,
    "i": 0x10,
    "a": 0x20,
    "d": 0x40,
    "A": 0x80,
    "m": 0x400,
    "j": 0x4000,
    "t": 0x8000,
    "D": 0x10000,
    "T": 0x20000,
    "e": 0x80000,
    "C": 0x800000,
    "x": 0x2000000,
    "P": 0x20000000,
    "F": 0x40000000,
}


def flags(handle: int) -> int:
    """The attributes of an open file as a number. Raises OSError where the file system has none."""
    return int.from_bytes(fcntl.ioctl(handle, GET, bytes(8))[:4], sys.byteorder)


def change_attributes(handle: int, text: str) -> None:
    """Change the attributes of an open file: "+ia", "-i", "=a". Raises StateFailed for an unknown
    attribute.
    """
    sign, letters = text[:1], text[1:]
    if sign not in ("+", "-", "="):
        raise _no_attribute(text)
    refuse_attributes(letters)
    present, wanted = flags(handle), sum({LETTERS[letter] for letter in letters})
    new = present | wanted if sign == "+" else present & ~wanted
    if sign == "=":
        new = present & ~sum(LETTERS[letter] for letter in LETTERS if letter != "e") | wanted
    fcntl.ioctl(handle, SET, new.to_bytes(4, sys.byteorder) + bytes(4))


@for_states
def refuse_attributes(letters: str) -> None:
    """Raise StateFailed for letters that are no attributes."""
    unknown = "".join(letter for letter in letters if letter not in LETTERS)
    if unknown:
        raise _no_attribute(unknown)


def _no_attribute(text: str) -> StateFailed:
    return StateFailed(
        f"there is no attribute {text!r}: expected +, - or = and letters as of chattr"
    )
