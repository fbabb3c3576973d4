# SPDX-License-Identifier: Apache-2.0
"""A folder in which others may write too, such as one that a file server or a web server exports.

Whatever lies in it, only files that are made here are written: each under a name of its own, which
it gives up for the wanted one when it is whole. They are readable by the group of the folder.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from runner.support.files.links import without_links

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class SharedFolder:
    """The folder, open. Raises OSError, and LinkOfOthers where a link of others leads to it."""

    def __init__(self, path: str) -> None:
        self._folder = os.open(without_links(path), os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self._folder)

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file, whole. Raises OSError."""
        beside = f".{name}.{os.urandom(6).hex()}"
        descriptor = os.open(beside, _NEW, 0o640, dir_fd=self._folder)
        try:
            with open(descriptor, "wb") as file:
                with suppress(OSError):  # not of every group's members
                    os.fchown(descriptor, -1, os.fstat(self._folder).st_gid)
                os.fchmod(descriptor, 0o640)  # whatever the umask
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(beside, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=self._folder)
            raise
        os.fsync(self._folder)

    def beginning(self, name: str, most: int = 4096) -> bytes:
        """Return the first bytes of a file, none of what is no regular one. Raises OSError."""
        with open(os.open(name, _READ, dir_fd=self._folder), "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""

    def names(self) -> list[str]:
        """Return what is in it. Raises OSError."""
        return os.listdir(self._folder)

    def remove(self, name: str) -> None:
        """Remove a file, where it is there. Raises OSError."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._folder)
