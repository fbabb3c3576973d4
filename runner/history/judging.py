# SPDX-License-Identifier: Apache-2.0
"""Why a state changed something, by the runs before: the tree says something new, the machine was
changed behind our back, or the state changes in every run, as when two of one tree undo each other.

What this run has altered is known here, whether or not it is in the database already.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from operator import itemgetter

from runner.support.files import sqlite
from runner.support.files.text import storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from runner.model.chunk import Chunk

    Part = tuple[bytes | str, ...]  # the values of the columns that tell it from others

REPEATS = 3  # from so many changes in a row on, a state is said to change in every run
_PAST = """
    SELECT digest, result, changes, runs.id, started
    FROM results JOIN runs ON runs.id = results.run
    WHERE tag = ? AND ran AND result IS NOT NULL AND kind = 'run' AND results.run IS NOT ?
    ORDER BY results.run DESC LIMIT 20
"""
_RESTORED = "SELECT 1 FROM restored WHERE tag = ? AND run >= ? LIMIT 1"


class _Parts:
    """Parts of the machine of one kind: which states of this run altered them, how it found them,
    and who altered them in other runs.
    """

    def __init__(self, table: str, names: Sequence[str], left: str = "", values: str = "") -> None:
        """names: the columns that tell one part from another. left: the table of what runs left;
        values: its columns.
        """
        this = " AND ".join(f"{name} = ?" for name in names)
        self._of_former = f"SELECT DISTINCT {', '.join(names)} FROM {table} WHERE tag = ?"
        self._by_another = f"SELECT 1 FROM {table} WHERE {this} AND run >= ? AND tag != ? LIMIT 1"
        self._by_others = (
            f"SELECT MAX(run), tag FROM {table} WHERE {this} AND run >= ? AND run < ?"
            " AND tag NOT IN (?, '') GROUP BY tag"
        )
        self._left = (
            f"SELECT {values} FROM {left} WHERE {this} AND run < ? ORDER BY run DESC LIMIT 1"
        )
        self._found: dict[Part, tuple[object, ...]] = {}
        self._by: dict[Part, dict[str, None]] = {}
        self._of: dict[str, dict[Part, None]] = {}

    def note(self, tag: str, part: Part, found: tuple[object, ...] = ()) -> None:
        """Note that a state is about to alter a part. found: how it is, as `left` has it."""
        self._found.setdefault(part, found)
        self._by.setdefault(part, {})[tag] = None
        self._of.setdefault(tag, {})[part] = None

    def undone_by(
        self, database: sqlite.Connection, tag: str, runs: tuple[int, int], known: set[str]
    ) -> tuple[int, str, Part] | None:
        """The run, the state and the part where another state altered what a state has altered in
        this run; of other runs the last, where nobody else has since. known: the states of this run
        for which there was one: what they altered before is part of the same contest.

        runs: the one since which, and this one.
        """
        since, number = runs
        for part in self._of.get(tag, ()):
            if others := self._by[part].keys() & known:
                return number, min(others), part
        found = [
            (run, other, part)
            for part in self._of.get(tag, ())
            if database.execute(self._left, (*part, number)).fetchone() == self._found[part]
            for run, other in database.execute(self._by_others, (*part, since, number, tag))
            if other not in self._by[part]
        ]
        return max(found, key=itemgetter(0), default=None)

    def were_left_so(
        self, database: sqlite.Connection, tag: str, number: int, now: Callable[[Part], object]
    ) -> bool:
        """Return whether all that a state changes was as a run before this one left it. now: how a
        part is now.
        """
        altered = self._of.get(tag, {})  # nothing yet in a dry run
        parts: Iterable[Part] = altered or database.execute(self._of_former, (tag,)).fetchall()
        for part in parts:
            left = database.execute(self._left, (*part, number)).fetchone()
            if left is None or left != (self._found[part] if altered else now(part)):
                return False
        return any(not altered or now(part) != self._found[part] for part in parts)

    def is_altered_by(self, tag: str) -> bool:
        """Return whether a state alters any part in this run."""
        return bool(self._of.get(tag))

    def may_be_changed(self, database: sqlite.Connection, tag: str, number: int) -> bool:
        """Return whether a part that a state alters is not as a run before this one left it. Of a
        state that alters none in this run, nobody has looked at those that it altered before.
        """
        if altered := self._of.get(tag):
            return any(
                database.execute(self._left, (*part, number)).fetchone() != self._found[part]
                for part in altered
            )
        return database.execute(self._of_former, (tag,)).fetchone() is not None

    def were_ours(self, database: sqlite.Connection, tag: str, since: int) -> bool:
        """Return whether runner itself altered, by something else, what a state ever altered."""
        former: Iterable[Part] = database.execute(self._of_former, (tag,)).fetchall()
        for part in {*former, *self._of.get(tag, ())}:
            if self._by.get(part, {}).keys() - {tag}:
                return True
            if database.execute(self._by_another, (*part, since, tag)).fetchone():
                return True
        return False


class Judge:
    """Judges the changes of one run."""

    def __init__(
        self,
        database: sqlite.Connection,
        number: int,
        chunks: Sequence[Chunk],
        look: Callable[[Part], object],
    ) -> None:
        """number: of the run. chunks: its states. look: how a path is now, as `paths` has it."""
        self._database, self._number, self._chunks, self._look = database, number, chunks, look
        self.paths = _Parts(
            "kept", ["path"], "left_behind", "type, mode, uid, gid, target, content, attributes"
        )
        self.states = _Parts("kept_states", ["kind", "name"], "left_states", "content")
        # functions of another module do something else with the same target
        module = "substr(function, 1, instr(function, '.'))"
        self.calls = _Parts("changers", ["target", module])
        self._contests: set[str] = set()  # the states that another one of the tree undoes

    def __call__(self, tag: str, digest: bytes, converges: bool) -> tuple[str, str]:
        """The reason why a state changed something, and a sentence for people or "". digest: of
        what the tree says of the state. converges: a second run of it would change nothing.
        """
        past = self._database.execute(_PAST, (tag, self._number)).fetchall()
        if not past or past[0][0] != digest or past[0][1] != 1:
            return "intent", ""
        return self._reason(tag, past, converges)

    def _reason(self, tag: str, past: Sequence[Any], converges: bool) -> tuple[str, str]:
        """The same of a state that was content. past: its results in the runs before."""
        digest, *_, since, when = past[0]
        if reason := self._contested(tag, since):
            return "repeats", reason
        row = 1  # this run
        for then, outcome, changes, _, _ in past:
            if then != digest or outcome != 1 or changes == "{}":
                break
            row += 1
        if row > 1 and (row >= REPEATS or not converges):
            return "repeats", f"it changed in each of the last {row} runs" if row >= REPEATS else ""
        if self._was_ours(tag, since):
            return "intent", ""
        if self._was_left_so(tag):
            if row == 1:  # what the state reads says something new: facts, a server, a command
                return "intent", ""
            return "repeats", f"all was as run {since} left it: each run may change it again"
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
        return "drift", f"the tree is as in run {since} ({date}), the machine was changed since"

    def _was_left_so(self, tag: str) -> bool:
        """Return whether all that a state changes was as a run before this one left it: paths, and
        users, services and such, of which only those that it alters are known.
        """
        if self.states.is_altered_by(tag) or not self.paths.is_altered_by(tag):
            if self.states.may_be_changed(self._database, tag, self._number):
                return False
        return self.paths.were_left_so(self._database, tag, self._number, self._look)

    def _was_ours(self, tag: str, since: int) -> bool:
        """Return whether runner itself (another state, an undo, a command) altered what a state had
        altered before.
        """
        return (
            self.calls.were_ours(self._database, tag, since)
            or self.paths.were_ours(self._database, tag, since)
            or self._database.execute(_RESTORED, (tag, since)).fetchone() is not None
        )

    def _contested(self, tag: str, since: int) -> str:
        """The sentence about another state of this run that undoes what a state does; empty where
        there is none.
        """
        runs = since, self._number
        for parts in (self.paths, self.states):
            if contest := parts.undone_by(self._database, tag, runs, self._contests):
                run, by, part = contest
                if by not in self._states:
                    return ""
                self._contests.add(tag)
                when = f"after it in run {run}" if run < self._number else "before it in this run"
                other, name = self._states[by], " ".join(map(os.fsdecode, part))
                return (
                    f"{other.function} {other.id} changed {name} {when}: the two may undo each"
                    " other in each run"
                )
        return ""

    @cached_property
    def _states(self) -> dict[str, Chunk]:
        return {storable(chunk.tag): chunk for chunk in self._chunks}
