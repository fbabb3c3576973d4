# SPDX-License-Identifier: Apache-2.0
"""What a file may take: of memory when it is read whole, of the space of a file system."""

from __future__ import annotations

import errno
import os

from runner.api import Fact, StateFailed, setting
from runner.api.durability import types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

# MiB of a file that is read whole: to edit it, to search it (`edit_size_limit` of the
# configuration)
EDITED = 128
TABLE = 32 << 20  # bytes of one that is read whole as lines with columns: they take 9 times that
VALUES = 8 << 20
PIECE = 256 * 1024
PAGE = 4096


class TooLarge(StateFailed):
    """A file that is too large to be read whole."""


def refuse_large(size: int, path: str) -> None:
    """Raise TooLarge for a file that is too large to be read whole."""
    limit = limit_of_edits()
    if limit and size > limit:
        raise _unreadable(path, size, limit)


def limit_of_edits() -> int:
    """The bytes of a file that is read whole, 0 for no limit."""
    return _limit(EDITED << 20)


def limit_of_tables() -> int:
    """The bytes of a file that is read whole as lines or values, which take several times its size;
    0 for no limit.
    """
    return _limit(TABLE)


def limit_of_values() -> int:
    """The bytes of a file that is read whole as values, which may take a hundred times its size
    (YAML), or to be rendered; 0 for no limit.
    """
    return _limit(VALUES)


def _limit(usual: int) -> int:
    configured = setting("edit_size_limit")
    return usual if configured is None else int(configured) << 20


def read_limited(file: IO[bytes], path: str, limit: int) -> bytes:
    """The rest of an open file. Raises TooLarge for one with more bytes than a limit; 0: none."""
    size = os.fstat(file.fileno()).st_size
    if limit and size > limit:
        raise _unreadable(path, size, limit)
    # files of /proc have no size, and those of /proc/sys give nothing to a second read; others may
    # grow
    data = file.read(max(size + 1, PAGE))
    while more := file.read(PIECE):
        data += more
        if limit and len(data) > limit:
            raise _unreadable(path, len(data), limit)
    return data


def _unreadable(path: str, size: int, limit: int) -> TooLarge:
    return TooLarge(f"cannot read {path}: it has {size / 1048576:.1f} MiB, {_at_most(limit)}")


def too_many_lines(path: str, limit: int) -> StateFailed:
    """The failure of an edit that asks for too many lines."""
    return StateFailed(f"cannot read the lines of {path} that are looked for: {_at_most(limit)}")


def _at_most(limit: int) -> str:
    return (
        f"at most {limit / 1048576:.4g} MiB are read; `edit_size_limit` (MiB) in the configuration"
        " allows more"
    )


RESERVE = 64 << 20  # bytes that what has no known size leaves free, a twentieth of small systems
# in which a file takes as much as it has; others may compress it
PLAIN = frozenset(("ext2", "ext3", "ext4", "xfs", "tmpfs", "vfat", "exfat", "overlay"))


def free(folder: str | int) -> int | None:
    """The bytes that the caller can still write below a folder; None where nobody counts them."""
    system = os.statvfs(folder)  # os: what is there, or held open
    if not system.f_blocks:
        return None
    blocks = system.f_bavail if os.geteuid() else system.f_bfree
    return blocks * system.f_frsize


def free_but_reserve(folder: str | int) -> int | None:
    """The bytes that something without end may take of them."""
    system = os.statvfs(folder)  # os: what is there, or held open
    if not system.f_blocks:
        return None
    left = system.f_bavail * system.f_frsize
    return left - min(RESERVE, system.f_blocks * system.f_frsize // 20)


def lacking(folder: str | int, size: int, taken: int = 0) -> int | None:
    """The bytes that are free below a folder where so many certainly do not fit; None where they
    may. taken: what will be written there before.
    """
    room = free(folder) if size > 0 else None
    if room is None or size <= room - taken:
        return None
    if not _is_plain(os.stat(folder).st_dev):  # os: what is there, or held open
        return None
    return max(room - taken, 0)


def too_large(path: str, size: int, room: int, missing: list[Fact] | None = None) -> StateFailed:
    """The failure of what does not fit. missing: what may make room."""
    why = os.strerror(errno.ENOSPC)
    return StateFailed(
        f"write of {path} failed: {why}: {size} bytes are needed, {room} are free (free some space;"
        " nothing was replaced)",
        missing=missing,
    )


def needed(at: os.stat_result) -> int:
    """The bytes that the contents of a file take where holes stay holes."""
    blocks = getattr(at, "st_blocks", None)  # none of a planned file
    return at.st_size if blocks is None else min(at.st_size, blocks * 512)


def _is_plain(device: int) -> bool:
    """Return whether the file system with a device number takes as much as is written to it."""
    types = types_of(device)
    return bool(types) and types <= PLAIN
