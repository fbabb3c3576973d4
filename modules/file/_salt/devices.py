# SPDX-License-Identifier: Apache-2.0
"""Device files and named pipes, under Salt's names."""

from __future__ import annotations

import os
from typing import Any

from modules import _paths
from modules.file._salt.arguments import path_given
from modules.file._salt.changes import salt_mknod


def get_devmm(name: str) -> tuple[int, int]:
    """The numbers of a device, major and minor; zeros for what is none."""
    try:
        device = _paths.stat(path_given(name)).st_rdev
    except OSError:
        return (0, 0)
    return (os.major(device), os.minor(device))


def mknod_fifo(
    name: str, user: str | None = None, group: str | None = None, mode: Any = "0660"
) -> dict[str, Any]:
    """Create a named pipe; Salt's dictionary of what changed."""
    return _special(name, "p", 0, 0, user, group, mode, f"Fifo pipe {name} created.")


def mknod_chrdev(
    name: str,
    major: int,
    minor: int,
    user: str | None = None,
    group: str | None = None,
    mode: Any = "0660",
) -> dict[str, Any]:
    """Create a character device; Salt's dictionary of what changed."""
    created = f"Character device {name} created."
    return _special(name, "c", major, minor, user, group, mode, created)


def mknod_blkdev(
    name: str,
    major: int,
    minor: int,
    user: str | None = None,
    group: str | None = None,
    mode: Any = "0660",
) -> dict[str, Any]:
    """Create a block device; Salt's dictionary of what changed."""
    return _special(name, "b", major, minor, user, group, mode, f"Block device {name} created.")


def _special(name: str, kind: str, major: int, minor: int, *owner_and_text: Any) -> dict[str, Any]:
    *owner, created = owner_and_text
    salt_mknod(name, kind, major, minor, *owner)
    return {"name": name, "changes": {"new": created}, "comment": "", "result": True}
