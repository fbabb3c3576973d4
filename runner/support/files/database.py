# SPDX-License-Identifier: Apache-2.0
"""SQLite files that other processes may hold: waiting for them."""

from __future__ import annotations

import os
import time

from runner.support.files import sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

WAIT = 10.0  # seconds that a whole run waits for a database that another process has locked
LEAST = 1 << 16  # bytes that SQLite takes for its files beside an empty database
SLICE = 0.1  # seconds of one wait inside SQLite, where no signal is handled


class Patience:
    """The time that a run still waits for locked databases; used up, nothing waits any more."""

    def __init__(self, seconds: float = WAIT, give_up: Callable[[], bool] = lambda: False) -> None:
        """give_up: returns whether to wait no longer, whatever time is left."""
        self._left = seconds
        self._give_up = give_up

    def __call__(self, operation: Callable[..., T], *args: Any) -> T:
        """Return the result of an operation, repeated while the database is locked. Raises
        sqlite.OperationalError.
        """
        while True:
            began = time.monotonic()
            try:
                return operation(*args)
            except sqlite.OperationalError as error:
                self._left -= time.monotonic() - began
                if not is_locked(error) or self._left <= 0 or self._give_up():
                    raise


def is_locked(error: sqlite.Error) -> bool:
    """Return whether another process holds the database."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite.SQLITE_BUSY,
        sqlite.SQLITE_LOCKED,
    )


def connect(path: str, patience: Patience, **options: Any) -> sqlite.Connection:
    """A connection whose statements wait as long as there is patience, in slices between which
    signals are handled.
    """

    class Patient(sqlite.Connection):
        def execute(self, *args: Any) -> sqlite.Cursor:
            return patience(sqlite.Connection.execute, self, *args)

        def executemany(self, *args: Any) -> sqlite.Cursor:
            return patience(sqlite.Connection.executemany, self, *args)

        def executescript(self, script: str) -> sqlite.Cursor:
            return patience(sqlite.Connection.executescript, self, script)

    return sqlite.connect(path, timeout=SLICE, check_same_thread=False, factory=Patient, **options)


def described(path: str, error: sqlite.Error) -> str:
    """Return what SQLite says of a file, with the cause where its disk takes nothing more."""
    try:
        disk = os.statvfs(os.path.dirname(path))
    except OSError:
        return f"{path}: {error}"
    if disk.f_flag & os.ST_RDONLY:
        return f"{path}: {error} (its file system is mounted read-only)"
    if disk.f_bavail * disk.f_frsize < LEAST:
        return f"{path}: {error} (its disk is full: free some space)"
    return f"{path}: {error}"


def newer_format(path: str, found: int, known: int) -> str:
    """Return what is wrong with a database of a later release, and what to do."""
    return (
        f"{path} was written by a newer runner (its format is {found}, this one knows up to"
        f" {known}): use that runner, or move the file away"
    )
