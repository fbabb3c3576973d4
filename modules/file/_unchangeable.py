# SPDX-License-Identifier: Apache-2.0
"""Files of other users that are verified first and used later."""

from __future__ import annotations

import os
import shutil

from modules import _paths
from modules.file._look import opened_to_read
from modules.file._paths.walk import others_replace, others_write
from runner.api import fetcher, here


@fetcher
def unchangeable(path: str) -> str:
    """A path of the same contents that nobody else can change: the file itself, or a private copy
    that goes again.
    """
    with opened_to_read(path) as file:
        at = _paths.stat_of(file)
        if not others_write(at) and not others_replace(path):
            return path
        copy = os.path.join(here.scratch(), os.path.basename(path))
        with open(copy, "xb", opener=_private) as target:
            shutil.copyfileobj(file, target)
            os.fchmod(target.fileno(), at.st_mode & 0o777)
    return copy


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)  # os: to write it
