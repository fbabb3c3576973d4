# SPDX-License-Identifier: Apache-2.0
"""A private folder beside a target, in which something is made whole before it is moved there."""

from __future__ import annotations

import os
import stat as bits

from modules import _paths
from modules.file._paths.closed_folders import open_folders
from modules.file._paths.place import Folder, Place
from runner.api import StateFailed

# so that what is made there, and says something of its own top folder, does not open the private
# one
INSIDE = "members"


class PrivateFolder:
    """A folder that nobody else can enter, held open, with an empty one inside of it."""

    def __init__(self, where: Place, inside: str = INSIDE) -> None:
        """inside: the name of the inner folder, which is what is filled: whoever swaps the private
        one can make the path of the inner one lead only to what has this name.
        """
        self._where, self._inside = where, inside
        where.mkdir(0o700)
        self._private = Folder(where, where.open(os.O_RDONLY | os.O_DIRECTORY))
        self._private.pin.refuse_foreign(bits.S_IFDIR)
        os.mkdir(inside, dir_fd=self._private.handle)

    def __str__(self) -> str:
        return self._where.path

    @property
    def path(self) -> str:
        """The folder of the members, under a name that nobody can turn into another folder's.
        Raises StateFailed without /proc.
        """
        own = f"/proc/{os.getpid()}/fd/{self._private.handle}"
        is_there = os.path.isdir(own)  # os: this process has it open
        if not is_there and self._where.shared():
            raise StateFailed(f"{self._where.path} cannot be filled safely without /proc")
        return os.path.join(own if is_there else self._where.path, self._inside)

    def members(self) -> Place:
        return self._private.place(self._inside)

    def remove(self) -> None:
        """Remove what has not been moved to its place."""
        try:
            open_folders(".", self._private.handle)
            self._private.clear()
            self._where.rmdir()
        except OSError:  # the next run removes what is left
            pass
        finally:
            os.close(self._private.handle)
            os.close(self._where.folder)


def folder_beside(target: str) -> str:
    """The folder that holds the target, or will; a mount point itself, as renaming works within one
    file system.
    """
    folder = os.path.dirname(target)
    while folder and not _paths.isdir(folder):
        folder = os.path.dirname(folder)
    mounted = _paths.isdir(target) and _paths.stat(target).st_dev != _paths.stat(folder).st_dev
    return target if mounted else folder
