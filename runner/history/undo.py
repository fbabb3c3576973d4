"""Undo for files: restores what a run replaced or removed. A path that was changed since is left
out, and reported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from runner.api import StateFailed
from runner.history.snapshots import Snapshot, Store, at
from runner.model.errors import RunnerError
from runner.model.records import Record

if TYPE_CHECKING:
    import sqlite3


class Step(Record):
    """One path that is restored. refused: why it is left out; empty when it is not."""

    was: Snapshot
    now: Snapshot
    refused: str = ""

    def __str__(self) -> str:
        return f"{self.was.path}: {_difference(self.was, self.now)}"

    def masked(self, mask: Callable[[str], str]) -> Step:
        """This step as it is shown; where a link pointed to is hidden when it points to a secret
        now.
        """
        was, now = (
            snapshot._replace(path=mask(snapshot.path), target=mask(snapshot.target))
            for snapshot in (self.was, self.now)
        )
        if now.target != self.now.target and was.target:
            was = was._replace(target=now.target)
        return Step(was, now, mask(self.refused))


class Undo(Record):
    """The steps that undo a run, in their order."""

    run: int
    command: str
    steps: tuple[Step, ...]

    @property
    def refused(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.refused)

    @property
    def restored(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if not step.refused)

    def masked(self, mask: Callable[[str], str]) -> Undo:
        """This undo as it is shown."""
        return self._replace(steps=tuple(step.masked(mask) for step in self.steps))


Functions = Callable[
    [str], Callable[..., object]
]  # execution functions by their names, as the registry has them


def plan(
    connection: sqlite3.Connection, state_dir: str, number: str | None, functions: Functions
) -> Undo:
    """The steps that undo a run (number, "last" or None: the last that altered files and is not
    undone).

    Each step is judged by what the steps before it will have done, so that a dry run says what the
    real one does. Raises RunnerError when there is no such run.
    """
    run, command = _find(connection, number)
    store = Store(state_dir)
    rows = connection.execute(f"SELECT {_COLUMNS} FROM left_behind WHERE run = ?", (run,))
    left = {snapshot.path: snapshot for snapshot in (_decode(row, store) for row in rows)}
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM kept WHERE run = ? ORDER BY sequence DESC", (run,)
    )
    snapshots = [_decode(row, store) for row in rows]
    earliest = {was.path: was for was in snapshots}
    foresight = _Foresight(functions)
    steps = []
    for was in snapshots:
        if was.type != "moved" and was != earliest[was.path]:
            continue  # only what was there before the run counts
        now = foresight.at(was.path)
        if now == was or _is_moved_back(was, now, left):
            continue  # an undo that stopped half-way had come here
        refused = _refusal(was, left, store) or foresight.dry_run_check(was)
        steps.append(Step(was, now, refused))
        if not refused:
            foresight.note(was)
    return Undo(run, command, tuple(steps))


class _Foresight:
    """The future state of paths, after the steps so far."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._future: dict[str, Snapshot] = {}

    def at(self, path: str) -> Snapshot:
        return self._future.get(path) or at(path)

    def note(self, was: Snapshot) -> None:
        if was.type == "moved":
            self._future[was.path] = self.at(was.target)._replace(path=was.path)
            self._future[was.target] = Snapshot(was.target, "none")
        else:
            self._future[was.path] = was

    def dry_run_check(self, was: Snapshot) -> str:
        """The reason why a path cannot be restored; empty without one."""
        folder, now = os.path.dirname(was.path), self.at(was.path)
        if not (
            self._future[folder].type == "dir" if folder in self._future else os.path.isdir(folder)
        ):
            return f"its folder {folder} does not exist"
        if now.type == "dir" and was.type != "dir" and (inside := next(self._inside(was.path), "")):
            return f"it is a folder that is not empty: it holds {inside}"
        try:
            self._functions(
                "file.refuse_chmod" if now.type == was.type == "dir" else "file.refuse_put"
            )(was.path)
            if was.type in ("file", "dir", "link"):
                self._functions("file.refuse_owner")(was.path, was.uid, was.gid)
            if was.type == "moved":
                self._functions("file.refuse_put")(was.target)
        except StateFailed as failure:
            return failure.message
        return ""

    def _inside(self, folder: str) -> Iterator[str]:
        """The names that a folder will hold."""
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for path in (os.path.join(folder, name) for name in names):
            if self.at(path).type != "none":
                yield path


