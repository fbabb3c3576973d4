# SPDX-License-Identifier: Apache-2.0
"""Where a path leads, on the machine or the planned one, and who can make it lead elsewhere."""

from __future__ import annotations

# os in this file: walks by descriptors
import os
import stat as bits

from modules import _paths
from modules._planned.overlay import overlay
from modules.file._paths.walk import Walk
from runner.api import others_write as others_write


def real_path(path: str) -> str:
    """The path without symbolic links; it need not exist. Raises StateFailed for a link that is not
    to be followed.
    """
    if not path.startswith("/"):
        path = os.path.join(os.getcwd(), path)
    if (planned := overlay()) is not None:
        return planned.real_path(path)
    walk = Walk(path)
    try:
        target = walk.to_end(follow=True)
    except FileNotFoundError:
        return walk.rest()
    except OSError:  # a file where a folder should be, a loop, a folder that is not ours to enter
        return os.path.realpath(path)
    os.close(target.folder)
    return target.path


def others_replace(path: str) -> bool:
    """Return whether somebody but root and the caller can put something else in the place of a
    path, or of a folder above.
    """
    path = real_path(path)
    trusted = (0, os.geteuid())
    while path != "/":
        at, path = _paths.lstat(path), os.path.dirname(path)
        above = _paths.stat(path)
        sticky = above.st_mode & bits.S_ISVTX and above.st_uid in trusted and at.st_uid in trusted
        if others_write(above) and not sticky:
            return True
    return False
