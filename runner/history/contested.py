# SPDX-License-Identifier: Apache-2.0
"""States of one tree that undo each other: whether what a state changes again is what another one
had changed since, and nobody else.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from runner.model.records import Record

if TYPE_CHECKING:
    import sqlite3


class Contest(Record):
    """Another state that changes the same part of the machine in each run. run: when it did; name:
    of the part.
    """

    tag: str
    run: int
    name: str


def contested(
    connection: sqlite3.Connection, tag: str, number: int, since: int, known: Collection[str]
) -> Contest | None:
    """The other state that changed what a state changes in this run, after the run in which
    it was content; None where somebody else changed it, or nobody.

    number: of this run; since: of that one. known: the states of this run whose own change was such
    a one: what they changed before this state is part of the same contest.
    """
    for kind in (_PATHS, _STATES):
        rows = connection.execute(kind.others, {"tag": tag, "run": number, "since": since})
        as_left: dict[tuple[Any, ...], bool] = {}  # asked once, however many states altered it
        for run, other, *name in rows.fetchall():
            part = tuple(name)
            if run != number and part not in as_left:
                as_left[part] = kind.is_as_left(connection, name, number)
            if other in known if run == number else as_left[part]:
                return Contest(other, run, " ".join(map(os.fsdecode, name)))
    return None


class _KeptKind:
    """Parts of the machine that the history keeps in tables of their own: as a run found them, as
    it left them.
    """

    def __init__(self, found: str, left: str, names: str, values: str) -> None:
        """names: the columns that tell one part from another; values: those that say how it is."""
        same = " AND ".join(f"other.{name} = own.{name}" for name in names.split(", "))
        own = ", ".join(f"own.{name}" for name in names.split(", "))
        self.others = f"""
            SELECT MAX(other.run), other.tag, {own}
            FROM (SELECT DISTINCT {names} FROM {found} WHERE tag = :tag AND run = :run) AS own
            CROSS JOIN {found} AS other ON {same} AND other.run >= :since
            WHERE other.tag NOT IN (:tag, '') GROUP BY {own}, other.tag ORDER BY 1 DESC
        """
        this = " AND ".join(f"{name} = ?" for name in names.split(", "))
        self._queries = (
            f"SELECT {values} FROM {found} WHERE {this} AND run = ? ORDER BY sequence LIMIT 1",
            f"SELECT {values} FROM {left} WHERE {this} AND run < ? ORDER BY run DESC LIMIT 1",
        )

    def is_as_left(self, connection: sqlite3.Connection, name: list[Any], number: int) -> bool:
        """Return whether a run found a part as the last one that altered it had left it."""
        found, left = (
            connection.execute(query, (*name, number)).fetchone() for query in self._queries
        )
        return found is not None and found == left


_PATHS = _KeptKind("kept", "left_behind", "path", "type, mode, uid, gid, target, content")
_STATES = _KeptKind("kept_states", "left_states", "kind, name", "content")
