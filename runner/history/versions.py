# SPDX-License-Identifier: Apache-2.0
"""The versions of one path: how each run found it, and how the last one left it."""

from __future__ import annotations

import difflib
import hashlib
import os
import shlex
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from runner.history.contents import ContentStore
from runner.history.kept import COLUMNS, decoded, silent_tags
from runner.history.snapshots import LARGEST, Snapshot, at, open_regular
from runner.history.undo_paths import difference, masked, older
from runner.model.records import Record

if TYPE_CHECKING:
    import sqlite3

LARGEST_DIFF = 4 * 1024 * 1024  # bytes of both texts together; larger ones are not compared
# in the changes of a state whose contents nobody is to see
NOT_SHOWN = "<show_changes=False>"


class PathChange(Record):
    """A change of a path by a run, or (run: None) by somebody else.

    what: the difference in words. diff: of the contents. restore: the run whose undo brings back
    what was there before this change; None for what only somebody else has seen.
    """

    run: int | None
    kind: str
    started: str
    command: str
    what: str
    diff: str
    restore: int | None


class _Touch(Record):
    """A run that altered a path: how it found it, and how it left it (None: nobody knows)."""

    run: int
    kind: str
    started: float
    command: str
    before: Snapshot
    after: Snapshot | None
    silent: bool


def changes(
    connection: sqlite3.Connection, state_dir: str, path: str, mask: Callable[[Any], Any]
) -> list[PathChange]:
    """The changes of a path, oldest first. mask: hides the secrets in a value."""
    store = ContentStore(state_dir, lambda: connection)
    touches = list(_touches(connection, store, path))
    made: list[PathChange] = []
    silent = any(touch.silent for touch in touches)

    newest = at(path)

    def compared(first: Snapshot, second: Snapshot) -> tuple[str, str]:
        texts = (
            "contents that are not shown" if silent else _diff(first, second, newest, store, mask)
        )
        before, after = masked(first, second, mask, newest.target)
        return difference(after, before, silent), texts

    for number, touch in enumerate(touches):
        follower = touches[number + 1].before if number + 1 < len(touches) else newest
        left = touch.after or follower
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(touch.started))
        if not left.is_same(touch.before):
            what, diff = compared(touch.before, left)
            made.append(
                PathChange(touch.run, touch.kind, day, touch.command, what, diff, touch.run)
            )
        if not follower.is_same(left):  # behind the back of runner
            what, diff = compared(left, follower)
            made.append(PathChange(None, "", "", "", what, diff, None))
    return made


def _touches(connection: sqlite3.Connection, store: ContentStore, path: str) -> Iterator[_Touch]:
    columns = ", ".join(f"kept.{column}" for column in COLUMNS.split(", "))
    query = f"""
        SELECT runs.id, runs.kind, runs.started, runs.command, kept.tag, min(kept.sequence),
        {columns} FROM kept JOIN runs ON runs.id = kept.run
        WHERE kept.path = ? AND kept.type != 'moved' GROUP BY kept.run ORDER BY kept.run
    """
    for run, kind, started, command, tag, _, *row in connection.execute(
        query, (os.fsencode(path),)
    ):
        left = connection.execute(
            f"SELECT {COLUMNS} FROM left_behind WHERE run = ? AND path = ?",
            (run, os.fsencode(path)),
        ).fetchone()
        hidden = connection.execute(
            "SELECT 1 FROM results WHERE run = ? AND tag = ? AND instr(changes, ?)",
            (run, tag, NOT_SHOWN),
        ).fetchone()
        after = decoded(left, store) if left else None
        silent = hidden is not None or tag in silent_tags(connection, run)
        yield _Touch(run, kind, started, command, decoded(row, store), after, silent)


def _contents(snapshot: Snapshot, store: ContentStore) -> bytes | None:
    """The contents of a version: from the store, or the file itself while that is this version."""
    data = store.get(snapshot.content)
    if data is not None or not snapshot.content:
        return data
    try:
        with open_regular(snapshot.path) as file:
            data = file.read(LARGEST)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == snapshot.content else None


def _diff(
    first: Snapshot,
    second: Snapshot,
    newest: Snapshot,
    store: ContentStore,
    mask: Callable[[Any], Any],
) -> str:
    """A unified diff of two versions, without what stood where a later one has a secret; empty
    where neither is a file or the contents are equal.
    """
    if first.content == second.content or "file" not in (first.type, second.type):
        return ""
    texts = []
    for snapshot in (first, second):
        data = _contents(snapshot, store) if snapshot.type == "file" else b""
        if data is None:
            return "contents that were not kept"
        if b"\0" in data:
            return "binary contents"
        texts.append(data.decode("utf-8", "replace"))
    last = (_contents(newest, store) or b"").decode("utf-8", "replace")
    texts = [older(older(text, texts[1], mask), last, mask) for text in texts]
    if sum(map(len, texts)) > LARGEST_DIFF:
        return "contents that are too large to be compared"
    lines = [text.splitlines() for text in texts]
    compared = [*difflib.unified_diff(lines[0], lines[1], lineterm="")][2:]
    return "\n".join(compared) or "contents that differ in what is hidden"


def as_value(change: PathChange, path: str) -> dict[str, Any]:
    """A change as programs read it, with the command that restores what was before it."""
    command = None
    if change.restore is not None:
        command = f"runner undo {change.restore} --path {shlex.quote(path)}"
    return {**change._asdict(), "restore": command}
