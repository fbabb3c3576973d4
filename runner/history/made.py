# SPDX-License-Identifier: Apache-2.0
"""What runs made on the machine and who declared it last: the long-term part of the history.

A thing has one row, for as long as it may be there: it outlives the runs that age removes. Paths
come from the snapshots of those who wrote them, whatever state that was; everything else from the
states (`OPPOSITE` of their modules).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache

from runner.history.snapshots import Snapshot, without_target
from runner.model import plain_values
from runner.model.made import Thing
from runner.model.records import Record
from runner.model.result import Result
from runner.model.stdlib import dumps
from runner.support.files.text import storable, storable_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    Write = Callable[[str, tuple[Any, ...]], None]  # a statement and its values

_COLUMNS = (
    "thing, run, made_at, position, states, state, id, sls, place, removal, arguments, looks,"
    " snapshot, existed, tree"
)


class Row(Record):
    """A thing as the history has it.

    states: those that made or changed it, "file /etc/motd". state: the function of the first.
    removal: the state function that removes it; empty: of a path its kind says it, of anything else
    nothing does. looks: the arguments with which the state looks at it. snapshot: how the last run
    left a path. existed: it was there before runner first touched it. tree: where the highstate was
    compiled from that declared it.
    """

    thing: str
    run: int
    made_at: float
    position: int
    states: tuple[str, ...]
    state: str
    id: str
    sls: str
    place: str
    removal: str
    arguments: Mapping[str, Any]
    looks: Mapping[str, Any]
    snapshot: Snapshot | None
    existed: bool
    tree: str

    @property
    def path(self) -> str:
        """The path that it is; empty for anything else."""
        return self.thing.removeprefix(PATH) if self.thing.startswith(PATH) else ""


PATH = "path "  # what things that are paths begin with
MORE_STATES = "states = states || ?"  # what adds the name of one state, after a line end
# what is known of a thing: whether it existed, who removed it, its states
Known = tuple[object, object, dict[str, None]]


class MadeThings:
    """The things of one run, written as its states end."""

    def __init__(self, number: int, highstate: bool, tree: str) -> None:
        self._run, self._highstate, self._tree = number, highstate, tree
        self._position = 0
        self._paths: dict[str, dict[str, str]] = {}  # tag -> path -> its type before
        self._first: dict[str, str] = {}  # path -> its type before any state of the run
        # what this run wrote of things: whether they existed, who removed them, their states
        self._written: dict[str, Known] = {}
        self._has_past: bool | None = None  # there are things of former runs; None: not known
        self._left: dict[str, int | None] = {}  # who removed other things, None: they are there

    def touched(self, tag: str, snapshot: Snapshot) -> None:
        """Note the former state of a path that a state is about to alter."""
        paths = self._paths.setdefault(tag, {})
        paths.setdefault(snapshot.path, snapshot.type)
        self._first.setdefault(f"{PATH}{snapshot.path}", snapshot.type)
        if snapshot.type == "moved":
            paths.setdefault(snapshot.target, snapshot.type)  # what lies there was there before

    def record(
        self,
        connection: sqlite3.Connection,
        result: Result,
        tag: str,
        place: str,
        left: Iterable[Snapshot],
        write: Write,
    ) -> list[Snapshot]:
        """Write what a state made, changed and removed. connection: to look at former runs. tag,
        place: of the state, and where it stands. left: how it left paths; those of them are
        returned that are not written by this.
        """
        others = {storable(f"{PATH}{snapshot.path}"): snapshot for snapshot in left}
        paths = self._paths.pop(tag, {})
        things = [thing for thing in result.things if thing.function or thing.removed]
        if paths and not things:
            for path, before in paths.items():
                things.append(Thing(f"{PATH}{path}", existed=before != "none"))
        written = set()
        for thing in things or result.things:
            name = storable(thing.name)
            old = self._known(connection, name)
            if thing.removed:
                self._removed(name, old, write)
            else:
                self._put(result, place, thing, old, others.get(name), write)
                written.add(name)
        return [snapshot for name, snapshot in others.items() if name not in written]

    def _known(self, connection: sqlite3.Connection, thing: str) -> Known | None:
        """Return what the history says of a thing; None for nothing."""
        if self._has_past is None:
            row = connection.execute("SELECT 1 FROM made LIMIT 1").fetchone()
            self._has_past = row is not None
        if thing in self._written or not self._has_past:
            return self._written.get(thing)
        query = "SELECT existed, removed, states FROM made WHERE thing = ?"
        row = connection.execute(query, (thing,)).fetchone()
        if row is None:
            return None
        return row[0], self._left.get(thing, row[1]), dict.fromkeys(row[2].split("\n"))

    def _put(
        self,
        result: Result,
        place: str,
        thing: Thing,
        old: Known | None,
        left: Snapshot | None,
        write: Write,
    ) -> None:
        """Write what a state made or changed. old: what is known of it. left: the path that it is,
        as the state left it.
        """
        chunk = result.chunk
        name = storable(thing.name)
        # a state that ran beside this one may have made it meanwhile
        existed = thing.existed and self._first.get(thing.name) != "none"
        state, new = storable(f"{chunk.state} {chunk.name}"), True
        states: dict[str, None] = dict.fromkeys(state.split("\n"))
        if old is not None:
            # where runner had removed it, somebody else has made it again
            existed = bool(old[0]) or (thing.existed and old[1] is not None)
            new = not thing.existed
        self._position += 1
        values: dict[str, Any] = {
            "existed": int(existed),
            "removed": None,
            "removal": thing.function,
            "arguments": _text(thing.arguments) if thing.arguments else "{}",
            "looks": _text(thing.check) if thing.check else "{}",
        }
        if old is not None and not new:  # a thing may be of a thousand states
            states, lines = old[2], states
            if more := [line for line in lines if line not in states]:
                values[MORE_STATES] = "".join(f"\n{line}" for line in more)
                states |= lines
        else:
            values |= {
                "states": state,
                "run": self._run,
                "made_at": time.time(),
                "position": self._position,
                "state": chunk.function,
                "id": chunk.id,
                "sls": chunk.sls,
                "place": place,
            }
        if left is not None:
            values |= self._as_left(left)
        if self._highstate:
            values |= {"highstate": 1, "tree": self._tree}
        row = storable_row((*values.values(), name))
        write(_statement(old is not None, *values), row)
        self._written[name] = (values["existed"], values["removed"], states)

    def _removed(self, thing: str, old: Known | None, write: Write) -> None:
        """Note that runner removed something; what it had not made was there before."""
        query = (
            "INSERT INTO made (thing, run, existed, removed) VALUES (?, ?, 1, ?)"
            " ON CONFLICT (thing) DO UPDATE SET removed = excluded.removed"
        )
        write(query, (thing, self._run, self._run))
        existed, _, states = old or (1, None, {"": None})
        self._written[thing] = (existed, self._run, states)

    def left(self, snapshots: Iterable[Snapshot], write: Write) -> None:
        """Note how the run left the paths that it altered."""
        for snapshot in snapshots:
            name = storable(f"{PATH}{snapshot.path}")
            values = self._as_left(snapshot)
            removed = values["removed"]
            query = "UPDATE made SET removed = ?, snapshot = ? WHERE thing = ?"
            write(query, (removed, values["snapshot"], name))
            if name in self._written:
                existed, _, states = self._written[name]
                self._written[name] = (existed, removed, states)
            else:
                self._left[name] = removed

    def _as_left(self, snapshot: Snapshot) -> dict[str, Any]:
        """The columns that say how the run left a path."""
        if snapshot.type == "none":
            return {"removed": self._run, "snapshot": None}
        return {"removed": None, "snapshot": dumps(without_target(snapshot)._asdict())}


@cache
def _statement(is_known: bool, *columns: str) -> str:
    """What writes columns of a thing, whose name is the last value."""
    if is_known:
        sets = (column if column == MORE_STATES else f"{column} = ?" for column in columns)
        return f"UPDATE made SET {', '.join(sets)} WHERE thing = ?"
    marks = ", ".join("?" * (len(columns) + 1))
    return f"INSERT INTO made ({', '.join([*columns, 'thing'])}) VALUES ({marks})"


def _text(value: Any) -> str:
    return dumps(plain_values.plain(value))


# ---------------------------------------------------------------- what is declared


def adopt(connection: sqlite3.Connection, declared: Collection[str], tree: str) -> None:
    """Note that a highstate declares what other runs made."""
    query = "SELECT thing, states FROM made WHERE NOT highstate AND removed IS NULL"
    for thing, states in connection.execute(query).fetchall():
        if is_declared(thing, states.split("\n"), declared):
            update = "UPDATE made SET highstate = 1, tree = ? WHERE thing = ?"
            connection.execute(update, (tree, thing))


def is_declared(thing: str, states: Iterable[str], declared: Collection[str]) -> bool:
    """Return whether the states of a tree, by the names of what they declare, have a thing, or a
    path that one of these states made.
    """
    if thing in declared:
        return True
    return thing.startswith(PATH) and any(state in declared for state in states)


def counted(connection: sqlite3.Connection, declared: Collection[str], tree: str) -> int:
    """The number of things of a tree that no state of its highstate declares any more, now that it
    has ended.
    """
    adopt(connection, declared, tree)
    query = (
        f"SELECT thing, states FROM made WHERE {_ORPHANED} AND tree = ? AND NOT existed"
        f" AND (removal != '' OR thing GLOB '{PATH}*')"
    )
    rows = connection.execute(query, (tree,))
    return sum(not is_declared(thing, states.split("\n"), declared) for thing, states in rows)


# declared by a highstate, and there as far as the history knows
_ORPHANED = """
    highstate AND (removed IS NULL OR removed IN (SELECT id FROM runs WHERE undone IS NOT NULL))
    AND run NOT IN (SELECT id FROM runs WHERE undone IS NOT NULL AND NOT not_restored)
