# SPDX-License-Identifier: Apache-2.0
"""Scratch folders below the cache folder: private, and of one process, which a lock on each tells.
What a killed process left is nobody's, and removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from runner.support.files.folder_syncs import device_and_inode
from runner.support.files.group_commit import OWN_FOLDERS
from runner.support.files.trusted_folder import SCRATCH


class Scratch:
    """A scratch folder that is held until it is removed."""

    def __init__(self, cache: str) -> None:
        while True:
            self.path = tempfile.mkdtemp(prefix=SCRATCH, dir=cache)
            with suppress(FileNotFoundError):  # swept before it was held
                self._handle = _held(self.path, 0)
                status = os.fstat(self._handle)
                if status.st_nlink:
                    self._at = device_and_inode(status)
                    OWN_FOLDERS.add(self._at)
                    return
                os.close(self._handle)

    def remove(self) -> None:
        """Remove the folder, as far as that can be done."""
        shutil.rmtree(self.path, ignore_errors=True)
        OWN_FOLDERS.discard(self._at)
        os.close(self._handle)


def sweep(paths: Iterable[str]) -> None:
    """Remove those of these scratch folders that no process holds."""
    for path in paths:
        with suppress(OSError):
            handle = _held(path, fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)


def _held(path: str, how: int) -> int:
    """A descriptor of a folder that is locked. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
    except OSError:
        os.close(handle)
        raise
    return handle
