# SPDX-License-Identifier: Apache-2.0
"""The planned machine as looks and changers ask for it, and the files that a dry run has planned,
laid over those of the machine.

What they are made by (`files.py`, `dry_run.py`) is handed in by the loader where a dry run plans
something: a run that really changes the machine has no overlay, and executes none of it.
"""

from __future__ import annotations

import os
from io import FileIO

from modules._planned import machine
from runner.api import here, planning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from modules._accounts.planned import PlannedAccounts
    from modules._planned.machine import PlannedMachine
    from modules._planned.view import View
    from modules.file._paths.place import Place
else:
    Protocol = object


KERNELS = ("/proc/", "/sys/")  # what is below is no file that keeps what is written to it


class Overlay(Protocol):
    """Files as they will be: what `os` and `os.path` answer for those of the machine, with their
    errors. accounts: users and groups as they will be, and what changes them.
    """

    accounts: PlannedAccounts

    def stat(self, path: str, follow: bool = True) -> os.stat_result: ...
    def listdir(self, path: str) -> list[str]: ...
    def readlink(self, path: str) -> str: ...
    def realpath(self, path: str) -> str: ...
    def access(self, path: str, mode: int) -> bool: ...
    def opened(self, path: str) -> PlannedReader: ...

    def real_path(self, path: str) -> str:
        """As `realpath`. Raises StateFailed for a link that is not to be followed."""

    def source(self, path: str) -> str | None:
        """Where on the machine that is which is at a path; None for what is new, or nothing."""

    def copy_of(self, path: str) -> str:
        """The folder on the machine that a planned one was made in; empty where there is none."""

    def settled_copy(self, path: str) -> str:
        """The same folder, in which what is planned in it was made."""

    def scratch(self) -> str:
        """A folder on the machine that is there as long as this is."""

    def graft(self, folder: str, path: str) -> None:
        """Have a folder of the machine at a path of these, instead of an empty folder."""

    def is_planned(self, path: str) -> bool:
        """Return whether what is at a path, or in a folder, is not what the machine has there."""

    def place(self, path: str, follow: bool = False) -> Place:
        """The place that a path means. A change there is a plan."""

    def view(self) -> View | None:
        """These files for a program that is to see them; None where they cannot be laid over the
        machine.
        """


class PlannedReader(FileIO):
    """The contents of a planned file. at: its stat."""

    at: os.stat_result


def _of_dry_run() -> PlannedMachine | None:
    """The planned machine; None for a state that really runs, and outside of a run."""
    try:
        if not here.dry:  # dry: it is the planned machine
            return None
    except LookupError:
        return None
    store = here.store(planning.MACHINE)
    if planning.MACHINE not in store:
        store[planning.MACHINE] = machine.PlannedMachine()
    planned: PlannedMachine = store[planning.MACHINE]
    return planned


def planned_machine() -> PlannedMachine:
    """The planned machine; for a state that really runs one of which nobody else knows: nothing was
    planned on it.
    """
    return _of_dry_run() or machine.PlannedMachine()


def tell_otherwise(*words: str) -> None:
    """Note that programs which are asked for one of these will say something else: what was planned
    of them is in no file.
    """
    if chunk := here.chunk:
        planned_machine().told.update(dict.fromkeys(words, f"{chunk.state}: {chunk.id}"))


def overlay() -> Overlay | None:
    """The files of a dry run in which something was planned; None where all is as the machine has
    it.
    """
    planned = _of_dry_run()
    if planned is None:
        return None
    if planned.files is None and (planning.is_planning() or planning.doubts()):  # dry: the view
        planned.files = here.new_overlay()
    return planned.files


def is_planned(path: str) -> bool:
    """Return whether what is at a path, or in a folder, will not be what the machine has there."""
    planned = overlay()
    return planned is not None and planned.is_planned(path)
