# SPDX-License-Identifier: Apache-2.0
"""Runs that changed nothing, before they are in the database: each is a record at the end of one
file, and costs no SQLite. Whoever opens the history next writes them into it.

What such a run says of its states is mostly what the one before said: it stands in the file once,
known by a digest of all that it follows from.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import time
from contextlib import suppress

from runner.history import contents, journal, snapshots
from runner.model.records import Record
from runner.model.stdlib import blake2b, dumps
from runner.support.files import sqlite
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

DATABASE = "history.sqlite"
NAME = "history.unchanged"
LARGEST = 4 * 1024 * 1024  # bytes; a run that finds more writes all of it into the database
_MARK = b"\nrun "  # what a record begins with; its checksum and its length follow
_HEAD = len(_MARK) + 8
_DIGEST = 16  # bytes at the end of a record: which states it has
_FORMAT = 2  # of marshal: every version of Python reads it
# what is the same as long as nothing changes: what the states compile to, the requisites, and the
# results, a row a state
States = tuple[str, dict[str, "Any"], list[tuple["Any", ...]]]
RESULT = f"INSERT INTO results VALUES ({', '.join('?' * 19)})"
BEGIN = (
    "INSERT INTO runs (run, command, user, started, revision, dirty, total, kind, scope, compiled,"
    " graph) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
# a run that runs states holds the lock: none of those that have not ended goes on
KILLED = "UPDATE runs SET outcome = 'killed' WHERE outcome IS NULL AND id < ?"
END = (
    "UPDATE runs SET finished = ?, outcome = ?, changed = ?, failed = ?, skipped = ?, errors = ?"
    " WHERE id = ?"
)
COUNTS = "UPDATE runs SET total = ?, counts = ? WHERE id = ?"
# dry runs, and runs that ran no state, are counted by themselves, so that they push out no others
_CLASS = (
    "CASE WHEN kind = 'test' THEN 'test' WHEN total = 0 AND errors != '[]' THEN 'aborted' ELSE"
    " 'run' END"
)
# runs of each kind that age alone does not remove: a clock that was wrong must not cost the history
_LEAST = 20


class UnchangedRun(Record):
    """A run that changed nothing. begin, counts, end: the values of the statements, without the
    number of the run and what `states` has, what is JSON there as data. keep: how many runs are
    kept, and days. durations, starts: of each state.
    """

    begin: tuple[Any, ...]
    counts: tuple[Any, ...]
    end: tuple[Any, ...]
    keep: tuple[int, int]
    durations: list[float]
    starts: list[float | None]
    states: States


def has_begun(state_dir: str) -> bool:
    """Return whether there is a history."""
    return os.path.exists(os.path.join(state_dir, DATABASE))


def append(
    state_dir: str, facts: tuple[Any, ...], follows_from: Any, states: Callable[[], States]
) -> bool:
    """Have a run wait for the next one that opens the database; whether it can. Raises RunnerError
    where others can write the folder. facts: the fields of `UnchangedRun` before its states.
    follows_from: whatever the states follow from.
    """
    with suppress(OSError, ValueError):  # no values that are kept so: texts with a class of its own
        digest = blake2b(marshal.dumps(follows_from, _FORMAT), digest_size=_DIGEST).digest()
        folder = trusted_folder(state_dir, make=False)
        handle = folder.open(NAME, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            size = os.fstat(handle).st_size
            if size > LARGEST:
                return False
            is_known = size and os.pread(handle, _DIGEST, size - _DIGEST) == digest
            text = b"" if is_known else marshal.dumps(states(), _FORMAT)
            body = marshal.dumps((*facts, text), _FORMAT) + digest
            data = _MARK + _checksum(body) + len(body).to_bytes(4) + body
            if os.write(handle, data) == len(data):
                return True
            os.ftruncate(handle, size)
        finally:
            os.close(handle)
    return False


def take_in(state_dir: str, connection: sqlite.Connection, kept: str) -> None:
    """Write the runs that wait into the database. kept: the query for contents that are needed.
    Raises sqlite.Error.
    """

    def take(folder: TrustedFolder, file: BinaryIO) -> None:
        if data := file.read():
            _write(state_dir, connection, data, kept)
            os.ftruncate(file.fileno(), 0)

    journal.take_left(state_dir, NAME, take)


def _write(state_dir: str, connection: sqlite.Connection, data: bytes, kept: str) -> None:
    # of a record by itself, say of another version of runner: it is left out
    mistakes = (ValueError, TypeError, sqlite.IntegrityError, sqlite.ProgrammingError)
    store = contents.ContentStore(state_dir, lambda: connection)
    keep = (0, 0)
    connection.execute("PRAGMA synchronous=FULL")  # durable before the file is emptied
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for run in _unknown(connection, list(_runs(data))):
            connection.execute("SAVEPOINT record")
            try:
                _write_run(connection, run, store)
                keep = run.keep
            except mistakes:
                connection.execute("ROLLBACK TO record")
            connection.execute("RELEASE record")
        dropped = drop_old(connection, keep)
    connection.execute("PRAGMA synchronous=NORMAL")
    if dropped:
        store.drop(connection, kept)


def _unknown(connection: sqlite.Connection, runs: list[UnchangedRun]) -> list[UnchangedRun]:
    """The runs after the last one in the database: who wrote that one, and those before it, was
    killed before the file was empty.
    """
    known = "SELECT 1 FROM runs WHERE run = ?"
    for number in range(len(runs), 0, -1):
        if connection.execute(known, runs[number - 1].begin[:1]).fetchone():
            return runs[number:]
    return runs


def _write_run(
    connection: sqlite.Connection, run: UnchangedRun, store: contents.ContentStore
) -> None:
    def write(statement: str, *rows: tuple[object, ...]) -> None:
        for row in rows:
            connection.execute(statement, row)

    compiled, requisites, rows = run.states
    text = text_of(requisites)
    graph = snapshots.hash_of(text) if text else ""
    number = connection.execute(BEGIN, (*run.begin, compiled, graph)).lastrowid
    write(KILLED, (number,))
    total, counts = run.counts
    write(COUNTS, (total, dumps(counts), number))
    *end, errors = run.end
    write(END, (*end, dumps(errors), number))
    write(RESULT, *results(number, 0, rows, run.durations, run.starts))
    store.begin(number or 0, write)
    if text:
        store.put_data(text, graph)
    store.close()


def results(
    number: int | None,
    first: int,
    rows: Iterable[tuple[Any, ...]],
    durations: Iterable[float],
    starts: Iterable[float | None],
) -> list[tuple[Any, ...]]:
    """The values of RESULT for states, from a position on. rows: those that are the same in each
    run that changes nothing.
    """
    columns = zip(rows, durations, starts, strict=True)
    return [
        (number, position, *row[:9], duration, *row[9:], start)
        for position, (row, duration, start) in enumerate(columns, first)
    ]


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=4).digest()


def text_of(graph: dict[str, Any]) -> bytes:
    """The requisites of a run as they are kept; empty where there are none."""
    return dumps(graph).encode(errors="surrogateescape") if graph else b""


def _runs(data: bytes) -> Iterator[UnchangedRun]:
    """Yield the runs of a file, as far as they are whole."""
    states: dict[bytes, States] = {}
    at = data.find(_MARK)
    while at >= 0:
        checksum, length = data[at + len(_MARK) : at + _HEAD - 4], data[at + _HEAD - 4 : at + _HEAD]
        body = data[at + _HEAD : at + _HEAD + int.from_bytes(length)]
        if _checksum(body) == checksum:
            with suppress(
                ValueError, TypeError, LookupError, EOFError
            ):  # of another version of runner
                yield _run(body, states)
            at += _HEAD + len(body) - 1
        at = data.find(_MARK, at + 1)


def _run(body: bytes, states: dict[bytes, States]) -> UnchangedRun:
    """The run of a record. states: those of the records before it, by their digests. Raises
    ValueError, TypeError, LookupError and EOFError for what is none.
    """
    *facts, text = marshal.loads(body[:-_DIGEST])
    digest = body[-_DIGEST:]
    if text:
        states[digest] = marshal.loads(text)
    if digest not in states or not isinstance(facts[0][0], str):
        raise ValueError("it is of another form, or what its states are was lost")
    return UnchangedRun._make((*facts, states[digest]))


def drop_old(connection: sqlite.Connection, keep: tuple[int, int]) -> int:
    """Drop what is too much or too old, each kind of run by itself; how many runs that were.

    keep: older runs are dropped when either number, of runs or of days, is exceeded; 0 keeps all.
    """
    runs, days = keep
    gone = 0
    for kind in ("run", "test", "aborted"):
        newest = f"SELECT id FROM runs WHERE {_CLASS} = ? ORDER BY id DESC LIMIT ?"
        query = f"DELETE FROM runs WHERE {_CLASS} = ? AND id NOT IN ({newest})"
        if runs:
            gone += connection.execute(query, (kind, kind, runs)).rowcount
        if days:
            oldest = time.time() - days * 86400
            gone += connection.execute(
                f"{query} AND started < ?", (kind, kind, _LEAST, oldest)
            ).rowcount
    return gone
