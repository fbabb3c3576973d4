# SPDX-License-Identifier: Apache-2.0
"""The recorder of runs, in SQLite: a listener that writes; history/judging tells by the runs
before.

Dry runs and undos are kept too, marked as such: they are nothing that later runs are judged by. A
run whose history cannot be written does its work all the same; `problem` says why.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from functools import cached_property

from runner.api import undisturbed
from runner.history import (
    contents,
    journal,
    judging,
    made,
    orphan_count,
    snapshots,
    store,
    unchanged,
)
from runner.model import former_state, nested, plain_values
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.events import ChangerCalled, Event, RunFinished, RunStarted, StateFinished
from runner.model.records import Record
from runner.model.result import HIGHSTATE, Report, Result
from runner.model.stdlib import Lock, blake2b, dumps
from runner.sources import trees
from runner.support.files import database, sqlite
from runner.support.files.group_commit import GROUP_COMMIT, WRITTEN
from runner.support.files.text import storable, storable_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from runner.model.former_state import FormerState

Subject = str | tuple[str, str]  # a path, or the kind and the name of another part of the machine
TOGETHER = 500  # results of unchanged states that are written at once
MANY = 5000  # the same, as long as the run is not in the database
CHANGER = (
    "INSERT INTO changers (run, tag, function, target, before, restorable)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
SHORT = 200  # characters: the JSON of changes without longer texts is kept for the next state
MOST_TEXTS = 100
_OF_NAMES = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()  # as `os.fsencode`


class About(Record):
    """The facts of a run that are known before it starts. kind: run, test (a dry run) or undo.

    judged: its states are those of a tree, whose earlier runs say whether a change is drift.
    scope: the command whose states they are (highstate, sls, single ...). tree: of a highstate, the
    folders that it is compiled from. recalled: a digest of what an earlier run compiled the states
    from; empty where this run has.
    """

    command: str
    kind: str = "run"
    revision: str | None = None  # of the tree, when it is a git work tree
    dirty: bool | None = None
    pillar: Mapping[str, Any] = {}
    # what a result is kept under, without secrets
    tag: Callable[[Result], str] = lambda result: result.tag
    judged: bool = True
    scope: str = ""
    tree: str = ""
    recalled: bytes = b""


def _lasting(path: str) -> str:
    """The name of a file that the next pulled tree has, too."""
    if "/trees/" not in path:
        return path
    return trees.without_name(path)


class History:
    """The history of a machine, while one run is under way."""

    events = (RunStarted, ChangerCalled, StateFinished, RunFinished)  # those that it takes

    def __init__(
        self,
        state_dir: str,
        about: About,
        chunks: Iterable[Chunk],
        keep_runs: int,
        keep_days: int,
        *,
        look: Callable[[str, str], Mapping[str, Any]] = lambda kind, name: {},
        along: Callable[[str], Iterable[str]] = lambda kind: (),
        watchers: Callable[[str], Sequence[Sequence[Chunk]]] = lambda tag: (),
        graph: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        """keep_runs, keep_days: older runs are dropped when either is exceeded; 0 keeps all.

        look: the present state of a part of the machine, by its kind and name. along: the kinds
        that a change of one may change, too. watchers: the states that react to a change of the
        state with a tag, in lists that many states share. graph: the requisites of the run, for its
        page.
        """
        self.problem = ""
        self.notes: list[str] = []  # what else is to be told
        self._lock = Lock()  # states may run side by side
        self._state_dir = state_dir
        self._about = about
        self._chunks = tuple(chunks)
        self._keep = (keep_runs, keep_days)
        self._connection: sqlite.Connection | None = None
        self._begin: tuple[Any, ...] = ()  # what is known of the run, once it has started
        self._number: int | None = None  # of the run, once it is in the database
        self._position = 0  # of the last result there
        self._journal: journal.Journal | None = None
        # has a statement written, once for each row of values
        self._add: Callable[..., None] = lambda statement, *rows: None
        # results that wait, with their digests where these cannot be had later
        self._waiting: list[tuple[Result, bytes]] = []
        self._store: contents.ContentStore  # once the run is in the database
        self._look, self._along = look, along
        self._watchers, self._graph = watchers, graph
        self._kept_watchers: dict[int, str] = {}  # their contents, by the lists
        self._started = 0.0
        self._sequence = 0  # of what was kept
        self._call = 0  # the number of the last call of a changer
        self._private: set[str] = set()  # the paths whose contents nobody keeps
        # the paths and other parts of the machine that this run altered, with what they were found
        # to be when somebody looked last; None: nobody has since the last change
        self._touched: dict[str, snapshots.Snapshot | None] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}  # of those that somebody has looked at
        self._touched_states: dict[tuple[str, str], str | None] = {}
        # those that nobody has looked at since, with the tag of the state that altered them last:
        # others may run beside it, and are not done with theirs
        self._altered: dict[Subject, str] = {}
        self._altered_by: dict[str, dict[Subject, None]] = {}  # the same, by the tags
        self._digests: dict[int, bytes] = {}
        self._texts: dict[tuple[tuple[str, str], ...], str] = {}  # the JSON of short changes
        self._made: made.MadeThings | None = None
        self._judge: judging.Judge | None = None  # where there are results of former runs
        self.declared: Callable[[], Collection[str]] | None = None  # of a highstate
        self.is_part = False  # of one, whose states do not say what all of it declares
        self.orphans = 0  # what it does not declare of what others made

    # -------------------------------------------------- judging

    def origin(self, result: Result, reacted: bool, converges: bool) -> tuple[str, str]:
        """The reason why a state changed something: (kind, a sentence for people or "").

        reacted: it answers to a change of another state. converges: a second run of it would change
        nothing. The kinds: "reaction"; "intent" (the tree says something new); "drift" (the machine
        was changed behind our back); "repeats" (it changes in every run).
        """
        if reacted:
            return "reaction", ""
        if self.problem or not self._about.judged:
            return "", ""
        if self._connection is None and not unchanged.has_begun(self._state_dir):
            return "", ""
        if self._number is not None and self._judge is None:  # a first run
            return "intent", ""
        with undisturbed(), self._lock:
            try:
                self._enter()
                tag, judge = storable(self._about.tag(result)), self._judge
                if judge is None:
                    return "intent", ""
                self._asked()
                return judge(tag, self._digest(result), converges)
            except Exception as error:
                self._give_up(error)
        return "", ""

    def _digest(self, result: Result) -> bytes:
        """A digest of a state in the tree: its arguments, the files it took from the tree, the
        pillar it renders.
        """
        chunk = result.chunk
        digest = blake2b(self._chunk_digest(chunk), digest_size=16)
        for path in result.inputs:
            try:
                at = os.stat(path)
                facts = f"{_lasting(path)} {at.st_size} {at.st_mtime_ns}"
                digest.update(facts.encode(errors="surrogateescape"))
            except OSError:
                digest.update(os.fsencode(path))
        if "template" in chunk.args or "pillar" in "\n".join(chunk.args):
            digest.update(self._pillar)
        return digest.digest()

    @cached_property
    def _pillar(self) -> bytes:
        return repr(self._about.pillar).encode(errors="replace")

    def _chunk_digest(self, chunk: Chunk) -> bytes:
        digest = self._digests.get(id(chunk))
        if digest is None:
            text = repr((chunk.function, chunk.args))
            digest = blake2b(text.encode(errors="replace"), digest_size=16).digest()
            self._digests[id(chunk)] = digest
        return digest

    # -------------------------------------------------- writing

    def __call__(self, event: Event) -> None:
        if self.problem:
            return
        with undisturbed(), self._lock:  # no transaction is left open, no result is kept twice
            try:
                self._take(event)
                if not GROUP_COMMIT.is_waiting:
                    self._end_reading()
            except Exception as error:  # whatever it is, the run goes on without its history
                self._give_up(error)

    def _take(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._start(event)
        elif not self._begin:
            return
        elif isinstance(event, ChangerCalled):
            self._changer(event)
        elif isinstance(event, StateFinished):
            self._result(event.result)
        elif isinstance(event, RunFinished):
            self._end(event.report)

    @contextmanager
    def _reporting_errors(self) -> Iterator[None]:
        with undisturbed(), self._lock:
            try:
                yield
            except Exception as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """This run is not kept; a file that is broken inside is set aside for the next one."""
        if isinstance(error, sqlite.Error):
            self.problem = database.described(os.path.join(self._state_dir, store.NAME), error)
        elif isinstance(error, store.HistoryProblem | OSError):
            self.problem = str(error)
        else:
            self.problem = plain_values.exception(error)
        self._hear_of_files(False)
        with suppress(sqlite.Error):
            self._end_reading()
        connection, self._connection = self._connection, None
        if connection is not None and type(error) is not sqlite.DatabaseError:
            with suppress(sqlite.Error):
                connection.execute(
                    "UPDATE runs SET outcome = 'not kept to its end' WHERE id = ?", (self._number,)
                )
        if type(error) is sqlite.DatabaseError:
            with suppress(OSError):
                store.set_aside(self._state_dir, error, self.notes)
        if connection is not None:
            with suppress(sqlite.Error):
                connection.close()

    def _open(self) -> sqlite.Connection:
        """What is written through."""
        if self._connection is None:
            self._connection = store.open_history(self._state_dir, self.notes)
        self._end_reading()
        return self._connection

    def _asked(self) -> sqlite.Connection:
        """What is read through: in one transaction until something is written or no file waits for
        its name, as each asks the system for locks.
        """
        connection = self._connection or self._open()
        if not connection.in_transaction:
            sqlite.Connection.execute(connection, "BEGIN")  # which waits for none
        return connection

    def _end_reading(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def _start(self, event: RunStarted) -> None:
        about, self._started = self._about, time.time()
        row = (
            event.run,
            about.command,
            str(os.getuid()),
            self._started,
            about.revision,
            about.dirty,
            event.total,
            about.kind,
            about.scope,
        )
        self._begin = storable_row(row)
        if not event.total or about.kind not in ("run", "test"):
            self._enter()

    @cached_property
    def _compiled(self) -> str:
        """A digest of what the states of the run compile to."""
        texts = b"".join(
            [
                chunk.tag.encode(errors="replace") + self._chunk_digest(chunk)
                for chunk in self._chunks
            ]
        )
        return str(blake2b(texts, digest_size=16).hexdigest())

    def _enter(self) -> None:
        """Write the run into the database, if it is not there."""
        if self._number is not None or not self._begin:
            return
        about, graph = self._about, unchanged.text_of(self._graph_data())
        cursor = self._open().execute(
            unchanged.BEGIN,
            (*self._begin, self._compiled, snapshots.hash_of(graph) if graph else ""),
        )
        self._number = cursor.lastrowid
        if about.judged and self._open().execute("SELECT 1 FROM results LIMIT 1").fetchone():
            self._judge = judging.Judge(self._open(), self._number or 0, self._chunks, _seen)
        self._journal = journal.Journal(self._state_dir, self._number or 0, self._begin[0])
        self._add = self._journal.add
        self._store = contents.ContentStore(self._state_dir, self._asked)
        self._store.begin(self._number or 0, self._add)
        with suppress(OSError, RunnerError):
            if graph:
                self._store.put_data(graph)
                self._write_journal()
        if about.kind != "test":
            orphan_count.forget(self._state_dir)
            self._hear_of_files(True)
            highstate = about.scope == HIGHSTATE
            self._made = made.MadeThings(self._number or 0, highstate, about.tree)
        if self._begin[6]:  # total
            self._open().execute(unchanged.KILLED, (self._number,))

    def _hear_of_files(self, begins: bool) -> None:
        """Have what is written noted, or no longer."""
        WRITTEN.want(begins)
        GROUP_COMMIT.announce = self._announced if begins else lambda: None

    def _announced(self) -> None:
        """Have what is kept of files outlive a kill before they get their names."""
        with self._reporting_errors():
            self._save()

    def _graph_data(self) -> dict[str, Any]:
        """The requisites of the run; empty where there are none."""
        with suppress(OSError, RunnerError):
            return self._graph()
        return {}

    def _changer(self, event: ChangerCalled) -> None:
        if self._about.kind == "test":
            return
        if self._number is None:
            self._enter()
        tag = storable(event.chunk.tag) if event.chunk else ""
        before = dumps(plain_values.plain(event.before))
        row = (self._number, tag, event.function, event.target, before, int(event.restorable))
        self._add(CHANGER, row := storable_row(row))
        if self._judge:
            _, _, function, target, *_ = row
            self._judge.calls.note(tag, (target, function[: function.find(".") + 1]))
        self._altered_by.setdefault(tag, {})  # its result is kept at once
        self._call += 1
        facts = event.before if event.for_undo is None else event.for_undo
        if (nothing := snapshots.of_nothing(facts)) is not None:  # most of a first run
            self._keep_path(nothing, tag)
            self._sequence += 1
        else:
            self._private |= snapshots.private_paths(facts)
            for former in snapshots.before(event.function, facts):
                if isinstance(former, former_state.FormerState):
                    self._keep_state(former, tag)
                else:
                    self._keep_path(former, tag)
                self._sequence += 1
        if not event.waits:
            self._save(at_once=not event.function.startswith("file."))

    def _keep_path(self, sight: snapshots.Sight, tag: str) -> None:
        snapshot = sight.snapshot
        if snapshot.type != "none":
            self._store.put(sight)
        name, *columns, attributes = _encode(snapshot)
        values = (self._number, self._sequence, name, *columns, tag, self._call, attributes)
        if self._judge:
            self._judge.paths.note(tag, (name,), (*columns, attributes))
        self._add("INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        for path in (snapshot.path, *([snapshot.target] if snapshot.type == "moved" else [])):
            self._touched[path], self._altered[path] = None, tag
            self._altered_by.setdefault(tag, {})[path] = None
            self._stamps.pop(path, None)
        if self._made and tag:
            self._made.touched(tag, snapshot)

    def _keep_state(self, former: FormerState, tag: str) -> None:
        content = self._store.put_text(dumps(former.state))
        row = (self._number, self._sequence, former.kind, former.name, content, tag, self._call)
        self._add("INSERT INTO kept_states VALUES (?, ?, ?, ?, ?, ?, ?)", row := storable_row(row))
        if self._judge:
            self._judge.states.note(tag, row[2:4], (content,))
        subject = (former.kind, former.name)
        self._touched_states[subject], self._altered[subject] = None, tag
        self._altered_by.setdefault(tag, {})[subject] = None

    def _result(self, result: Result) -> None:
        # files of the tree may change before the run ends
        self._waiting.append((result, self._digest(result) if result.inputs else b""))
        altered, own, tag = list[Subject](), None, ""
        if self._altered_by:
            # what others have altered since is theirs
            kept_as = storable(tag := result.tag)
            own = self._altered_by.pop(kept_as, None)
            altered = [subject for subject in own or () if self._altered.get(subject) == kept_as]
        as_before = not result.changes and result.result is not False and own is None
        if not as_before or len(self._waiting) >= (TOGETHER if self._number else MANY):
            if self._number is None:
                self._enter()
            self._flush()
            made = result if result.changes and not result.noop else None
            if self._touched_states:
                altered += self._along_with(altered)
            if not tag:
                kept_as = storable(tag := result.tag)
            self._look_back(altered, made, str(result.chunk.place), kept_as)
            if own and result.changes and self._about.kind == "run":
                self._note_watchers(tag)
            if as_before:  # these are many: into the database at once
                self._write_journal()
            else:
                self._save()

    def _row(self, result: Result, digest: bytes) -> tuple[Any, ...]:
        """What is kept of a result, but for its times. digest: empty where it is not known."""
        chunk = result.chunk
        row = (
            result.tag,
            chunk.id,
            result.name,
            chunk.function,
            chunk.sls,
            None if result.result is None else int(result.result),
            int(result.ran),
            self._json(result.changes),
            _shortened_text(result.comment),
            str(chunk.place),
            result.cause,
            result.origin,
            digest or self._digest(result),
            result.outcome(self._about.kind == "test"),
            self._json(result.before),
        )
        return storable_row(row)

    def _times(self) -> tuple[list[float], list[float | None]]:
        """How long the results took that wait, and when they began."""
        durations, starts = list[float](), list[float | None]()
        for result, _ in self._waiting:
            durations.append(result.duration)
            since = result.started - self._started
            starts.append(max(0.0, since) if result.started else None)
        return durations, starts

    def _json(self, values: Mapping[str, Any]) -> str:
        """The JSON of changes. Those of most new files are the same."""
        if not values:
            return "{}"
        said = tuple(values.items())
        for key, value in said:
            if type(key) is not str or type(value) is not str or len(value) > SHORT:
                return dumps(_shortened(plain_values.plain(values)))
        text = self._texts.get(said)
        if text is None:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            text = self._texts[said] = dumps(plain_values.plain(values))
        return text

    def _flush(self) -> None:
        """Write the results that wait."""
        if self._waiting:
            rows = [self._row(*each) for each in self._waiting]
            rows = unchanged.results(self._number, self._position, rows, *self._times())
            self._add(unchanged.RESULT, *rows)
            self._position += len(rows)
            self._waiting.clear()

    def _save(self, at_once: bool = False) -> None:
        """Have what was added outlive a kill. at_once: others see it, too."""
        if self._journal is not None and (self._journal.save() or at_once):
            self._write_journal()

    def _write_journal(self) -> None:
        if self._journal is not None:
            self._journal.write(self._open())

    def _along_with(self, altered: Iterable[Subject]) -> list[Subject]:
        """Return what may have changed along with what a state altered: the members of a group with
        a user. After a kill it would look as if somebody else had changed it.
        """
        changed = {subject[0] for subject in altered if not isinstance(subject, str)}
        others = {other for kind in changed for other in self._along(kind)}
        return [
            subject
            for subject in self._touched_states
            if subject[0] in others and subject not in self._altered
        ]

    def _look_back(
        self,
        subjects: Iterable[Subject],
        last: Result | None = None,
        place: str = "",
        tag: str = "",
    ) -> None:
        """Record how this run left what it altered: undo leaves out what changed since. What was
        altered is looked at after each state, since the run may be killed, and all of it at the
        end. last: of the state that altered it. place: where that stands. tag: its tag.
        """
        changed = []
        for subject in subjects:
            self._altered.pop(subject, None)
            if not isinstance(subject, str):
                self._look_back_at_state(subject)
            elif not (self._stamps and self._as_seen(subject)) and (
                snapshot := self._look_back_at_path(subject)
            ):
                changed.append(snapshot)
        if self._made is not None:
            if last is not None:
                changed = self._made.record(self._asked(), last, tag, place, changed, self._add)
            if changed:
                self._made.left(changed, self._add)

    def _look_back_at_path(self, path: str) -> snapshots.Snapshot | None:
        """Return how this run left a path; None where somebody has recorded that already."""
        sight = snapshots.look(path)
        snapshot = sight.snapshot
        self._stamps[path] = sight.stamp
        if self._touched[path] == snapshot:
            return None
        self._touched[path] = snapshot
        if snapshot.type == "link":
            self._store.put(sight)
        elif sight.data is not None and path not in self._private:
            self._store.put_if_possible(sight)
        row = (self._number, *_encode(snapshot))
        self._add("INSERT OR REPLACE INTO left_behind VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return snapshot

    def _look_back_at_state(self, subject: tuple[str, str]) -> None:
        content = self._store.put_text(dumps(self._look(*subject)))
        if self._touched_states[subject] != content:
            self._touched_states[subject] = content
            row = storable_row((self._number, *subject, content))
            self._add("INSERT OR REPLACE INTO left_states VALUES (?, ?, ?, ?)", row)

    def _as_seen(self, path: str) -> bool:
        """Return whether nobody has altered a path since it was looked at, by its times."""
        stamp = self._stamps.get(path)
        return bool(stamp) and stamp == snapshots.stamp_of(path)

    def _note_watchers(self, tag: str) -> None:
        """Record who reacts to a state that has altered something, for `runner undo --react`."""
        for chunks in self._watchers(tag):
            if id(chunks) not in self._kept_watchers:
                words = [
                    (each.state, each.fun, each.id, each.name, plain_values.plain(each.args))
                    for each in chunks
                ]
                self._kept_watchers[id(chunks)] = self._store.put_text(dumps(words))
            self._add_watchers(tag, self._kept_watchers[id(chunks)])

    def _add_watchers(self, tag: str, content: str) -> None:
        """tag: of the state that they watch; empty: they watch what an undo restores. content: of
        each its state, function, ID, name and arguments.
        """
        row = (self._number, storable(tag), content)
        self._add("INSERT OR IGNORE INTO watchers VALUES (?, ?, ?)", row)

    def note_undone(self, tags: Iterable[str], watchers: Iterable[tuple[object, ...]]) -> None:
        """Record the states whose work an undo has taken back, whose next change is no drift, and
        who watches what it restored.
        """
        if self.problem or self._number is None:
            return
        with self._reporting_errors():
            rows = [(self._number, tag) for tag in tags]
            self._add("INSERT OR IGNORE INTO restored VALUES (?, ?)", *rows)
            if words := list(watchers):
                self._add_watchers("", self._store.put_text(dumps(words)))
            self._save(at_once=True)

    def _end(self, report: Report) -> None:
        counts = report.counts()
        changed = counts["changed"] + counts["would change"]
        outcomes = {outcome: n for outcome, n in counts.items() if n}
        total = len(report.results)
        errors = list(map(str, report.errors))
        end = (report.outcome, changed, counts["failed"], counts["skipped"], errors)
        if self._can_wait(report) and self._wait((total, outcomes), end):
            return
        self._enter()
        if report.results:  # reactions at the end are results too; the report counts them
            self._open().execute(unchanged.COUNTS, (total, dumps(outcomes), self._number))
        self._finish(*end)

    def _can_wait(self, report: Report) -> bool:
        """Return whether nothing of the run has to be in the database now."""
        is_new = self._number is None and report.outcome == "done"
        return is_new and self._knows_orphans() and unchanged.has_begun(self._state_dir)

    def _knows_orphans(self) -> bool:
        """Return whether the orphans need no counting: they are those of the run before."""
        if self.declared is None or self.is_part:
            return self.declared is None
        number = orphan_count.known(self._state_dir, self._compiled, self._about.tree)
        self.orphans = number or 0
        return number is not None

    def _wait(self, counts: tuple[Any, ...], end: tuple[Any, ...]) -> bool:
        facts = (self._begin, counts, (time.time(), *end), self._keep, *self._times())

        def states() -> unchanged.States:
            rows = [self._row(*each) for each in self._waiting]
            return self._compiled, self._graph_data(), rows

        recalled = self._about.recalled
        if not recalled:
            return unchanged.append(self._state_dir, facts, known := states(), lambda: known)
        # the plan has the rest
        numbers = {id(chunk): number for number, chunk in enumerate(self._chunks)}
        said = [
            (number, result.comment, digest)
            if (number := numbers.get(id(result.chunk))) is not None and _says_no_more(result)
            else self._row(result, digest)
            for result, digest in self._waiting
        ]
        return unchanged.append(self._state_dir, facts, (recalled, self._pillar, said), states)

    @contextmanager
    def around(self, run: str, total: int) -> Iterator[list[str]]:
        """Keep what is not a run of states (an undo): the changes made meanwhile, and how it ended.

        total: of its parts. It gives a list for those that were not done; a run with such entries
        is done in part.
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
                    touched = len(self._touched) + len(self._touched_states)
                    changed = touched if outcome == "failed" else total - len(left_out)
                    self._finish(outcome, changed, failed, 0, left_out)

    def _finish(
        self, outcome: str, changed: int, failed: int, skipped: int = 0, errors: Iterable[str] = ()
    ) -> None:
        self._flush()
        self._look_back([*self._touched, *self._touched_states])
        self._write_journal()
        connection = self._open()
        ended = (time.time(), outcome, changed, failed, skipped, dumps(list(errors)))
        connection.execute(unchanged.END, (*ended, self._number))
        if self.declared is not None:
            self.orphans = made.counted(connection, self.declared(), self._about.tree)
        if unchanged.drop_old(connection, self._keep):
            self._store.drop(connection, store.CONTENTS)
        self._store.close()
        self._hear_of_files(False)
        if self._journal is not None:
            self._journal.close()
        connection.close()
        self._connection = None
        if self.declared is not None and not self.is_part:
            tree = self._about.tree
            orphan_count.keep(self._state_dir, self._compiled, tree, self.orphans)


