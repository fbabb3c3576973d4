"""Undo for files: puts back what a run replaced or removed, unless the machine has changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.api import StateFailed
from runner.errors import RunnerError
from runner.history.kept import Kept, Store, at
from runner.records import Record

if TYPE_CHECKING:
    import sqlite3


class Step(Record):
    """One path that is put back. refused: why it cannot be; empty when it can."""

    was: Kept
    now: Kept
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.was.path}: {_described(self.was, self.now)}"


class Undo(Record):
    """What undoing a run would do, in the order in which it is done."""

    run: int
    command: str
    steps: tuple[Step, ...]

    @property
    def refused(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.refused)


PutBack = Callable[..., object]  # modules.file's put_back, as the registry gives it


def planned(connection: sqlite3.Connection, state_dir: str, number: str | None) -> Undo:
    """What undoing a run (number, "last" or None: the last that altered files and is not undone) would do.

    Raises RunnerError when there is no such run.
    """
    run, command = _find(connection, number)
    store = Store(state_dir)
    rows = connection.execute(f"SELECT {_COLUMNS} FROM left_behind WHERE run = ?", (run,))
    left = {found.path: found for found in map(_decoded, rows)}
    rows = connection.execute(f"SELECT {_COLUMNS} FROM kept WHERE run = ? ORDER BY sequence DESC", (run,))
    earliest = {was.path: was for was in map(_decoded, rows)}
    rows = connection.execute(f"SELECT {_COLUMNS} FROM kept WHERE run = ? ORDER BY sequence DESC", (run,))
    steps = []
    for was in map(_decoded, rows):
        if was.type != "moved" and was is not earliest[was.path] and was != earliest[was.path]:
            continue  # only what was there before the run counts
        now = at(was.path)
        if now == was:
            continue  # an undo that stopped half-way had come here
        steps.append(Step(was, now, _refusal(was, now, left.get(was.path), store)))
    return Undo(run, command, tuple(steps))


def carried_out(undo: Undo, connection: sqlite3.Connection, state_dir: str, put_back: PutBack) -> None:
    """Put everything back. Raises RunnerError when a path cannot be; what was done until then stays."""
    import time

    store = Store(state_dir)
    for done, step in enumerate(undo.steps):
        was = step.was
        try:
            put_back(was.path, was.type, was.mode, was.uid, was.gid, was.target, store.get(was.content) or b"")
        except StateFailed as failure:
            hint = f"{done} of {len(undo.steps)} paths were put back"
            raise RunnerError(f"undo stopped: {failure.message}", hint=hint) from None
    connection.execute("UPDATE runs SET undone = ? WHERE id = ?", (time.strftime("%Y-%m-%dT%H:%M:%S%z"), undo.run))


_COLUMNS = "path, type, mode, uid, gid, target, content"


def _decoded(row: tuple[Any, ...]) -> Kept:
    values: list[Any] = [os.fsdecode(value) if isinstance(value, bytes) else value for value in row]
    return Kept(*values)


def _find(connection: sqlite3.Connection, number: str | None) -> tuple[int, str]:
    query = "SELECT id, command, undone FROM runs"
    if number in (None, "last"):
        query += " WHERE kind = 'run' AND undone IS NULL AND id IN (SELECT run FROM kept) ORDER BY id DESC LIMIT 1"
        row = connection.execute(query).fetchone()
    else:
        row = connection.execute(query + " WHERE CAST(id AS TEXT) = ?", (number,)).fetchone()
    if row is None:
        what = f"there is no run {number} in the history" if number else "no run of the history altered files"
        raise RunnerError(what, hint="`runner history` lists the runs")
    if row[2]:
        raise RunnerError(f"run {row[0]} was undone already, at {row[2]}")
    return row[0], row[1]


def _refusal(was: Kept, now: Kept, left: Kept | None, store: Store) -> str:
    if was.type == "other":
        return "it was a device, a pipe or a socket; these are not kept"
    if was.type == "file" and (not was.content or store.get(was.content) is None):
        return "its contents were not kept (too large, or the store is not whole)"
    if left is None:
        return "the run was killed before it noted how it left the path"
    if left != now:
        return f"the machine was changed since: {_described(now, left)}"
    return ""


def _described(first: Kept, second: Kept) -> str:
    """How the first differs from the second, in words."""
    if first.type == "moved":
        return f"moved back from {first.target}"
    if first.type != second.type:
        names = {"none": "nothing", "dir": "a folder", "link": f"a link to {first.target}", "file": "a file"}
        here = {"none": "nothing", "dir": "a folder", "link": f"a link to {second.target}", "file": "a file"}
        return f"{names.get(first.type, first.type)} instead of {here.get(second.type, second.type)}"
    parts = []
    if first.content != second.content:
        parts.append("other contents")
    if first.target != second.target:
        parts.append(f"points to {first.target} instead of {second.target}")
    if first.mode != second.mode:
        parts.append(f"mode {first.mode:04o} instead of {second.mode:04o}")
    if (first.uid, first.gid) != (second.uid, second.gid):
        parts.append(f"owner {first.uid}:{first.gid} instead of {second.uid}:{second.gid}")
    return ", ".join(parts) or "as it is"
