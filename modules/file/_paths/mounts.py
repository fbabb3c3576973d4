# SPDX-License-Identifier: Apache-2.0
"""Mount points, as the kernel's reasons not to remove, move or link what is there."""

from __future__ import annotations

import errno
import os
import re

from modules import _paths
from runner.api import StateFailed, lies_in


def refuse_mounted(action: str, path: str, below: bool = False) -> None:
    """Raise StateFailed for a path that something is mounted on, before anything in it is changed.

    action: the change that cannot be made, as a verb. below: something in it counts, too.
    """
    origin = _paths.source(path)
    if origin is None or _paths.islink(path):
        return
    real = os.path.realpath(origin)  # os: what it is taken from
    points = [
        point
        for point in mount_points()
        if point == real or (below and point.startswith(f"{real.rstrip('/')}/"))
    ]
    if points:
        raise StateFailed(
            f"{action} of {path} failed: {os.strerror(errno.EBUSY)} ({points[0]} is a mount point)",
            missing=[(kind, point) for point in points for kind in ("no mount", "check")],
        )


def mount_of(path: str) -> str:
    """The mount point that a path is below."""
    real = _paths.realpath(path)
    above = (point for point in mount_points() if lies_in(real, point))
    return max(above, key=len, default="/")


def mount_points() -> list[str]:
    """Where something is mounted, in the order of the mounts; nothing without /proc."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            points = [line.split(b" ", 5)[4].decode("utf-8", "surrogateescape") for line in file]
    except OSError:
        return []
    return [unescaped(point) for point in points]


def unescaped(text: str) -> str:
    """A field of mountinfo or fstab, in which a backslash and three octal digits are a sign."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
