# SPDX-License-Identifier: Apache-2.0
"""Temporary files that a killed run left beside their targets: announced before they are made,
removed by the next run.

What is announced is a folder and the mark that the names of this run carry in it: one durable line
for each folder that a run writes to, not one for each file.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress

from runner.model.errors import RunnerError
from runner.model.stdlib import dumps
from runner.support.files import scratch
from runner.support.files.trusted_folder import SCRATCH, TrustedFolder, trusted_folder

NAME = "temporaries"
_DIGITS = frozenset("0123456789abcdef")


class Temporaries:
    """The list `temporaries` of a state folder: a folder and a mark a line, as JSON since paths may
    have line ends.
    """

    def __init__(self, state_dir: str) -> None:
        self._state_dir = state_dir
        self._folder: TrustedFolder | None = None
        self._handle: int | None = None
        self._announced: set[tuple[str, str]] = set()

    def note(self, path: str) -> None:
        """Announce a path before it is made; a list that cannot be written keeps no one from
        working.
        """
        above, _, name = path.rpartition("/")
        if (above, name[-12:-4]) in self._announced:
            return
        folder, name = os.path.split(os.path.abspath(path))
        mark = _mark_of(name)
        if not mark or (folder, mark) in self._announced:
            return
        with suppress(OSError, RunnerError):
            if self._handle is None:
                self._folder = trusted_folder(self._state_dir)
                self._handle = self._folder.open(NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                self._folder.sync()
            os.write(self._handle, dumps([folder, mark]).encode() + b"\n")
            os.fdatasync(self._handle)
            self._announced.add((folder, mark))

    def sweep(self) -> list[str]:
        """Remove what the last run left, and start a new list; the paths that were removed. Call it
        under the lock.
        """
        try:
            state = trusted_folder(self._state_dir, make=False)
            lines = state.read(NAME).decode("ascii", "replace").splitlines()
        except OSError:
            return []
        removed = []
        for line in lines:
            # the last line may be cut off, a folder may be gone
            with suppress(ValueError, TypeError, OSError):
                folder, mark = json.loads(line)
                removed += _cleaned(folder, mark)
        with suppress(OSError):
            state.remove(NAME)
        return removed

    @staticmethod
    def sweep_scratch(cache: str) -> None:
        """Remove the scratch folders of killed runs."""
        if left := [f"{cache}/{name}" for name in os.listdir(cache) if name.startswith(SCRATCH)]:
            scratch.sweep(left)

    def done(self) -> None:
        """The run has ended by itself: nothing is left, unless the disk let nothing be removed."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
            with suppress(OSError):
                if self._folder and not any(
                    _left_in(*announced)
                    for announced in self._announced
                    if os.path.isdir(announced[0])
                ):
                    self._folder.remove(NAME)


def _left_in(folder: str | int, mark: str) -> list[str]:
    return [name for name in os.listdir(folder) if _mark_of(name) == mark]


def _mark_of(name: str) -> str:
    """The mark in a name that a run has given; empty for any other, which is never removed."""
    own, _, digits = name.rpartition(".runner-")
    is_ours = own[:1] == "." and len(digits) == 12 and _DIGITS.issuperset(digits)
    return digits[:8] if is_ours else ""


def _cleaned(folder: str, mark: str) -> list[str]:
    """Remove what a run left in a folder: the paths. The folder may be a user's, who may swap it
    meanwhile.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return [
            os.path.join(folder, name) for name in _left_in(handle, mark) if _removed(handle, name)
        ]
    finally:
        os.close(handle)


def _removed(folder: int, name: str) -> bool:
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True
