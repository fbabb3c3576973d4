# SPDX-License-Identifier: Apache-2.0
"""Pending reactions, durable: a restart that was due when a run was killed is done by the next one.

They are kept in an SQLite file of their own: who reacts together, and what these have to react to;
what version 1 has left one by one.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from itertools import chain, count

from runner.model.records import Record
from runner.model.result import PendingReaction, named, some_of
from runner.model.stdlib import Lock
from runner.support.files import database
from runner.support.files.folder_syncs import FOLDER_SYNCS
from runner.support.files.text import storable, storable_row
from runner.support.files.trusted_folder import trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

NAME = "debts.sqlite"
VERSION = 2
_ONE_BY_ONE = "SELECT reactor, kind, source, run, time, place FROM debts ORDER BY rowid"
_REACTORS = "SELECT audience, kind, reactor, place FROM reactors ORDER BY rowid"
_CHANGES = "SELECT audience, source, run, time, place FROM changes ORDER BY rowid"
_PREPARE = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS debts (
    reactor TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL,
    time TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (reactor, kind, source)
);
CREATE TABLE IF NOT EXISTS reactors (
    audience INTEGER NOT NULL, kind TEXT NOT NULL, reactor TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (audience, reactor)
);
CREATE TABLE IF NOT EXISTS changes (
    audience INTEGER NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL, time TEXT NOT NULL,
    place TEXT NOT NULL, PRIMARY KEY (audience, source)
);
DELETE FROM reactors WHERE audience NOT IN (SELECT audience FROM changes);
DELETE FROM changes WHERE audience NOT IN (SELECT audience FROM reactors);
PRAGMA user_version={VERSION};
COMMIT;
"""
# of an audience that is the same as one before it: the earliest change of a source counts
_MERGE = (
    "UPDATE OR IGNORE changes SET audience = ? WHERE audience = ?",
    "DELETE FROM changes WHERE audience = ?",
    "DELETE FROM reactors WHERE audience = ?",
)


class Audience:
    """States that react in one way to the same others: each has yet to react to each of `changes`.
    reactors: their tags, each with the place of its requisite; empty where the changes have it.
    """

    __slots__ = ("changes", "kind", "number", "reactors")

    def __init__(self, kind: str, reactors: Mapping[str, str]) -> None:
        self.kind = kind
        self.reactors = {storable(tag): storable(place) for tag, place in reactors.items()}
        self.changes: dict[str, Change] = {}  # by their sources
        self.number = 0  # in the file; of what is kept one by one none

    @property
    def is_open(self) -> bool:
        return bool(self.reactors and self.changes)


class Change(Record):
    """What an audience has to react to."""

    audience: Audience
    source: str
    run: str
    time: str
    place: str = ""


