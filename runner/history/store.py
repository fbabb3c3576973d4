# SPDX-License-Identifier: Apache-2.0
"""The file of the history: one SQLite database, migrated when it is opened, set aside when it is
broken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from runner.api import is_interrupted
from runner.history import journal, unchanged
from runner.history.schema import MIGRATIONS, SCHEMA
from runner.model.errors import RunnerError, reason_of
from runner.support.files import sqlite
from runner.support.files.database import Patience, connect, described, newer_format
from runner.support.files.trusted_folder import (
    Untrusted,
    UntrustedFile,
    hint_to,
    is_there,
    trusted_folder,
)

NAME = unchanged.DATABASE
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

    hint: str | None = None


def of_system(state_dir: str, error: OSError) -> HistoryProblem:
    """The problem that an error of the system is."""
    problem = HistoryProblem(f"{os.path.join(state_dir, NAME)}: {error.strerror}")
    problem.hint = hint_to(state_dir, error)
    return problem


@contextmanager
def readable() -> Iterator[None]:
    """Turn what a broken or unreadable database says into an error for people: a RunnerError."""
    try:
        yield
    except (sqlite.Error, ValueError, HistoryProblem) as error:
        hint = error.hint if isinstance(error, HistoryProblem) else None
        raise RunnerError(f"the history cannot be read: {error}", hint=hint) from None


def open_history(state_dir: str, notes: list[str] | None = None) -> sqlite.Connection:
    """The database of a state folder, made when there is none. A file that is no database is set
    aside.

    notes: gets what was set aside; without it (somebody only reads) it stays. Raises HistoryProblem
    when there can be none (a full disk, no permission, made by a newer runner).
    """
    path = os.path.join(state_dir, NAME)
    try:
        return _connect(state_dir)
    except Untrusted as error:
        raise HistoryProblem(f"{error.message}; {error.hint}") from None
    except UntrustedFile as error:
        raise HistoryProblem(str(error)) from None
    except sqlite.DatabaseError as error:
        if isinstance(error, sqlite.OperationalError):
            raise HistoryProblem(described(path, error)) from None
        if notes is None:
            raise HistoryProblem(f"{path}: {error}; the next run sets it aside") from None
        try:
            set_aside(state_dir, error, notes)
            return _connect(state_dir)
        except (OSError, sqlite.Error) as second:
            raise HistoryProblem(
                f"{path}: {error}; it could not be set aside: {reason_of(second)}"
            ) from None
    except OSError as error:
        raise of_system(state_dir, error) from None


def has_history(state_dir: str) -> bool:
    """Return whether there is a history. Raises HistoryProblem where this user may not know."""
    try:
        return is_there(state_dir, NAME)
    except OSError as error:
        raise of_system(state_dir, error) from None


def set_aside(state_dir: str, error: Exception, notes: list[str]) -> None:
    """Make room for a new history. Raises OSError."""
    folder = trusted_folder(state_dir)
    aside = folder.set_aside(NAME)
    notes.append(f"the history is damaged ({error}); it is set aside as {aside}")


def _connect(state_dir: str) -> sqlite.Connection:
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


def _recover(state_dir: str, connection: sqlite.Connection) -> None:
    """Write what waits: runs that changed nothing, and what a killed one has left. Where that
    cannot be done now (a full disk, no permission), somebody else does it later.
    """
    try:
        unchanged.take_in(state_dir, connection, CONTENTS)
        journal.recover(state_dir, connection)
    except sqlite.OperationalError:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _migrate(connection: sqlite.Connection, version: int) -> None:
    if version < len(MIGRATIONS):
        steps = ";".join(MIGRATIONS[version:]) if version else SCHEMA
        connection.executescript(f"BEGIN; {steps}; PRAGMA user_version={len(MIGRATIONS)}; COMMIT;")
