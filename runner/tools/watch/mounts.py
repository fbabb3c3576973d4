# SPDX-License-Identifier: Apache-2.0
"""The table of mounts of this process: its lines, and where what they tell of lies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

_PIECE = 1 << 16


def lines(descriptor: int) -> frozenset[bytes]:
    """The lines of an open mountinfo file; from then on poll(2) tells of other ones."""
    text = b""
    while piece := os.pread(descriptor, _PIECE, len(text)):
        text += piece
    return frozenset(text.split(b"\n")) - {b""}


def points(of_lines: Iterable[bytes]) -> list[str]:
    """The folders, or files, that are mounted on.

    >>> points([b"23 1 8:1 / /my\\\\040data ro shared:1 - ext4 /dev/sda1 rw"])
    ['/my data']
    """
    fields = (line.split(b" ")[4] for line in of_lines)
    return [os.fsdecode(re.sub(rb"\\(\d{3})", _character, field)) for field in fields]


def _character(escaped: re.Match[bytes]) -> bytes:
    return bytes([int(escaped[1], 8)])