def carry_out(
    undo: Undo, connection: sqlite3.Connection, state_dir: str, functions: Functions
) -> Undo:
    """Restore what is not refused. The undo as it went: what failed against expectation is refused
    in it, too.
    """
    import time

    store, put_back = Store(state_dir), functions("file.put_back")
    steps = []
    for step in undo.steps:
        was = step.was
        try:
            if not step.refused:
                put_back(
                    was.path,
                    was.type,
                    was.mode,
                    was.uid,
                    was.gid,
                    was.target,
                    store.get(was.content) or b"",
                )
        except StateFailed as failure:
            step = step._replace(refused=failure.message)
        steps.append(step)
    done = undo._replace(steps=tuple(steps))
    row = (time.strftime("%Y-%m-%dT%H:%M:%S%z"), len(done.refused), undo.run)
    connection.execute("UPDATE runs SET undone = ?, not_restored = ? WHERE id = ?", row)
    return done


_COLUMNS = "path, type, mode, uid, gid, target, content"


def _decode(row: tuple[Any, ...], store: Store) -> Snapshot:
    values: list[Any] = [os.fsdecode(value) if isinstance(value, bytes) else value for value in row]
    snapshot = Snapshot(*values)
    if (
        snapshot.type == "link" and snapshot.content
    ):  # where it pointed to may be a secret: the store has it
        return snapshot._replace(target=os.fsdecode(store.get(snapshot.content) or b""), content="")
    return snapshot


def _find(connection: sqlite3.Connection, number: str | None) -> tuple[int, str]:
    query = "SELECT id, command, undone, not_restored FROM runs"
    if number in (None, "last"):
        pending = "(undone IS NULL OR not_restored > 0)"
        query += (
            f" WHERE kind = 'run' AND {pending} AND id IN (SELECT run FROM kept) ORDER BY id DESC"
            " LIMIT 1"
        )
        row = connection.execute(query).fetchone()
    else:
        number = (
            str(number).encode(errors="backslashreplace").decode()
        )  # no text: bytes of the command line
        row = connection.execute(query + " WHERE CAST(id AS TEXT) = ?", (number,)).fetchone()
    if row is None:
        what = (
            f"there is no run {number} in the history"
            if number
            else "no run of the history altered files"
        )
        raise RunnerError(what, hint="`runner history` lists the runs")
    if row[2] and not row[3]:
        raise RunnerError(f"run {row[0]} was undone already, at {row[2]}")
    return row[0], row[1]


def earlier(connection: sqlite3.Connection, run: int) -> int | None:
    """The run before this one whose files could be restored instead."""
    query = (
        "SELECT max(id) FROM runs WHERE id < ? AND kind = 'run' AND undone IS NULL AND id IN"
        " (SELECT run FROM kept)"
    )
    run_before: int | None = connection.execute(query, (run,)).fetchone()[0]
    return run_before


def _is_moved_back(was: Snapshot, now: Snapshot, left: dict[str, Snapshot]) -> bool:
    target = left.get(was.target)
    return was.type == "moved" and target is not None and now == target._replace(path=was.path)


def _refusal(was: Snapshot, left: dict[str, Snapshot], store: Store) -> str:
    """The reason why the history does not allow a path to be restored."""
    if was.type == "other":
        return "it was a device, a pipe or a socket; these are not kept"
    if was.type == "file" and (not was.content or store.get(was.content) is None):
        return "its contents were not kept (too large, or the store is not whole)"
    if was.type == "link" and not was.target:
        return "where it pointed to was not kept (the store is not whole)"
    for path in (was.path, was.target) if was.type == "moved" else (was.path,):
        now, then = at(path), left.get(path)
        if then is None:
            return "the run was killed before it noted how it left the path"
        if then != now:
            return f"the machine was changed since: {_difference(now, then)}"
    return ""


def _difference(first: Snapshot, second: Snapshot) -> str:
    """The difference of the first from the second, in words."""
    if first.type == "moved":
        return f"moved back from {first.target}"
    if first.type != second.type:
        names = {
            "none": "nothing",
            "dir": "a folder",
            "link": f"a link to {first.target}",
            "file": "a file",
        }
        here = {
            "none": "nothing",
            "dir": "a folder",
            "link": f"a link to {second.target}",
            "file": "a file",
        }
        return (
            f"{names.get(first.type, first.type)} instead of {here.get(second.type, second.type)}"
        )
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
