# SPDX-License-Identifier: Apache-2.0
"""Copies of contents that keep the holes of sparse files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import IO

PIECE = 256 * 1024  # bytes that are held at once


def copy_contents(source: IO[bytes], target: IO[bytes]) -> None:
    """Write the contents of an open file, from its beginning, into a new one."""
    at = os.fstat(source.fileno())
    if at.st_blocks * 512 >= at.st_size:  # those of /proc say 0
        _copy(source, target)
        return
    for start, end in _parts(source.fileno(), at.st_size):
        source.seek(start)
        target.seek(start)
        _copy(source, target, end - start)
    target.truncate(at.st_size)


def _parts(handle: int, size: int) -> Iterator[tuple[int, int]]:
    """Where there are data in a file."""
    end = 0
    while end < size:
        try:
            start = os.lseek(handle, end, os.SEEK_DATA)
        except OSError as problem:
            if problem.errno == errno.ENXIO:  # nothing but a hole
                return
            if problem.errno != errno.EINVAL:
                raise
            start, hole = end, size  # a system that does not know
        else:
            hole = os.lseek(handle, start, os.SEEK_HOLE)
        end = min(hole, size)
        if start < end:
            yield start, end


def _copy(source: IO[bytes], target: IO[bytes], size: int | None = None) -> None:
    left = size
    while piece := source.read(PIECE if left is None else min(PIECE, left)):
        target.write(piece)
        left = None if left is None else left - len(piece)
