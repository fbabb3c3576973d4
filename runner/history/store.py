# SPDX-License-Identifier: Apache-2.0
"""The file of the history: one SQLite database, migrated when it is opened, set aside when it is
broken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.api import is_interrupted
from runner.history import journal, unchanged
from runner.model.errors import RunnerError
from runner.support.files.database import Patience, connect, newer_format
from runner.support.files.trusted_folder import Untrusted, UntrustedFile, trusted_folder

if TYPE_CHECKING:
    import sqlite3

NAME = unchanged.DATABASE
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
    "ALTER TABLE runs ADD COLUMN counts TEXT NOT NULL DEFAULT '{}'",
    """
    CREATE TABLE kept_states (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, sequence INTEGER NOT NULL,
        kind TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, tag TEXT NOT NULL,
        call INTEGER NOT NULL, PRIMARY KEY (run, sequence)
    ) WITHOUT ROWID;
    CREATE TABLE left_states (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, kind TEXT NOT NULL,
        name TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, kind, name)
    ) WITHOUT ROWID;
    CREATE TABLE watchers (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        content TEXT NOT NULL, PRIMARY KEY (run, tag, content)
    ) WITHOUT ROWID;
    CREATE TABLE restored (
        run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, tag TEXT NOT NULL,
        PRIMARY KEY (run, tag)
    ) WITHOUT ROWID;
    CREATE INDEX kept_by_path ON kept (path, run);
    ALTER TABLE kept ADD COLUMN call INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE changers ADD COLUMN restorable INTEGER;
    """,
    # the things that runs made; without a reference to their runs, which age removes
    """
    ALTER TABLE runs ADD COLUMN scope TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN orphans INTEGER;
    CREATE TABLE made (
        thing TEXT PRIMARY KEY, run INTEGER NOT NULL, made_at REAL NOT NULL DEFAULT 0,
        position INTEGER NOT NULL DEFAULT 0, states TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT '', id TEXT NOT NULL DEFAULT '', sls TEXT NOT NULL DEFAULT '',
        place TEXT NOT NULL DEFAULT '', removal TEXT NOT NULL DEFAULT '',
        arguments TEXT NOT NULL DEFAULT '{}', looks TEXT NOT NULL DEFAULT '{}', snapshot TEXT,
        existed INTEGER NOT NULL, highstate INTEGER NOT NULL DEFAULT 0,
        tree TEXT NOT NULL DEFAULT '', removed INTEGER
    );
    """,
    # for the question whether runner itself altered what a state had altered before
    """
    CREATE INDEX changers_by_tag ON changers (tag, target);
    CREATE INDEX changers_by_target ON changers (target, run);
    CREATE INDEX kept_by_tag ON kept (tag);
    """,
    # what the changes of a state replaced, where they do not say it themselves
    "ALTER TABLE results ADD COLUMN replaced TEXT NOT NULL DEFAULT '{}'",
    # for the page of a run: its timeline and its graph
    """
    ALTER TABLE results ADD COLUMN started_after REAL;
    ALTER TABLE runs ADD COLUMN graph TEXT NOT NULL DEFAULT '';
    """,
    # how many statements of its journal a run has written here
    "ALTER TABLE runs ADD COLUMN written INTEGER NOT NULL DEFAULT 0",
    # where contents are in the file of the run that kept them
    """
    CREATE TABLE contents (
        content TEXT PRIMARY KEY, run INTEGER NOT NULL, start INTEGER NOT NULL,
        length INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    # the hash of extended attributes; NULL where they were not looked at
    """
    ALTER TABLE kept ADD COLUMN attributes TEXT;
    ALTER TABLE left_behind ADD COLUMN attributes TEXT;
    """,
    # for the index over runs: how many states of each had drifted
    "CREATE INDEX results_by_drift ON results (run) WHERE origin = 'drift'",
)
# what the store of contents has to keep
CONTENTS = " UNION ".join(
    [
        "SELECT graph FROM runs",
        "SELECT attributes FROM kept WHERE attributes != ''",
        *(
            f"SELECT content FROM {table}"
            for table in ("kept", "left_behind", "kept_states", "left_states", "watchers")
        ),
    ]
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
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise HistoryProblem(newer_format(path, version, len(MIGRATIONS)))
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")
        _migrate(connection, version)
        _recover(state_dir, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _recover(state_dir: str, connection: sqlite3.Connection) -> None:
    """Write what waits: runs that changed nothing, and what a killed one has left. Where that
    cannot be done now (a full disk, no permission), somebody else does it later.
    """
    import sqlite3

    try:
        unchanged.take_in(state_dir, connection, CONTENTS)
        journal.recover(state_dir, connection)
    except sqlite3.OperationalError:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    for number in range(version, len(MIGRATIONS)):
        connection.executescript(
            f"BEGIN; {MIGRATIONS[number]}; PRAGMA user_version={number + 1}; COMMIT;"
        )