class ReactionJournal:
    """Pending reactions in `state_dir/debts.sqlite`. The file is read once; it is made when the
    first reaction is written.

    A damaged file is set aside, which `notes` reports.
    """

    def __init__(self, state_dir: str, looking: bool = False, required: bool = False) -> None:
        """looking: leave a broken file where it is (there is no lock). required: nothing is changed
        whose pending reactions cannot be written.
        """
        self.required = required
        self.notes: list[str] = []
        self._looking = looking
        self.folder = state_dir
        self._path = os.path.join(state_dir, NAME)
        self._lock = Lock()  # states may run side by side
        self._connection: sqlite3.Connection | None = None
        self._patience: database.Patience | None = None
        self._is_read = False
        self._of_reactor: dict[str, list[Audience]] = {}
        self._of_source: dict[str, list[Audience]] = {}  # those of this run
        self._open: set[Audience] = set()
        self._told: dict[tuple[Audience, ...], str] = {}  # what `PendingReaction.sources` says
        self._numbers = count(1)
        self._written: set[Audience] = set()
        self._same: list[tuple[int, int]] = []  # audiences in the file: the first one, another one

    def record(self, changes: Iterable[Change]) -> None:
        """Record durably what has to be reacted to. Raises OSError when that cannot be done."""
        with self._lock:
            self._read()
            self._told.clear()
            changes = [Change(change.audience, *storable_row(change[1:])) for change in changes]
            new = [change for change in changes if change.source not in change.audience.changes]
            if not new:
                return
            for change in new:
                audience = change.audience
                if not audience.number:
                    audience.number = next(self._numbers)
                    self._add(audience)
                audience.changes[change.source] = change
                self._open.add(audience)
                self._of_source.setdefault(change.source, []).append(audience)
            unwritten = {
                change.audience: None for change in new if change.audience not in self._written
            }
            reactors = [
                (audience.number, audience.kind, *reactor)
                for audience in unwritten
                for reactor in audience.reactors.items()
            ]
            with self._writing("FULL") as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO reactors VALUES (?, ?, ?, ?)", reactors
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?, ?)",
                    [(change.audience.number, *change[1:]) for change in new],
                )
            self._written.update(unwritten)

    def _add(self, audience: Audience) -> None:
        for reactor in audience.reactors:
            self._of_reactor.setdefault(reactor, []).append(audience)

    def has_any(self) -> bool:
        """Return whether any reaction is pending, or that cannot be read."""
        try:
            self._read()
            return bool(self._open)
        except OSError:
            self._is_read = False  # whoever asks for them is told
            return True

    def has(self, reactor: str) -> bool:
        """Return whether reactions of one reactor (a tag) are pending."""
        with self._lock:
            return bool(self._owing(storable(reactor)))

    def pending(self, reactor: str) -> tuple[PendingReaction, ...]:
        """The pending reactions of one reactor, each kind once."""
        with self._lock:
            return tuple(self._pending(storable(reactor)))

    def _pending(self, reactor: str) -> Iterator[PendingReaction]:
        by_kind: dict[str, list[Audience]] = {}
        for audience in self._owing(reactor):
            by_kind.setdefault(audience.kind, []).append(audience)
        for kind, audiences in by_kind.items():
            _, source, run, time, at = next(iter(audiences[0].changes.values()))
            place, sources = audiences[0].reactors[reactor] or at, self._sources(tuple(audiences))
            yield PendingReaction(reactor, kind, source, run, time, place, sources)

    def _sources(self, audiences: tuple[Audience, ...]) -> str:
        if audiences not in self._told:
            changes = chain.from_iterable(each.changes for each in audiences)
            self._told[audiences] = some_of([*map(named, dict.fromkeys(changes))])
        return self._told[audiences]

    def due(self, reactor: str, waits: Callable[[str, str, str], bool]) -> set[str]:
        """The kinds of a reactor's pending reactions. waits: tells of a kind, a source and a run
        whether that reaction is not to be done now.
        """
        with self._lock:
            return {
                audience.kind
                for audience in self._owing(storable(reactor))
                if not all(
                    waits(audience.kind, change.source, change.run)
                    for change in reversed(audience.changes.values())
                )
            }

    def _owing(self, reactor: str, kinds: Collection[str] = ()) -> list[Audience]:
        """The audiences in which a reactor has yet to react, those of earlier runs first."""
        self._read()
        return [
            audience
            for audience in self._of_reactor.get(reactor, ())
            if audience in self._open
            and reactor in audience.reactors
            and (not kinds or audience.kind in kinds)
        ]

    def settle(self, reactor: str, kinds: Collection[str] = ()) -> None:
        """Forget the reactions of a reactor, of some kinds. Raises OSError when that cannot be
        written.
        """
        with self._lock:
            reactor = storable(reactor)
            if audiences := self._owing(reactor, kinds):
                self._sync()
                for audience in audiences:
                    del audience.reactors[reactor]
                of_earlier = [(reactor, each.kind) for each in audiences if not each.number]
                rows = [(each.number, reactor) for each in audiences if each.number]
                closed = [(each.number,) for each in audiences if not each.reactors]
                self._forget(
                    audiences,
                    ("debts WHERE reactor = ? AND kind = ?", of_earlier),
                    ("reactors WHERE audience = ? AND reactor = ?", rows),
                    ("changes WHERE audience = ?", closed),
                )

    def withdraw(self, source: str, kinds: Collection[str] = ()) -> None:
        """Forget the reactions to what this run has recorded of a source, of some kinds. Raises
        OSError when that cannot be written.
        """
        with self._lock:
            source = storable(source)
            of_source = self._of_source.get(source, ())
            audiences = [
                audience
                for audience in of_source
                if audience in self._open and (not kinds or audience.kind in kinds)
            ]
            if audiences:
                self._sync()
                self._told.clear()
                for audience in audiences:
                    del audience.changes[source]
                self._of_source[source] = [each for each in of_source if each not in audiences]
                rows = [(each.number, source) for each in audiences]
                self._forget(audiences, ("changes WHERE audience = ? AND source = ?", rows))

    def _sync(self) -> None:
        if problem := FOLDER_SYNCS.commit():  # the reaction may be due once more
            raise OSError(problem)

    def _forget(
        self, audiences: Iterable[Audience], *rows: tuple[str, Sequence[tuple[object, ...]]]
    ) -> None:
        self._open.difference_update(each for each in audiences if not each.is_open)
        with self._writing("NORMAL") as connection:
            for condition, values in rows:
                if values:
                    connection.executemany(f"DELETE FROM {condition}", values)

    def all(self) -> tuple[PendingReaction, ...]:
        with self._lock:
            self._read()
            return tuple(pending for each in self._of_reactor for pending in self._pending(each))

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        # other OSErrors where nobody may look
        with suppress(FileNotFoundError, NotADirectoryError):
            if trusted_folder(self.folder, make=False).exists(NAME):
                self._read_file()

    def _read_file(self) -> None:
        try:
            connection, version = self._connected()
            with closing(connection):  # who only looks leaves none of SQLite's files beside it
                found = [*_one_by_one(connection)] if version else []
                found += self._together(connection) if version > 1 else []
        except sqlite3.Error as error:
            if self._looking or type(error) is not sqlite3.DatabaseError:
                raise OSError(database.described(self._path, error)) from None
            self._set_aside(error)
            return
        for audience in found:
            self._add(audience)
        self._open.update(each for each in found if each.is_open)

    def _together(self, connection: sqlite3.Connection) -> Iterable[Audience]:
        """The audiences of earlier runs, each once."""
        reactors: dict[int, tuple[str, dict[str, str]]] = {}
        for number, kind, reactor, place in connection.execute(_REACTORS):
            reactors.setdefault(number, (kind, {}))[1][reactor] = place
        self._numbers = count(max(reactors, default=0) + 1)
        found: dict[tuple[object, ...], Audience] = {}
        by_number = {}
        for number, (kind, places) in reactors.items():
            audience = found.setdefault((kind, *places.items()), Audience(kind, places))
            if audience.number:
                self._same.append((audience.number, number))
            audience.number = audience.number or number
            by_number[number] = audience
        for number, *change in connection.execute(_CHANGES):
            if number in by_number:
                audience = by_number[number]
                audience.changes.setdefault(change[0], Change(audience, *change))
        return found.values()

    def _set_aside(self, error: Exception) -> None:
        """Make room for a new file; what the old one held is lost, which `notes` tells."""
        aside = trusted_folder(self.folder).set_aside(NAME)
        self.notes.append(
            f"the list of pending reactions is damaged ({error}); it is set aside as"
            f" {aside}. Restarts that are still due from earlier runs are not known"
        )

    @contextmanager
    def _writing(self, synchronous: str) -> Iterator[sqlite3.Connection]:
        try:
            if self._connection is None:
                self._connection = self._prepared()
            self._connection.execute(f"PRAGMA synchronous={synchronous}")
            with self._connection:
                yield self._connection
        except sqlite3.Error as error:
            raise OSError(database.described(self._path, error)) from None

    def _prepared(self) -> sqlite3.Connection:
        """A connection to the file, in which each audience of earlier runs is there once."""
        connection, version = self._connected()
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            query = "SELECT EXISTS (SELECT * FROM reactors)"
            if version < VERSION or connection.execute(query).fetchone()[0]:
                connection.executescript(_PREPARE)
                with connection:
                    for same in self._same:
                        for statement in _MERGE:
                            connection.execute(statement, same[-statement.count("?") :])
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> tuple[sqlite3.Connection, int]:
        """A connection, and the version of the format."""
        path = trusted_folder(self.folder).database(NAME)
        self._patience = self._patience or database.Patience()
        connection = database.connect(path, self._patience)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise OSError(database.newer_format(self._path, version, VERSION))
        except BaseException:
            connection.close()
            raise
        return connection, version


def _one_by_one(connection: sqlite3.Connection) -> Iterable[Audience]:
    """What version 1 has left, by the reactors and kinds."""
    found: dict[tuple[str, str], Audience] = {}
    for reactor, kind, *change in connection.execute(_ONE_BY_ONE):
        audience = found.setdefault((reactor, kind), Audience(kind, {reactor: ""}))
        audience.changes.setdefault(change[0], Change(audience, *change))
    return found.values()