"""


def undeclared(connection: sqlite3.Connection, declared: Collection[str]) -> Iterator[Row]:
    """Yield the things that no state declares any more, the last made first; a folder after what
    is in it.
    """
    query = f"SELECT {_COLUMNS} FROM made WHERE {_ORPHANED} ORDER BY run DESC, position DESC"
    rows = map(_row, connection.execute(query).fetchall())
    found = [row for row in rows if not is_declared(row.thing, row.states, declared)]
    last = {row.path: number for number, row in enumerate(found) if row.path}
    for number, row in enumerate(found):  # states that ran side by side end in any order
        above = row.path
        while above := above.rpartition("/")[0]:
            if above in last:
                last[above] = max(last[above], number)
    order = [(last.get(row.path, number), -row.path.count("/")) for number, row in enumerate(found)]
    for number in sorted(range(len(found)), key=order.__getitem__):
        yield found[number]


def _row(values: tuple[Any, ...]) -> Row:
    row = dict(zip(_COLUMNS.split(", "), values, strict=True))
    snapshot = json.loads(row["snapshot"]) if row["snapshot"] else None
    row |= {
        "states": tuple(row["states"].split("\n")),
        "arguments": json.loads(row["arguments"]),
        "looks": json.loads(row["looks"]),
        "snapshot": Snapshot(**snapshot) if snapshot else None,
        "existed": bool(row["existed"]),
    }
    return Row(**row)


def forget(connection: sqlite3.Connection, things: Iterable[str]) -> None:
    """Drop things that are not there any more."""
    for thing in things:
        connection.execute("DELETE FROM made WHERE thing = ?", (storable(thing),))


def tree_exists(tree: str) -> bool:
    """Return whether the folders of a tree that a highstate came from are still there."""
    return any(os.path.isdir(folder) for folder in json.loads(tree)[0])