def _says_no_more(result: Result) -> bool:
    """Return whether nothing but the comment and the digest of a result makes its row."""
    told = (result.changes, result.before, result.extra, result.key, result.cause, result.origin)
    return result.result is True and result.ran and not (any(told) or result.note or result.noop)


def _encode(snapshot: snapshots.Snapshot) -> tuple[Any, ...]:
    """Paths as bytes: a file name need not be text."""
    if snapshot.type == "link":
        snapshot = snapshots.without_target(snapshot)
    path, kind, mode, uid, gid, target, *hashes = snapshot
    encoded = os.fsencode(target) if target else b""
    return path.encode(*_OF_NAMES), kind, mode, uid, gid, encoded, *hashes


def _seen(part: tuple[bytes | str, ...]) -> tuple[Any, ...]:
    """How a path is now, without its name."""
    _, *values = _encode(snapshots.look(os.fsdecode(part[0])).snapshot)
    return tuple(values)


LONGEST = 256 * 1024  # characters of one text: a large difference does not fill the disk


def _shortened(value: Any) -> Any:
    """The same value with its long texts cut."""
    return nested.mapped(
        value, lambda item: _shortened_text(item) if isinstance(item, str) else item
    )


def _shortened_text(text: str) -> str:
    """A text, or its beginning and how much of it is not there."""
    if len(text) <= LONGEST:
        return text
    return (
        f"{text[:LONGEST]}\n[... {len(text) - LONGEST} more characters are not kept in the history]"
    )
