# SPDX-License-Identifier: Apache-2.0
"""The space that a file system has left."""

from __future__ import annotations

import os

RESERVE = 64 << 20  # bytes that what has no known size leaves free, a twentieth of small systems


def free(folder: str | int) -> int | None:
    """The bytes that the caller can still write below a folder; None where nobody counts them."""
    system = os.statvfs(folder)
    if not system.f_blocks:
        return None
    blocks = system.f_bavail if os.geteuid() else system.f_bfree
    return blocks * system.f_frsize


def free_but_reserve(folder: str | int) -> int | None:
    """The bytes that something without end may take of them."""
    system = os.statvfs(folder)
    if not system.f_blocks:
        return None
    left = system.f_bavail * system.f_frsize
    return left - min(RESERVE, system.f_blocks * system.f_frsize // 20)
