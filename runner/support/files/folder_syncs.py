# SPDX-License-Identifier: Apache-2.0
"""Folders whose names have changed and are not durable yet: in a run of states they are synced at
its commit points, once each, and otherwise at once.

The contents of a file are synced before it is renamed, whatever happens here: after a power loss a
file is the old one or the new one. What waits is which of the two its name leads to. The commit
points are before a program starts, before anything but files is changed, before code that is not
runner's own changes something, before a reaction changes something, before a pending reaction is
settled, and the end of the states.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress

from runner.model.chunk import Chunk
from runner.model.records import Record
from runner.model.stdlib import Lock
from runner.support.files import descriptors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 64  # folders that are held open; with one more they are synced
FEWEST = 16  # of a file system: fewer are synced one by one


class Unsynced(Record):
    """A folder whose names are not durable yet. who: whose state changed the last one."""

    descriptor: int
    path: str
    who: Chunk | None


class SyncFailure(Record):
    """A folder that could not be synced. problem: the system's words."""

    path: str
    who: Chunk | None
    problem: str


class FolderSyncs:
    """The folders that wait for the next commit point, of all threads of the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs = 0  # of states that are under way, one inside the other
        self._waiting: dict[tuple[int, int], Unsynced] = {}
        self._failures: list[SyncFailure] = []
        # syncs the file system of a device number, where a descriptor lies; False: one by one
        self.sync_many: Callable[[int, int], bool] = lambda device, descriptor: False

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Have folders wait for commit points until the end of this context, which is one, too."""
        self._runs += 1
        try:
            yield
        finally:
            self.commit()
            self._runs -= 1

    def changed(
        self,
        descriptor: int,
        path: str,
        who: Chunk | None = None,
        at: tuple[int, int] | None = None,
    ) -> None:
        """Make the names of a folder durable, now or at the next commit point. at: its device and
        inode, where they are known. Raises OSError.
        """
        if not self._runs:
            _sync(descriptor)
            return
        at = at or device_and_inode(os.fstat(descriptor))
        with self._lock:
            waits = self._waiting.get(at)
            if waits is None and len(self._waiting) >= MOST:
                self._commit()
            copy = descriptors.held(descriptor) if waits is None else waits.descriptor
            if copy is None:
                _sync(descriptor)
                return
            self._waiting[at] = Unsynced(copy, path, who)

    def commit(self) -> str:
        """Make the names in all folders that wait durable: the words for what failed, or "". The
        failures are also those of `failures`.
        """
        if not self._waiting:
            return ""
        with self._lock:  # whoever finds nothing that waits goes on only when all is synced
            return "; ".join(
                f"the names in {failure.path} are not durable: {failure.problem}"
                for failure in self._commit()
            )

    def failures(self) -> list[SyncFailure]:
        """Return what failed at the commit points since this was asked last."""
        failures, self._failures = self._failures, []
        return failures

    def _commit(self) -> list[SyncFailure]:
        failures = []
        by_device: dict[int, list[int]] = {}
        for (device, _), folder in self._waiting.items():
            by_device.setdefault(device, []).append(folder.descriptor)
        synced = {
            device
            for device, folders in by_device.items()
            if len(folders) >= FEWEST and self.sync_many(device, folders[0])
        }
        for (device, _), folder in self._waiting.items():
            try:
                if device not in synced:
                    _sync(folder.descriptor)
            except OSError as error:
                problem = error.strerror or str(error)
                failures.append(SyncFailure(folder.path, folder.who, problem))
            with suppress(OSError):
                os.close(folder.descriptor)
        self._waiting.clear()
        self._failures += failures
        return failures


def device_and_inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        # file systems without it (some FUSE ones), a folder that may not be read
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


FOLDER_SYNCS = FolderSyncs()
