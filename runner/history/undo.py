# SPDX-License-Identifier: Apache-2.0
"""Undo: restores what a run changed. What was changed since, or cannot be restored, is left out,
and reported before anything is done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from runner.api import StateFailed
from runner.history import undo_paths, undo_states
from runner.history.contents import ContentStore
from runner.history.kept import ALTERED, Kept, KeptRun
from runner.history.snapshots import Snapshot
from runner.history.undo_foresight import Foresight, Functions
from runner.model.errors import RunnerError
from runner.model.former_state import FormerState
from runner.model.records import Record

if TYPE_CHECKING:
    import sqlite3

    from runner.support.redaction import Secrets


class UndoStep(Record):
    """One part of the machine that is restored. refused: why it is left out; empty when it is not.
    note: what cannot be known about it.

    kept: what the run had recorded of it: where its record stands.
    """

    was: Snapshot | FormerState
    now: Snapshot | FormerState
    kept: Kept
    refused: str = ""
    note: str = ""

    @property
    def subject(self) -> str:
        return self.was.path if isinstance(self.was, Snapshot) else str(self.was)

    @property
    def kind(self) -> str:
        return "path" if isinstance(self.was, Snapshot) else self.was.kind

    @property
    def is_unkept(self) -> bool:
        """Return whether what is there now is a file that the history cannot bring back."""
        return isinstance(self.now, Snapshot) and undo_paths.is_unkept(self.now)

    def __str__(self) -> str:
        return f"{self.subject}: {self._difference()}"

    def _difference(self) -> str:
        if isinstance(self.was, Snapshot) and isinstance(self.now, Snapshot):
            return undo_paths.difference(self.was, self.now, self.kept.silent)
        assert isinstance(self.was, FormerState) and isinstance(self.now, FormerState)
        return undo_states.difference(self.was, self.now)

    def masked(self, mask: Callable[[Any], Any]) -> UndoStep:
        """This step as it is shown; where a link pointed to is hidden when it points to a secret
        now.
        """
        words = {"refused": mask(self.refused), "note": mask(self.note)}
        if isinstance(self.was, Snapshot) and isinstance(self.now, Snapshot):
            was, now = undo_paths.masked(self.was, self.now, mask)
            return self._replace(was=was, now=now, **words)
        assert isinstance(self.was, FormerState) and isinstance(self.now, FormerState)
        former, present = (
            state._replace(name=mask(state.name), state=mask(state.state))
            for state in (self.was, self.now)
        )
        return self._replace(was=former, now=present, **words)


class Watcher(Record):
    """A state that watches what is restored. of: the IDs of the states that it watches. reacts: it
    has reason to: a service that will not run has none.
    """

    state: str
    function: str
    id: str
    name: str
    arguments: Mapping[str, Any]
    of: tuple[str, ...]
    reacts: bool

    def __str__(self) -> str:
        named = self.id if self.name == self.id else f"{self.id} ({self.name})"
        return f"{self.state}.{self.function} {named}"


class Undo(Record):
    """The steps that undo a run, in their order.

    unknown: what the run did that undo knows nothing of. all_watchers: the states that watch what
    is restored. of_path: it is about one path, and the rest of the run stays. later: the runs after
    it, with their commands, that changed something of which nothing was kept.
    """

    run: int
    command: str
    steps: tuple[UndoStep, ...]
    unknown: tuple[str, ...] = ()
    all_watchers: tuple[Watcher, ...] = ()
    of_path: bool = False
    later: tuple[tuple[int, str], ...] = ()

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """The states that watch what is restored, and have reason to react."""
        return tuple(watcher for watcher in self.all_watchers if watcher.reacts)

    @property
    def refused(self) -> tuple[UndoStep, ...]:
        return tuple(step for step in self.steps if step.refused)

    @property
    def restored(self) -> tuple[UndoStep, ...]:
        return tuple(step for step in self.steps if not step.refused)

    @property
    def is_partial(self) -> bool:
        return bool(self.refused or self.unknown)

    def refuse_part(self) -> None:
        """Raise RunnerError where something would be left out."""
        reasons = [f"{step.subject} would be left out: {step.refused}" for step in self.refused]
        reasons += [f"{call} cannot be undone" for call in self.unknown]
        reasons += [f"{step.subject}: {step.note}" for step in self.steps if step.note]
        if reasons:
            raise RunnerError(
                "nothing was restored (--strict): " + "; ".join(reasons),
                hint="without --strict the rest is restored",
            )

    def masked(self, mask: Callable[[Any], Any]) -> Undo:
        """This undo as it is shown."""
        return self._replace(
            command=mask(self.command),
            steps=tuple(step.masked(mask) for step in self.steps),
            unknown=tuple(map(mask, self.unknown)),
            later=tuple((number, mask(command)) for number, command in self.later),
            all_watchers=tuple(
                watcher._replace(id=mask(watcher.id), name=mask(watcher.name), arguments={})
                for watcher in self.all_watchers
            ),
        )


def plan(
    connection: sqlite3.Connection,
    state_dir: str,
    number: str | None,
    functions: Functions,
    path: str = "",
) -> Undo:
    """The steps that undo a run (number, "last" or None: the last that altered something and is not
    undone), or what it did to a path and below it.

    Each step is judged by what the steps before it will have done, so that a dry run says what the
    real one does. Raises RunnerError when there is no such run.
    """
    run = KeptRun.named(connection, state_dir, number, path)
    foresight = Foresight(functions)
    steps: list[UndoStep] = []
    left_out: dict[int, str] = {}  # the calls of which something is left out, and what
    lost: dict[str, str] = {}  # the states that altered what nobody kept, and what
    records = list(run.kept())
    if path and not records:
        raise RunnerError(
            f"run {run.number} did not alter {path}",
            hint=f"`runner history file {path}` lists the runs that did",
        )
    for kept in records:
        made = _steps(kept, run, foresight)
        for step in made:
            if not step.refused and (of := left_out.get(kept.call)):
                step = step._replace(refused=f"it belongs to {of}, which is left out")
            if not step.refused and step.is_unkept and (of := lost.get(kept.tag)):
                step = step._replace(refused=f"it may be the only copy of what {of} was")
            if not step.refused:
                foresight.note(step.was)
            elif isinstance(step.was, FormerState):
                left_out.setdefault(kept.call, step.subject)
            elif undo_paths.is_unkept(step.was):
                lost.setdefault(kept.tag, step.subject)
            steps.append(step)
    unknown = () if path else run.unknown_calls()
    watchers = tuple(_watchers(run, steps, foresight, functions))
    later = () if path or number not in (None, "last") else tuple(_later(connection, run.number))
    return Undo(run.number, run.command, tuple(steps), unknown, watchers, bool(path), later)


def _later(connection: sqlite3.Connection, run: int) -> Iterator[tuple[int, str]]:
    """The runs after one that changed something, and are not undone."""
    query = """
        SELECT id, command FROM runs
        WHERE id > ? AND kind = 'run' AND undone IS NULL AND changed > 0 ORDER BY id
    """
    yield from connection.execute(query, (run,))


def _steps(kept: Kept, run: KeptRun, foresight: Foresight) -> Iterator[UndoStep]:
    planned = (
        undo_paths.planned(kept.was, run, foresight, kept.silent)
        if isinstance(kept.was, Snapshot)
        else undo_states.planned(kept.was, run, foresight, kept.silent)
    )
    for was, now, refused, note in planned:
        yield UndoStep(was, now, kept, refused, note)


def _watchers(
    run: KeptRun, steps: Iterable[UndoStep], foresight: Foresight, functions: Functions
) -> Iterator[Watcher]:
    """The states that watched those whose work is taken back."""
    tags = list(dict.fromkeys(step.kept.tag for step in steps if not step.refused))
    watched: dict[str, dict[str, None]] = {}
    for tag in tags:
        id_ = tag.split("_|-")[1] if tag else "undo"
        for text in run.watchers(tag):
            watched.setdefault(text, {})[id_] = None
    for text, ids in watched.items():
        state, function, id_, name, arguments = json.loads(text)
        subject = f"{arguments['user']}/{name}" if arguments.get("user") else name
        reacts = functions("undo.can_react")(state, subject, foresight.state)
        yield Watcher(state, function, id_, name, arguments, tuple(ids), reacts)


def carry_out(
    undo: Undo,
    connection: sqlite3.Connection,
    state_dir: str,
    functions: Functions,
    secrets: Secrets,
) -> Undo:
    """Restore what is not refused. The undo as it went: what failed against expectation is refused
    in it, too. secrets: those of this run, which shows nothing of what was not shown then.
    """
    store = ContentStore(state_dir, lambda: connection)
    steps: list[UndoStep] = []
    for _, group in groupby(undo.steps, key=lambda step: (step.kept.sequence, bool(step.refused))):
        some = list(group)
        if not some[0].refused:
            secrets.is_silent = some[0].kept.silent
            try:
                _restore(some, store, functions)
            except StateFailed as failure:
                some = [step._replace(refused=failure.message) for step in some]
            finally:
                secrets.is_silent = False
        steps += some
    done = undo._replace(steps=tuple(steps))
    if not undo.of_path:
        row = (time.strftime("%Y-%m-%dT%H:%M:%S%z"), len(done.refused), undo.run)
        connection.execute("UPDATE runs SET undone = ?, not_restored = ? WHERE id = ?", row)
    return done


def _restore(steps: list[UndoStep], store: ContentStore, functions: Functions) -> None:
    """Restore what one record of a run is about: a path, or all of a kind that it changed."""
    first = steps[0]
    if isinstance(first.was, Snapshot):
        assert isinstance(first.now, Snapshot)
        undo_paths.restore(first.was, first.now, store, functions)
        return
    changes = {
        step.was.name: (step.was.state, step.now.state)
        for step in steps
        if isinstance(step.was, FormerState) and isinstance(step.now, FormerState)
    }
    functions("undo.restore")(first.was.kind, changes)


def earlier(connection: sqlite3.Connection, run: int) -> int | None:
    """The run before this one that could be undone instead."""
    query = f"""
        SELECT max(id) FROM runs WHERE id < ? AND kind = 'run' AND undone IS NULL AND {ALTERED}
    """
    run_before: int | None = connection.execute(query, (run,)).fetchone()[0]
    return run_before
