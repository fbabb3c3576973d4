# SPDX-License-Identifier: Apache-2.0
"""Pending reactions, durable: a restart that was due when a run was killed is done by the next one.

They are kept in an SQLite file of their own.
"""

from __future__ import annotations

import os
from contextlib import suppress

from runner.model.result import PendingReaction
from runner.model.stdlib import Lock
from runner.support.files import database
from runner.support.files.folder_syncs import FOLDER_SYNCS
from runner.support.files.text import storable
from runner.support.files.trusted_folder import trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Mapping

_Key = tuple[str, str, str]  # reactor, kind, source
NAME = "debts.sqlite"
VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS debts (
    reactor TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL,
    time TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (reactor, kind, source)
)
"""


class _ReactionIndex:
    """Pending reactions, found by their reactors and by their sources."""

    def __init__(self, pending_reactions: Iterable[PendingReaction] = ()) -> None:
        self.pending_reactions: dict[_Key, PendingReaction] = {}
        self._of: dict[
            tuple[int, str], dict[_Key, PendingReaction]
        ] = {}  # (0, reactor) and (2, source): their places in a key
        self.add(pending_reactions)

    def add(self, pending_reactions: Iterable[PendingReaction]) -> None:
        for pending in pending_reactions:
            key = (pending.reactor, pending.kind, pending.source)
            for index in (
                self.pending_reactions,
                *(self._of.setdefault((place, key[place]), {}) for place in (0, 2)),
            ):
                index[key] = pending

    def remove(self, keys: Iterable[_Key]) -> None:
        for key in keys:
            for index in (
                self.pending_reactions,
                *(self._of[place, key[place]] for place in (0, 2)),
            ):
                del index[key]

    def of(self, reactor: str | None, source: str | None) -> Mapping[_Key, PendingReaction]:
        """The reactions of a reactor, or else those to a source."""
        return self._of.get((2, source or "") if reactor is None else (0, reactor), {})


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
        self._known: _ReactionIndex | None = None

    def record(self, pending_reactions: Iterable[PendingReaction]) -> None:
        """Record pending reactions durably. Raises OSError when that cannot be done."""
        with self._lock:
            self._record(pending_reactions)

    def _record(self, pending_reactions: Iterable[PendingReaction]) -> None:
        import sqlite3

        written = (PendingReaction(*map(storable, pending)) for pending in pending_reactions)
        rows = [
            pending
            for pending in written
            if (pending.reactor, pending.kind, pending.source)
            not in self._index().pending_reactions
        ]
        if not rows:
            return
        try:
            connection = self._open()
            connection.execute("PRAGMA synchronous=FULL")
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO debts VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (row.reactor, row.kind, row.source, row.run, row.time, row.place)
                        for row in rows
                    ],
                )
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from None
        finally:
            self._index().add(rows)

    def has_any(self) -> bool:
        """Return whether any reaction is pending, or that cannot be read."""
        try:
            return bool(self._index().pending_reactions)
        except OSError:
            self._known = None  # whoever asks for them is told
            return True

    def pending(self, reactor: str) -> tuple[PendingReaction, ...]:
        """The pending reactions of one reactor (a tag)."""
        return tuple(self._index().of(storable(reactor), None).values())

    def settle(
        self,
        reactor: str | None = None,
        source: str | None = None,
        kinds: Collection[str] = (),
        run: str | None = None,
    ) -> None:
        """Forget the reactions of a reactor, those to a source, of some kinds, of one run. Raises
        OSError when that cannot be written.
        """
        if not self._index().pending_reactions:
            return
        reactor, source = storable(reactor), storable(source)
        settled = [
            key
            for key, pending in self._index().of(reactor, source).items()
            if source in (None, pending.source)
            and run in (None, pending.run)
            and (not kinds or pending.kind in kinds)
        ]
        if not settled:
            return
        import sqlite3

        if problem := FOLDER_SYNCS.commit():  # the reaction may be due once more
            raise OSError(problem)
        self._index().remove(settled)
        try:
            connection = self._open()
            connection.execute("PRAGMA synchronous=NORMAL")
            with connection:
                connection.executemany(
                    "DELETE FROM debts WHERE reactor = ? AND kind = ? AND source = ?", settled
                )
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from None

    def all(self) -> tuple[PendingReaction, ...]:
        return tuple(self._index().pending_reactions.values())

    def _index(self) -> _ReactionIndex:
        if self._known is None:
            self._known = _ReactionIndex()
            # other OSErrors where nobody may look
            with suppress(FileNotFoundError, NotADirectoryError):
                if trusted_folder(self.folder, make=False).exists(NAME):
                    self._read()
        return self._known

    def _read(self) -> None:
        import sqlite3

        try:
            query = "SELECT reactor, kind, source, run, time, place FROM debts"
            reactions = [PendingReaction(*row) for row in self._open().execute(query)]
        except sqlite3.Error as error:
            if self._looking or type(error) is not sqlite3.DatabaseError:
                raise OSError(f"{self._path}: {error}") from None
            self._set_aside(error)
            return
        finally:
            self._close()
        self._known = _ReactionIndex(reactions)

    def _set_aside(self, error: Exception) -> None:
        """Make room for a new file; what the old one held is lost, which `notes` tells."""
        self._close()
        aside = trusted_folder(self.folder).set_aside(NAME)
        self.notes.append(
            f"the list of pending reactions is damaged ({error}); it is set aside as"
            f" {aside}. Restarts that are still due from earlier runs are not known"
        )

    def _close(self) -> None:
        """Leave none of SQLite's files beside the database: who only looks writes nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            path = trusted_folder(self.folder).database(NAME)
            self._patience = self._patience or database.Patience()
            connection = database.connect(path, self._patience)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise OSError(database.newer_format(self._path, version, VERSION))
        connection.execute("PRAGMA journal_mode=WAL")
        if version < VERSION:
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version={VERSION}")
