"""The recorder of runs, in SQLite: a listener that writes, and the judgement that needs the runs
before.

Dry runs and undos are kept too, marked as such: they are nothing that later runs are judged by. A
run whose history cannot be written does its work all the same; `problem` says why.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from runner.api import undisturbed
from runner.files.database import storable
from runner.history import snapshots
from runner.history.shortened import shortened, shortened_text
from runner.history.store import NAME, HistoryProblem, open_history, set_aside
from runner.model.chunk import Chunk
from runner.model.events import ChangerCalled, Event, RunFinished, RunStarted, StateFinished
from runner.model.plain_values import plain, text_of
from runner.model.records import Record
from runner.model.result import Report, Result

if TYPE_CHECKING:
    import sqlite3

TOGETHER = 500  # results of unchanged states that are written at once
# runs of each kind that age alone does not remove: a clock that was wrong must not cost the history
LEAST = 20
# dry runs, and runs that ran no state, are counted by themselves, so that they push out no others
CLASS = (
    "CASE WHEN kind = 'test' THEN 'test' WHEN total = 0 AND errors != '[]' THEN 'aborted' ELSE"
    " 'run' END"
)
REPEATS = 3  # from so many changes in a row on, a state is said to change in every run


class About(Record):
    """The facts of a run that are known before it starts. kind: run, test (a dry run) or undo.

    judged: its states are those of a tree, whose earlier runs say whether a change is drift.
    """

    command: str
    kind: str = "run"
    revision: str | None = None  # of the tree, when it is a git work tree
    dirty: bool | None = None
    pillar: Mapping[str, Any] = {}
    tag: Callable[[Result], str] = lambda result: (
        result.tag
    )  # what a result is kept under, without secrets
    judged: bool = True


class History:
    """The history of a machine, while one run is under way."""

    def __init__(
        self, state_dir: str, about: About, chunks: Iterable[Chunk], keep_runs: int, keep_days: int
    ) -> None:
        """keep_runs, keep_days: older runs are dropped when either is exceeded; 0 keeps all."""
        self.problem = ""
        self.notes: list[str] = []  # what else is to be told
        self._state_dir = state_dir
        self._about = about
        self._chunks = tuple(chunks)
        self._keep = (keep_runs, keep_days)
        self._connection: sqlite3.Connection | None = None
        self._number: int | None = None  # of the run, in the database
        self._position = 0
        self._waiting: list[tuple[Any, ...]] = []
        self._pillar: bytes | None = None
        self._store = snapshots.Store(state_dir)
        self._sequence = 0  # of what was kept
        self._touched: dict[str, None] = {}  # the paths that this run altered
        self._digests: dict[int, bytes] = {}

    # -------------------------------------------------- judging

    def origin(self, result: Result, reacted: bool, converges: bool) -> tuple[str, str]:
        """The reason why a state changed something: (kind, a sentence for people or "").

        reacted: it answers to a change of another state. converges: a second run of it would change
        nothing. The kinds: "reaction"; "intent" (the tree says something new); "drift" (the machine
        was changed behind our back); "repeats" (it changes in every run).
        """
        if reacted:
            return "reaction", ""
        if (
            self.problem
            or not self._about.judged
            or not os.path.exists(os.path.join(self._state_dir, NAME))
        ):
            return "", ""
        import sqlite3

        try:
            with undisturbed():
                return self._origin(result, converges)
        except (HistoryProblem, sqlite3.Error) as problem:
            self._give_up(problem)
            return "", ""

    def _origin(self, result: Result, converges: bool) -> tuple[str, str]:
        tag = self._about.tag(result)
        past, digest = self._past(tag), self._digest(result)
        if not past or past[0][0] != digest or past[0][1] != 1:
            return "intent", ""
        row = 1  # this run
        for then, outcome, changes, _, _ in past:
            if then != digest or outcome != 1 or changes == "{}":
                break
            row += 1
        if row > 1 and (row >= REPEATS or not converges):
            return "repeats", f"it changed in each of the last {row} runs" if row >= REPEATS else ""
        _, _, _, number, when = past[0]
        if self._was_ours(tag, number):
            return "intent", ""
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(when))
        return (
            "drift",
            (f"drift: the tree is as in run {number} ({date}), the machine was changed since"),
        )

    def _past(self, tag: str) -> list[tuple[bytes, int | None, str, int, float]]:
        query = """
            SELECT digest, result, changes, runs.id, started
            FROM results JOIN runs ON runs.id = results.run
            WHERE tag = ? AND ran AND result IS NOT NULL AND kind = 'run' AND results.run IS NOT ?
            ORDER BY results.run DESC LIMIT 20
        """
        return self._open().execute(query, (storable(tag), self._number)).fetchall()

    def _was_ours(self, tag: str, since: int) -> bool:
        """Return whether runner itself (another state, an undo, a command) altered what a state had
        altered before.
        """
        module = "substr({0}.function, 1, instr({0}.function, '.'))"
        query = f"""
            SELECT 1 FROM changers AS other JOIN changers AS own
            ON own.target = other.target AND {module.format("own")} = {module.format("other")}
            WHERE own.tag = ? AND other.run >= ? AND other.tag != own.tag LIMIT 1
        """
        self._flush()
        return self._open().execute(query, (storable(tag), since)).fetchone() is not None

    def _digest(self, result: Result) -> bytes:
        """A digest of a state in the tree: its arguments, the files it took from the tree, the
        pillar it renders.
        """
        chunk = result.chunk
        digest = hashlib.blake2b(self._chunk_digest(chunk), digest_size=16)
        for path in result.inputs:
            try:
                at = os.stat(path)
                digest.update(
                    f"{path} {at.st_size} {at.st_mtime_ns}".encode(errors="surrogateescape")
                )
            except OSError:
                digest.update(os.fsencode(path))
        if "template" in chunk.args or any("pillar" in key for key in chunk.args):
            if self._pillar is None:
                self._pillar = repr(self._about.pillar).encode(errors="replace")
            digest.update(self._pillar)
        return digest.digest()

    def _chunk_digest(self, chunk: Chunk) -> bytes:
        digest = self._digests.get(id(chunk))
        if digest is None:
            text = repr((chunk.function, chunk.args))
            digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
            self._digests[id(chunk)] = digest
        return digest

    # -------------------------------------------------- writing

    def __call__(self, event: Event) -> None:
        if self.problem:
            return
        with self._reporting_errors():
            if isinstance(event, RunStarted):
                self._start(event)
            elif self._number is None:
                return
            elif isinstance(event, ChangerCalled):
                self._changer(event)
            elif isinstance(event, StateFinished):
                self._result(event.result)
            elif isinstance(event, RunFinished):
                self._end(event.report)

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        import sqlite3

        with undisturbed():  # no transaction is left open, no result is kept twice
            try:
                yield
            except Exception as error:  # whatever it is, the run goes on without its history
                expected = isinstance(error, sqlite3.Error | HistoryProblem | OSError)
                problem = HistoryProblem(f"{type(error).__name__}: {text_of(error)}")
                self._give_up(error if expected else problem)

    def _give_up(self, error: Exception) -> None:
        """This run is not kept; a file that is broken inside is set aside for the next one."""
        import sqlite3

        self.problem = str(error)
        connection, self._connection = self._connection, None
        if connection is not None and type(error) is not sqlite3.DatabaseError:
            with suppress(sqlite3.Error):
                connection.execute(
                    "UPDATE runs SET outcome = 'not kept to its end' WHERE id = ?", (self._number,)
                )
        if type(error) is sqlite3.DatabaseError:
            with suppress(OSError):
                set_aside(self._state_dir, error, self.notes)
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_history(self._state_dir, self.notes)
        return self._connection

    def _start(self, event: RunStarted) -> None:
        texts = b"".join(
            chunk.tag.encode(errors="replace") + self._chunk_digest(chunk) for chunk in self._chunks
        )
        compiled = hashlib.blake2b(texts, digest_size=16)
        about = self._about
        row = (
            *(event.run, about.command, str(os.getuid()), time.time(), about.revision, about.dirty),
            *(compiled.hexdigest(), event.total, about.kind),
        )
        columns = "run, command, user, started, revision, dirty, compiled, total, kind"
        cursor = self._open().execute(
            f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _storable(row)
        )
        self._number = cursor.lastrowid
        if event.total:  # this run holds the lock: none of those that have not ended goes on
            killed = "UPDATE runs SET outcome = 'killed' WHERE outcome IS NULL AND id < ?"
            self._open().execute(killed, (self._number,))

    def _changer(self, event: ChangerCalled) -> None:
        tag = event.chunk.tag if event.chunk else ""
        before = json.dumps(plain(event.before))
        row = (self._number, tag, event.function, event.target, before)
        self._open().execute("INSERT INTO changers VALUES (?, ?, ?, ?, ?)", _storable(row))
        for snapshot in snapshots.before(
            event.function, event.before if event.for_undo is None else event.for_undo
        ):
            self._store.put(snapshot)
            values = (self._number, self._sequence, *_encode(snapshot), storable(tag))
            self._open().execute(
                f"INSERT INTO kept VALUES ({', '.join('?' * len(values))})", values
            )
            self._touched[snapshot.path] = None
            if snapshot.type == "moved":
                self._touched[snapshot.target] = None
            self._sequence += 1

    def _result(self, result: Result) -> None:
        changes = json.dumps(shortened(plain(result.changes))) if result.changes else "{}"
        outcome = None if result.result is None else int(result.result)
        chunk = result.chunk
        self._waiting.append(
            (
                *(
                    self._number,
                    self._position,
                    result.tag,
                    chunk.id,
                    chunk.name,
                    chunk.function,
                    chunk.sls,
                    outcome,
                ),
                *(int(result.ran), changes, shortened_text(result.comment), result.duration),
                *(str(chunk.place.source), result.cause),
                *(result.origin, self._digest(result), result.outcome(self._about.kind == "test")),
            )
        )
        self._position += 1
        if result.changes or result.result is False or len(self._waiting) >= TOGETHER:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            connection = self._open()
            connection.execute("BEGIN")
            marks = ", ".join("?" * len(self._waiting[0]))
            connection.executemany(
                f"INSERT INTO results VALUES ({marks})", map(_storable, self._waiting)
            )
            connection.execute("COMMIT")
            self._waiting.clear()

    def _look_back(self) -> None:
        """Record how this run left the paths it altered: undo refuses where they changed since."""
        if self._touched:
            connection = self._open()
            connection.execute("BEGIN")
            snapshots_now = [snapshots.at(path) for path in self._touched]
            for snapshot in snapshots_now:
                if snapshot.type == "link":
                    self._store.put(snapshot)
            rows = [(self._number, *_encode(snapshot)) for snapshot in snapshots_now]
            connection.executemany("INSERT INTO left_behind VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")

    def _end(self, report: Report) -> None:
        counts = report.counts()
        changed = counts["changed"] + counts["would change"]
        self._finish(
            report.outcome,
            changed,
            counts["failed"],
            counts["skipped"],
            list(map(str, report.errors)),
        )

    @contextmanager
    def around(self, run: str, total: int) -> Iterator[list[str]]:
        """Keep what is not a run of states (an undo): the changes made meanwhile, and how it ended.

        It gives a list for what was not done; a run with such entries is done in part.
        """
        self(RunStarted(total, False, run))
        outcome, left_out = "failed", list[str]()
        try:
            yield left_out
            outcome = "done in part" if left_out else "done"
        finally:
            if self._number is not None and not self.problem:
                with self._reporting_errors():
                    failed = len(left_out) or int(outcome == "failed")
                    self._finish(outcome, len(self._touched), failed, 0, left_out)

    def _finish(
        self, outcome: str, changed: int, failed: int, skipped: int = 0, errors: Iterable[str] = ()
    ) -> None:
        self._flush()
        self._look_back()
        connection = self._open()
        columns = "finished = ?, outcome = ?, changed = ?, failed = ?, skipped = ?, errors = ?"
        row = (
            time.time(),
            outcome,
            changed,
            failed,
            skipped,
            json.dumps(list(errors)),
            self._number,
        )
        connection.execute(f"UPDATE runs SET {columns} WHERE id = ?", row)
        if self._drop_old(connection) > 0:
            contents = "SELECT content FROM kept UNION SELECT content FROM left_behind"
            self._store.drop({content for (content,) in connection.execute(contents)})
        connection.close()
        self._connection = None

    def _drop_old(self, connection: sqlite3.Connection) -> int:
        """Drop what is too much or too old, each kind of run by itself."""
        runs, days = self._keep
        gone = 0
        for kind in ("run", "test", "aborted"):
            newest = f"SELECT id FROM runs WHERE {CLASS} = ? ORDER BY id DESC LIMIT ?"
            query = f"DELETE FROM runs WHERE {CLASS} = ? AND id NOT IN ({newest})"
            if runs:
                gone += connection.execute(query, (kind, kind, runs)).rowcount
            if days:
                oldest = time.time() - days * 86400
                gone += connection.execute(
                    f"{query} AND started < ?", (kind, kind, LEAST, oldest)
                ).rowcount
        return gone


def _storable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(storable, row))


def _encode(snapshot: snapshots.Snapshot) -> tuple[Any, ...]:
    """Paths as bytes: a file name need not be text."""
    snapshot = snapshots.without_target(snapshot)
    return snapshot._replace(path=os.fsencode(snapshot.path), target=os.fsencode(snapshot.target))  # type: ignore[arg-type]
