"""Temporary files that a killed run left beside their targets: announced before they are made, removed by the next run.

What is announced is a folder and the mark that the names of this run carry in it: one durable line for each folder that
a run writes to, not one for each file.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

_OURS = re.compile(r"^\..*\.runner-([0-9a-f]{8})[0-9a-f]{4}$", re.S)  # nothing else is ever removed


class Temporaries:
    """The list `temporaries` of a state folder: a folder and a mark a line, as JSON since paths may have line ends."""

    def __init__(self, state_dir: str) -> None:
        self._path = os.path.join(state_dir, "temporaries")
        self._handle: int | None = None
        self._announced: set[tuple[str, str]] = set()

    def note(self, path: str) -> None:
        """Announce a path before it is made; a list that cannot be written keeps no one from working."""
        folder, name = os.path.split(os.path.abspath(path))
        found = _OURS.match(name)
        if found is None or (folder, found[1]) in self._announced:
            return
        import json

        with suppress(OSError):
            if self._handle is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
                self._handle = os.open(self._path, flags, 0o600)
                _sync(os.path.dirname(self._path))
            os.write(self._handle, json.dumps([folder, found[1]]).encode() + b"\n")
            os.fdatasync(self._handle)
            self._announced.add((folder, found[1]))

    def sweep(self) -> list[str]:
        """Remove what the last run left, and start a new list; the paths that were removed. Call it under the lock."""
        import json

        try:
            if not stat.S_ISREG(os.lstat(self._path).st_mode):
                return []
            with open(self._path, encoding="ascii", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            return []
        removed = []
        for line in lines:
            with suppress(ValueError, TypeError, OSError):  # the last line may be cut off, a folder may be gone
                folder, mark = json.loads(line)
                removed += [path for path in _left_in(folder, mark) if _removed(path)]
        with suppress(OSError):
            os.unlink(self._path)
        return removed

    def done(self) -> None:
        """The run has ended by itself: nothing is left, unless the disk let nothing be removed."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            with suppress(OSError):
                if not any(_left_in(*each) for each in self._announced if os.path.isdir(each[0])):
                    os.unlink(self._path)


def _left_in(folder: str, mark: str) -> list[str]:
    names = [(name, _OURS.match(name)) for name in os.listdir(folder)]
    return [os.path.join(folder, name) for name, found in names if found and found[1] == mark]


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _removed(path: str) -> bool:
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            import shutil

            shutil.rmtree(path)
        else:
            os.unlink(path)
    except OSError:
        return False
    return True
