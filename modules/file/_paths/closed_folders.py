# SPDX-License-Identifier: Apache-2.0
"""Removing scratch folders whose contents say their modes, as those of an archive do."""

from __future__ import annotations

import os
import shutil
import stat as bits
from contextlib import suppress


def open_folders(top: str, dir_fd: int | None = None) -> None:
    """Let the caller empty the folders below one that nobody else can enter, whatever modes they
    came with.
    """
    for _, folders, _, handle in os.fwalk(top, dir_fd=dir_fd):  # os: a private folder
        for name in folders:
            mode = os.lstat(name, dir_fd=handle).st_mode  # os: a private folder
            if bits.S_ISDIR(mode) and mode & 0o700 != 0o700:
                os.chmod(name, 0o700, dir_fd=handle)


def remove_scratch(folder: str) -> None:
    """Remove such a folder as far as it goes."""
    with suppress(OSError):
        open_folders(folder)
    shutil.rmtree(folder, ignore_errors=True)
