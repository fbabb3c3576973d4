# SPDX-License-Identifier: Apache-2.0
"""Files of other users that are verified first and used later."""

from __future__ import annotations

import os
import shutil

from modules import _paths
from modules.file._look import opened_to_read
from modules.file._paths.walk import others_replace, others_write
from runner.api import fetcher, here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO


@fetcher
def unchangeable(path: str, *endings: str) -> str:
    """A path of the same contents that nobody else can change: the file itself, or a private copy
    that goes again.

    endings: of files that belong to it and may lie beside it, as PATH.pub: they go with a copy.
    """
    with opened_to_read(path) as file:
        if not others_write(_paths.stat_of(file)) and not others_replace(path):
            return path
        copy = os.path.join(here.scratch(), os.path.basename(path))
        _copy(file, copy)
    for ending in endings:
        if _paths.isfile(path + ending):
            with opened_to_read(path + ending) as file:
                _copy(file, copy + ending)
    return copy


def _copy(file: IO[bytes], path: str) -> None:
    with open(path, "xb", opener=_private) as target:
        shutil.copyfileobj(file, target)
        os.fchmod(target.fileno(), _paths.stat_of(file).st_mode & 0o777)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)  # os: to write it
