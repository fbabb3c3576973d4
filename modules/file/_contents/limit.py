# SPDX-License-Identifier: Apache-2.0
"""The limit of what is held of a file in memory."""

from __future__ import annotations

import os
from typing import IO

from runner.api import StateFailed, here

# MiB of a file that is read whole: to edit it, to search it (`edit_size_limit` of the
# configuration)
EDITED = 128
PIECE = 256 * 1024
PAGE = 4096


def refuse_large(file: IO[bytes], path: str) -> None:
    """Raise StateFailed for a file that is too large to be read whole."""
    limit = limit_of_edits()
    if limit and os.fstat(file.fileno()).st_size > limit:
        raise _too_large(path, limit)


def limit_of_edits() -> int:
    """The bytes of a file that is read whole, 0 for no limit."""
    configured = here.opts.get("edit_size_limit")
    return (EDITED if configured is None else int(configured)) * 1048576


def read_limited(file: IO[bytes], path: str) -> bytes:
    """The rest of an open file. Raises StateFailed for one that is too large."""
    limit, size = limit_of_edits(), os.fstat(file.fileno()).st_size
    if limit and size > limit:
        raise _too_large(path, limit)
    # files of /proc have no size, and those of /proc/sys give nothing to a second read; others may
    # grow
    data = file.read(max(size + 1, PAGE))
    while more := file.read(PIECE):
        data += more
        if limit and len(data) > limit:
            raise _too_large(path, limit)
    return data


def _too_large(path: str, limit: int) -> StateFailed:
    return StateFailed(
        f"cannot read {path}: it is larger than {limit // 1048576} MiB;"
        " `edit_size_limit` (MiB) in the configuration allows more"
    )
