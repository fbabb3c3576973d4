# SPDX-License-Identifier: Apache-2.0
"""The space that a file system has left."""

from __future__ import annotations

import errno
import os

from runner.api import Fact, StateFailed
from runner.api.durability import types_of

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
