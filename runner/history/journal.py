# SPDX-License-Identifier: Apache-2.0
"""The journal of a run: what is to be written into the history, as statements that wait.

A transaction for each state costs more than the state. So what a state changes is appended to a
file, one record for all its statements, and written into the database together with what follows
soon. What a killed run has left in the file is written by whoever opens the history next; the
number of the last statement that is in the database stands with the run, so that none is written
twice.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from runner.model.errors import RunnerError
from runner.support.files import sqlite
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

NAME = "history.journal"
LONGEST_WAIT = 0.5  # seconds that a statement waits, as long as something happens
MOST = 1000  # statements that wait
_SUM = 4  # bytes of the checksum of a record, which its length follows
_HEAD = _SUM + 4
_FORMAT = 4  # of marshal: every version of Python reads it
_WRITTEN = "UPDATE runs SET written = ? WHERE id = ?"
# the mistakes of a statement by itself, say of a damaged one: it is left out
_OF_STATEMENT = ("SQLITE_ERROR", "SQLITE_MISMATCH", "SQLITE_RANGE")


class Journal:
    """The statements of one run that are not in the database yet."""

    def __init__(self, state_dir: str, number: int, run: str) -> None:
        """number: of the run in the history. run: its ID."""
        self._state_dir, self._run = state_dir, (number, run)
        self._folder: TrustedFolder | None = None
        self._handle: int | None = None
        self._alone = True  # no other process has the file
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        self._number = 0  # of the last statement in the database
        self._in_file = 0  # of those that wait
        self._since = 0.0
        self._known: dict[str, int] = {}  # the statements in the file, by their places there

    def add(self, statement: str, *rows: tuple[Any, ...]) -> None:
        """Have a statement wait, once for each row of values."""
        for row in rows:
            self._waiting.append((statement, row))

    def save(self) -> bool:
        """Have what waits outlive a kill; whether it should wait no longer. Raises OSError, and
        RunnerError where others can write the folder.
        """
        if self._in_file == len(self._waiting):
            return False
        handle = self._opened()
        if not self._alone:
            return True
        if not self._in_file:
            self._since = time.monotonic()
        waiting = self._waiting[self._in_file :]
        known, before = self._known, len(self._known)
        places = [known.setdefault(statement, len(known)) for statement, _ in waiting]
        rows = [row for _, row in waiting]
        new = list(known)[before:] if len(known) > before else []
        data = _record((*self._run, self._number + self._in_file + 1, new, places, rows))
        if os.write(handle, data) < len(data):
            raise OSError("the disk is full")
        self._in_file = len(self._waiting)
        return self._in_file >= MOST or time.monotonic() - self._since > LONGEST_WAIT

    def write(self, connection: sqlite.Connection) -> None:
        """Write what waits into the database. Raises sqlite.Error and OSError."""
        if not self._waiting:
            return
        self._number += len(self._waiting)
        connection.execute("BEGIN IMMEDIATE")
        cursor = connection.cursor()  # nothing has to be waited for any more
        for statement, row in self._waiting:
            cursor.execute(statement, row)
        connection.execute(_WRITTEN, (self._number, self._run[0]))
        connection.execute("COMMIT")
        self._waiting.clear()
        if self._in_file and self._handle is not None:  # whoever had it before has written its own
            os.ftruncate(self._handle, 0)
            self._known.clear()
        self._in_file = 0

    def close(self) -> None:
        """Remove the file: nothing waits any more."""
        if self._handle is not None and self._folder is not None:
            if self._alone:
                self._folder.remove(NAME)
            os.close(self._handle)
            self._handle = None

    def _opened(self) -> int:
        if self._handle is None:
            self._folder = trusted_folder(self._state_dir)
            self._handle = self._folder.open(NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._alone = False
            else:  # whoever had it before may have removed it
                self._alone = bool(os.fstat(self._handle).st_nlink)
        return self._handle


def recover(state_dir: str, connection: sqlite.Connection) -> None:
    """Write into the database what a killed run has left in its journal, as far as it is whole.
    Raises sqlite.Error.
    """

    def take(folder: TrustedFolder, file: BinaryIO) -> None:
        _recover(file, connection)
        folder.remove(NAME)

    take_left(state_dir, NAME, take)


def take_left(state_dir: str, name: str, take: Callable[[TrustedFolder, BinaryIO], None]) -> None:
    """Have what runs have left in a file of the state folder taken in, unless somebody holds the
    file: its run, or who takes it in already.
    """
    with suppress(OSError, RunnerError):
        folder = trusted_folder(state_dir, make=False)
        if folder.exists(name):
            with open(folder.open(name, os.O_RDWR), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                take(folder, file)


def _recover(file: BinaryIO, connection: sqlite.Connection) -> None:
    query = "SELECT written FROM runs WHERE id = ? AND run = ?"
    written: dict[int, int] = {}
    connection.execute("BEGIN IMMEDIATE")
    for run, name, number, statement, row in _statements(file.read()):
        if run not in written:
            last = connection.execute(query, (run, name)).fetchone()
            if last is None:  # the history was set aside, or the run is too old
                break
            written[run] = last[0]
        if number > written[run]:
            try:
                connection.execute(statement, row)
            except (sqlite.Error, ValueError, OverflowError) as error:
                if getattr(error, "sqlite_errorname", "SQLITE_ERROR") not in _OF_STATEMENT:
                    raise
            written[run] = number
    for run, number in written.items():
        connection.execute(_WRITTEN, (number, run))
    connection.execute("COMMIT")


def _record(values: tuple[Any, ...]) -> bytes:
    """What stands in the file of the statements of one state."""
    try:
        body = marshal.dumps(values, _FORMAT)
    except ValueError:  # a text or a number with a class of its own
        *facts, rows = values
        body = marshal.dumps((*facts, [tuple(map(_plain, row)) for row in rows]), _FORMAT)
    return b"".join((zlib.crc32(body).to_bytes(_SUM), len(body).to_bytes(4), body))


def _plain(value: Any) -> Any:
    """A value of a class of Python."""
    kind = next((kind for kind in (str, int, float, bytes) if isinstance(value, kind)), None)
    return (
        value if kind is None or value is True or value is False else kind.__getnewargs__(value)[0]
    )


def _statements(data: bytes) -> Iterator[tuple[int, str, int, str, tuple[Any, ...]]]:
    """Yield the statements of a journal up to the first record that is damaged."""
    texts: dict[tuple[int, str], list[str]] = {}  # the statements of each run
    at = 0
    while head := data[at : at + _HEAD]:
        body = data[at + _HEAD : at + _HEAD + int.from_bytes(head[_SUM:])]
        if not body or head[:_SUM] != zlib.crc32(body).to_bytes(_SUM):
            return
        run, name, number, new, places, rows = marshal.loads(body)
        known = texts.setdefault((run, name), [])
        known += new
        for place, row in zip(places, rows, strict=True):
            yield run, name, number, known[place], row
            number += 1
        at += _HEAD + len(body)
