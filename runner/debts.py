"""Reactions owed, durable: a restart that was due when a run was killed is done by the next one.

The port that execute.py sees is `Debts`; `Ledger` keeps them in an SQLite file of their own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Protocol

from runner.model import Debt

if TYPE_CHECKING:
    import sqlite3

VERSION = 1
_TABLE = """
CREATE TABLE IF NOT EXISTS debts (
    reactor TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, run TEXT NOT NULL, time TEXT NOT NULL,
    place TEXT NOT NULL, PRIMARY KEY (reactor, kind, source)
)
"""


class Debts(Protocol):
    """What the engine needs of the store of debts."""

    def owe(self, debts: Iterable[Debt]) -> None:
        """Write debts down; durable when it returns. Raises OSError when that cannot be done."""
        ...

    def owed(self, reactor: str) -> tuple[Debt, ...]:
        """The debts of one reactor (a tag)."""
        ...

    def settle(
        self, reactor: str | None = None, source: str | None = None, kinds: Collection[str] = (), run: str | None = None
    ) -> None:
        """Forget the debts of a reactor, those that come from a source, of some kinds, of one run."""
        ...

    def all(self) -> tuple[Debt, ...]: ...


class NoDebts:
    """For dry runs of a machine without a ledger, and for tests."""

    def owe(self, debts: Iterable[Debt]) -> None:
        return None

    def owed(self, reactor: str) -> tuple[Debt, ...]:
        return ()

    def settle(
        self, reactor: str | None = None, source: str | None = None, kinds: Collection[str] = (), run: str | None = None
    ) -> None:
        return None

    def all(self) -> tuple[Debt, ...]:
        return ()


class Ledger:
    """Debts in `state_dir/debts.sqlite`. The file is read once; it is made when the first debt is written."""

    def __init__(self, state_dir: str) -> None:
        self._path = os.path.join(state_dir, "debts.sqlite")
        self._lock = threading.Lock()  # states may run side by side
        self._connection: sqlite3.Connection | None = None
        self._known: dict[tuple[str, str, str], Debt] | None = None

    def owe(self, debts: Iterable[Debt]) -> None:
        with self._lock:
            self._owe(debts)

    def _owe(self, debts: Iterable[Debt]) -> None:
        import sqlite3

        rows = [debt for debt in debts if (debt.reactor, debt.kind, debt.source) not in self._debts()]
        if not rows:
            return
        try:
            connection = self._open()
            connection.execute("PRAGMA synchronous=FULL")
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO debts VALUES (?, ?, ?, ?, ?, ?)",
                    [(row.reactor, row.kind, row.source, row.run, row.time, row.place) for row in rows],
                )
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from None
        finally:
            self._debts().update({(row.reactor, row.kind, row.source): row for row in rows})

    def owed(self, reactor: str) -> tuple[Debt, ...]:
        known = self._debts()
        return tuple(debt for debt in known.values() if debt.reactor == reactor) if known else ()

    def settle(
        self, reactor: str | None = None, source: str | None = None, kinds: Collection[str] = (), run: str | None = None
    ) -> None:
        gone = [
            key
            for key, debt in self._debts().items()
            if reactor in (None, debt.reactor)
            and source in (None, debt.source)
            and run in (None, debt.run)
            and (not kinds or debt.kind in kinds)
        ]
        if not gone:
            return
        import sqlite3

        for key in gone:
            del self._debts()[key]
        try:
            connection = self._open()
            connection.execute("PRAGMA synchronous=NORMAL")
            with connection:
                connection.executemany("DELETE FROM debts WHERE reactor = ? AND kind = ? AND source = ?", gone)
        except sqlite3.Error as error:
            raise OSError(f"{self._path}: {error}") from None

    def all(self) -> tuple[Debt, ...]:
        return tuple(self._debts().values())

    def _debts(self) -> dict[tuple[str, str, str], Debt]:
        if self._known is None:
            self._known = {}
            if os.path.exists(self._path):
                import sqlite3

                try:
                    for row in self._open().execute("SELECT reactor, kind, source, run, time, place FROM debts"):
                        debt = Debt(*row)
                        self._known[debt.reactor, debt.kind, debt.source] = debt
                except sqlite3.Error as error:
                    raise OSError(f"{self._path}: {error}") from None
        return self._known

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            import sqlite3

            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            self._connection = sqlite3.connect(self._path, timeout=10, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)
            self._connection.execute(f"PRAGMA user_version={VERSION}")
            os.chmod(self._path, 0o600)
        return self._connection
