"""The file of the history: one SQLite database, migrated when it is opened, set aside when it is
broken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.api import is_interrupted
from runner.files.database import Patience, connect
from runner.files.trusted_folder import Untrusted, UntrustedFile, trusted_folder
from runner.model.errors import RunnerError

if TYPE_CHECKING:
    import sqlite3

NAME = "history.sqlite"
# each entry brings the database from its position to the next version; entries are never changed,
# only added
MIGRATIONS = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, command TEXT NOT NULL,
        user TEXT NOT NULL, started REAL NOT NULL, finished REAL, revision TEXT, dirty INTEGER,
        compiled TEXT NOT NULL, outcome TEXT, total INTEGER NOT NULL, changed INTEGER,
        failed INTEGER
    );
    CREATE TABLE results (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
        tag TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, function TEXT NOT NULL,
        sls TEXT NOT NULL, result INTEGER, ran INTEGER NOT NULL, changes TEXT NOT NULL,
        comment TEXT NOT NULL, duration REAL NOT NULL, place TEXT NOT NULL, cause TEXT,
        origin TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
    CREATE INDEX results_by_tag ON results (tag, run);
    CREATE TABLE changers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        function TEXT NOT NULL, target TEXT NOT NULL, before TEXT NOT NULL
    );
    CREATE INDEX changers_by_run ON changers (run);
    """,
    """
    CREATE TABLE kept (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL,
        path TEXT NOT NULL, type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL,
        gid INTEGER NOT NULL, target TEXT NOT NULL, content TEXT NOT NULL, tag TEXT NOT NULL,
        PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE left_behind (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
        type TEXT NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
        target TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, path)
    ) WITHOUT ROWID;
    ALTER TABLE runs ADD COLUMN undone TEXT;
    """,
    """
    ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'run';
    CREATE INDEX runs_by_kind ON runs (kind, id);
    """,
    """
    ALTER TABLE runs ADD COLUMN skipped INTEGER;
    ALTER TABLE runs ADD COLUMN errors TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE runs ADD COLUMN not_restored INTEGER;
    ALTER TABLE results ADD COLUMN outcome TEXT;
    """,
)


class HistoryProblem(Exception):
    """The history cannot be read or written; the message says why and what became of it."""


@contextmanager
def readable() -> Iterator[None]:
    """Turn what a broken or unreadable database says into an error for people: a RunnerError."""
    import sqlite3

    try:
        yield
    except (sqlite3.Error, ValueError, HistoryProblem) as error:
        raise RunnerError(f"the history cannot be read: {error}") from None


def open_history(state_dir: str, notes: list[str] | None = None) -> sqlite3.Connection:
    """The database of a state folder, made when there is none. A file that is no database is set
    aside.

    notes: gets what was set aside; without it (somebody only reads) it stays. Raises HistoryProblem
    when there can be none (a full disk, no permission, made by a newer runner).
    """
    import sqlite3

    path = os.path.join(state_dir, NAME)
    try:
        return _connect(state_dir)
    except Untrusted as error:
        raise HistoryProblem(f"{error.message}; {error.hint}") from None
    except UntrustedFile as error:
        raise HistoryProblem(str(error)) from None
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise HistoryProblem(f"{path}: {error}") from None
        if notes is None:
            raise HistoryProblem(f"{path}: {error}; the next run sets it aside") from None
        try:
            set_aside(state_dir, error, notes)
            return _connect(state_dir)
        except (OSError, sqlite3.Error) as second:
            raise HistoryProblem(f"{path}: {error}; it could not be set aside: {second}") from None
    except OSError as error:
        raise HistoryProblem(f"{path}: {error.strerror}") from None


def set_aside(state_dir: str, error: Exception, notes: list[str]) -> None:
    """Make room for a new history. Raises OSError."""
    folder = trusted_folder(state_dir)
    aside = folder.set_aside(NAME)
    notes.append(f"the history is damaged ({error}); it is set aside as {aside}")


def _connect(state_dir: str) -> sqlite3.Connection:
    path = trusted_folder(state_dir).database(NAME)
    connection = connect(path, Patience(give_up=is_interrupted), isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise HistoryProblem(f"{path} was written by a newer runner (its version is {version})")
    for number in range(version, len(MIGRATIONS)):
        connection.executescript(
            f"BEGIN; {MIGRATIONS[number]}; PRAGMA user_version={number + 1}; COMMIT;"
        )
