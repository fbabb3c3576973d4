# SPDX-License-Identifier: Apache-2.0
"""What the history kept of a run for undo: how things were before it, and how it left them."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.history.contents import ContentStore
from runner.history.snapshots import Snapshot
from runner.model.errors import RunnerError
from runner.model.former_state import FormerState
from runner.model.records import Record
from runner.support.redaction import HIDDEN

if TYPE_CHECKING:
    import sqlite3

COLUMNS = "path, type, mode, uid, gid, target, content, attributes"
LONGEST_CALL = 120  # characters of a command that undo knows nothing of
# a look for each run until one is found, not at all that was ever kept
ALTERED = (
    "(EXISTS (SELECT 1 FROM kept WHERE kept.run = runs.id)"
    " OR EXISTS (SELECT 1 FROM kept_states WHERE kept_states.run = runs.id))"
)
_INTERRUPTED = """
    SELECT {0} FROM {1} AS own JOIN runs ON runs.id = own.run
    WHERE own.run = ? AND own.tag != '' AND (runs.outcome IS NULL OR runs.outcome = 'killed')
    AND NOT EXISTS (SELECT 1 FROM results WHERE results.tag = own.tag AND results.run = own.run)
"""


def silent_tags(connection: sqlite3.Connection, run: int) -> set[str]:
    """The states of a run that have said that nothing of what they do is shown: `no_log`."""
    query = "SELECT DISTINCT tag FROM changers WHERE run = ? AND target = ?"
    return {tag for (tag,) in connection.execute(query, (run, HIDDEN))}


class Kept(Record):
    """One record of what a changer was about to alter. call: the number of that call in the run.
    silent: nothing of it is shown.
    """

    sequence: int
    call: int
    tag: str
    was: Snapshot | FormerState
    silent: bool = False


class KeptRun:
    """What was kept of one run, or of what it did to a path and below it."""

    def __init__(
        self, connection: sqlite3.Connection, state_dir: str, number: int, command: str, path: str
    ) -> None:
        self.number, self.command, self.path = number, command, path
        self.store = ContentStore(state_dir, lambda: connection)
        self._watchers: dict[str, list[str]] = {}  # by their contents
        self._connection = connection
        self.lost: dict[tuple[str, str], str] = {}  # former states that are not there, and why

    @classmethod
    def named(
        cls, connection: sqlite3.Connection, state_dir: str, number: str | None, path: str = ""
    ) -> KeptRun:
        """A run by its number, or the last that altered something. Raises RunnerError when there is
        none.
        """
        return cls(connection, state_dir, *_find(connection, number, path), path)

    def kept(self) -> Iterator[Kept]:
        """The records, the last first; of each thing the earliest counts: what was there before the
        run. A move counts each time, and what is at its ends is another thing from then on.
        """
        moves = Counter[str]()  # so far, of what was at a path or came to it
        seen: set[tuple[Any, ...]] = set()
        earliest: list[Kept] = []
        for record in sorted([*self._paths(), *self._states()]):
            if (key := _key(record, moves)) not in seen:
                seen.add(key)
                earliest.append(record)
        yield from reversed(earliest)

    def _paths(self) -> Iterator[Kept]:
        query = f"SELECT sequence, call, tag, {COLUMNS} FROM kept WHERE run = ?"
        for sequence, call, tag, *row in self._connection.execute(query, (self.number,)):
            snapshot = decoded(row, self.store)
            if self._is_meant(snapshot):
                yield Kept(sequence, call, tag, snapshot, tag in self._silent)

    def _is_meant(self, snapshot: Snapshot) -> bool:
        below = self.path.rstrip("/") + "/"
        ends = (snapshot.path, snapshot.target) if snapshot.type == "moved" else (snapshot.path,)
        return not self.path or any(end == self.path or end.startswith(below) for end in ends)

    def _states(self) -> Iterator[Kept]:
        query = "SELECT sequence, call, tag, kind, name, content FROM kept_states WHERE run = ?"
        rows = () if self.path else self._connection.execute(query, (self.number,))
        for sequence, call, tag, kind, name, content in rows:
            state = self._stored(content)
            if state is None:
                usual = "what it was before was not kept (the store is not whole)"
                self.lost[kind, name] = self.store.why_lacking(content, usual)
            was = FormerState(kind, name, state or {})
            yield Kept(sequence, call, tag, was, tag in self._silent)

    @cached_property
    def _silent(self) -> set[str]:
        return silent_tags(self._connection, self.number)

    def _stored(self, content: str) -> dict[str, Any] | None:
        data = self.store.get(content)
        if data is None:
            return None
        state: dict[str, Any] = json.loads(data)
        return state

    @cached_property
    def left_paths(self) -> dict[str, Snapshot]:
        """The paths as the run left them, as far as it is known."""
        query = f"SELECT {COLUMNS} FROM left_behind WHERE run = ?"
        rows = self._connection.execute(query, (self.number,))
        altered = self._connection.execute(_INTERRUPTED.format("own.path", "kept"), (self.number,))
        unknown = {os.fsdecode(path) for (path,) in altered}
        left = (decoded(row, self.store) for row in rows)
        return {snapshot.path: snapshot for snapshot in left if snapshot.path not in unknown}

    @cached_property
    def left_states(self) -> dict[tuple[str, str], dict[str, Any] | None]:
        """Other parts of the machine as the run left them, by kind and name, as far as it is
        known.
        """
        query = "SELECT kind, name, content FROM left_states WHERE run = ?"
        rows = self._connection.execute(query, (self.number,))
        left = {(kind, name): self._stored(content) for kind, name, content in rows}
        return {key: state for key, state in left.items() if key not in self.interrupted}

    @cached_property
    def interrupted(self) -> set[tuple[str, str]]:
        """What states had altered, by kind and name, when they were killed with the run: it noted
        how an earlier state had left that, at most.
        """
        query = _INTERRUPTED.format("own.kind, own.name", "kept_states")
        return set(self._connection.execute(query, (self.number,)))

    def made(self, kind: str, name: str) -> bool:
        """Return whether something was not there before the run."""
        earliest = self._earliest_states
        of_all = earliest.get((kind, ""))  # one record of all of a kind, such as packages
        return earliest.get((kind, name)) == {} or (of_all is not None and name not in of_all)

    @cached_property
    def _earliest_states(self) -> dict[tuple[str, str], Mapping[str, Any]]:
        former = [kept.was for kept in self.kept() if isinstance(kept.was, FormerState)]
        states = {(was.kind, was.name): was.state for was in former}
        return {key: state for key, state in states.items() if key not in self.lost}

    def removed(self, path: str) -> bool:
        """Return whether the run found nothing at a path that it had altered."""
        query = "SELECT 1 FROM kept WHERE run = ? AND path = ? AND type = 'none'"
        row = self._connection.execute(query, (self.number, os.fsencode(path))).fetchone()
        return row is not None

    def later_versions(self, path: str) -> Iterator[tuple[int, Snapshot]]:
        """The versions of a path that later runs found or left, with these runs, oldest first."""
        query = f"""
            SELECT run, {COLUMNS} FROM (
                SELECT run, sequence, {COLUMNS} FROM kept UNION ALL
                SELECT run, 1 << 60, {COLUMNS} FROM left_behind
            ) WHERE path = ? AND run > ? ORDER BY run, sequence
        """
        for run, *row in self._connection.execute(query, (os.fsencode(path), self.number)):
            yield run, decoded(row, self.store)

    def unknown_calls(self) -> tuple[str, ...]:
        """The calls of changers whose former state was not recorded."""
        query = """
            SELECT DISTINCT tag, function, target FROM changers
            WHERE run = ? AND (restorable = 0 OR (restorable IS NULL AND before = 'null'))
        """
        rows = self._connection.execute(query, (self.number,))
        return tuple(_call(*row) for row in rows)

    def watchers(self, tag: str) -> Iterator[str]:
        """The states that watched the one with a tag, each as JSON."""
        query = "SELECT content FROM watchers WHERE run = ? AND tag = ?"
        for (content,) in self._connection.execute(query, (self.number, tag)):
            if content not in self._watchers:
                said = json.loads(self.store.get(content) or b"[]")
                each_alone = said and isinstance(said[0], str)  # of former versions
                self._watchers[content] = list(map(json.dumps, [said] if each_alone else said))
            yield from self._watchers[content]


def _key(record: Kept, moves: Counter[str]) -> tuple[Any, ...]:
    """Return what a record is about. moves: earlier ones, by the paths of both ends; noted here."""
    was = record.was
    if isinstance(was, FormerState):
        return was.kind, was.name
    if was.type == "moved":
        moves.update((was.path, was.target))
        return "moved", record.sequence
    if not moves:
        return was.path, 0
    above = itertools.accumulate(was.path.split("/"), "{}/{}".format)
    return was.path, sum(moves[folder] for folder in above)


def _call(tag: str, function: str, target: str) -> str:
    """A call of a changer in words: with its state, where one made it. What is only runner's own is
    named by the function of the state.
    """
    parts = tag.split("_|-")
    call = f"{function} {' '.join(target.split())}".strip()
    if tag and any(part.startswith("_") for part in function.split(".")):
        call = f"{parts[0]}.{parts[-1]}"
    call = call if len(call) <= LONGEST_CALL else f"{call[:LONGEST_CALL]}..."
    state, id_, *_ = [*parts, "", ""]
    return f"{state}: {id_} ({call})" if tag else call


def decoded(row: Any, store: ContentStore) -> Snapshot:
    """A row of COLUMNS."""
    values: list[Any] = [os.fsdecode(value) if isinstance(value, bytes) else value for value in row]
    snapshot = Snapshot(*values)
    # where it pointed to may be a secret: the store has it
    if snapshot.type == "link" and snapshot.content:
        return snapshot._replace(target=os.fsdecode(store.get(snapshot.content) or b""), content="")
    return snapshot


def _find(connection: sqlite3.Connection, number: str | None, path: str = "") -> tuple[int, str]:
    query = "SELECT id, command, undone, not_restored FROM runs"
    if number in (None, "last"):
        pending = "(undone IS NULL OR not_restored > 0)"
        altered = ALTERED
        values: tuple[Any, ...] = ()
        if path:
            altered = "id IN (SELECT run FROM kept WHERE path = ?)"
            values = (os.fsencode(path),)
        query += f" WHERE kind = 'run' AND {pending} AND {altered} ORDER BY id DESC LIMIT 1"
        row = connection.execute(query, values).fetchone()
    else:
        # no text: bytes of the command line
        number = str(number).encode(errors="backslashreplace").decode()
        row = connection.execute(query + " WHERE CAST(id AS TEXT) = ?", (number,)).fetchone()
    if row is None:
        what = (
            f"there is no run {number} in the history"
            if number not in (None, "last")
            else f"no run of the history altered {path}"
            if path
            else "no run of the history altered files, or anything else that undo restores"
        )
        raise RunnerError(what, hint="`runner history` lists the runs")
    if row[2] and not row[3] and not path:
        raise RunnerError(
            f"run {row[0]} was undone already, at {row[2]}",
            hint="`runner history` lists the undos; the number of one undoes that",
        )
    return row[0], row[1]
