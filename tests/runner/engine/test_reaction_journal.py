# SPDX-License-Identifier: Apache-2.0
"""The journal of pending reactions alone: what of it is durable, and what it tells."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runner.engine.reaction_journal import NAME, VERSION, Audience, Change, ReactionJournal
from runner.model.result import PendingReaction

ONE = PendingReaction(
    "cmd_|-one_|-one_|-wait", "watch", "source", "run 1", "now", "a.sls:1", "source"
)
OTHER = ONE._replace(reactor="cmd_|-other_|-other_|-wait", place="a.sls:2")
LATER = ONE._replace(kind="listen", time="later")


def change(*reactions: PendingReaction) -> Change:
    """What is recorded, so that these, of one kind, are pending."""
    audience = Audience(reactions[0].kind, {each.reactor: each.place for each in reactions})
    return Change(audience, *reactions[0][2:5])


def written(folder: Path) -> set[PendingReaction]:
    """What another run would read."""
    return set(ReactionJournal(str(folder)).all())


@pytest.fixture
def journal(tmp_path: Path) -> ReactionJournal:
    journal = ReactionJournal(str(tmp_path))
    journal.record([change(ONE, OTHER), change(LATER)])
    return journal


def synchronous(journal: ReactionJournal) -> int:
    """Return how far SQLite goes to have the next transaction on the disk."""
    assert journal._connection
    (level,) = journal._connection.execute("PRAGMA synchronous").fetchone()
    assert isinstance(level, int)
    return level


def test_what_is_due_is_on_the_disk_before_the_change_and_what_is_done_need_not_be(
    journal: ReactionJournal,
) -> None:
    full, normal = 2, 1
    assert synchronous(journal) == full
    journal.settle(ONE.reactor)
    assert synchronous(journal) == normal
    journal.record([change(ONE)])
    assert synchronous(journal) == full


@pytest.mark.parametrize("is_earlier", [False, True])
@pytest.mark.parametrize(
    ("reactor", "kinds", "left"),
    [
        (ONE.reactor, (), {OTHER}),
        ("nobody", (), {ONE, OTHER, LATER}),
        (ONE.reactor, ("watch", "onchanges"), {OTHER, LATER}),
        (ONE.reactor, ("listen",), {ONE, OTHER}),
        (OTHER.reactor, ("listen",), {ONE, OTHER, LATER}),
    ],
)
def test_what_is_settled(
    journal: ReactionJournal,
    tmp_path: Path,
    reactor: str,
    kinds: tuple[str, ...],
    left: set[PendingReaction],
    is_earlier: bool,
) -> None:
    if is_earlier:  # of a run that was killed
        journal = ReactionJournal(str(tmp_path))
    journal.settle(reactor, kinds)
    assert set(journal.all()) == written(tmp_path) == left
    assert journal.pending(OTHER.reactor) == (OTHER,)
    assert journal.has(ONE.reactor) is bool(left & {ONE, LATER})
    journal.settle(ONE.reactor)
    journal.settle(OTHER.reactor)
    assert not journal.has_any() and not written(tmp_path)


@pytest.mark.parametrize(
    ("source", "kinds", "left"),
    [
        ("source", (), set()),
        ("another", (), {ONE, OTHER, LATER}),
        ("source", ("listen",), {ONE, OTHER}),
        ("source", ("watch", "onchanges"), {LATER}),
    ],
)
def test_what_is_withdrawn(
    journal: ReactionJournal,
    tmp_path: Path,
    source: str,
    kinds: tuple[str, ...],
    left: set[PendingReaction],
) -> None:
    journal.withdraw(source, kinds)
    assert set(journal.all()) == written(tmp_path) == left
    assert journal.has_any() is bool(left)
    assert journal.has(ONE.reactor) is bool(left & {ONE, LATER})


def test_names_that_are_no_utf_8(tmp_path: Path) -> None:
    reactor, one, other = "reactor \udcff", "one \udcff", "other \udcff"
    audience = Audience("watch", {reactor: ""})
    journal = ReactionJournal(str(tmp_path))
    journal.record([Change(audience, source, "run 1", "now") for source in (one, other)])
    assert journal.due(reactor, lambda kind, source, run: False) == {"watch"}
    for _ in range(2):  # of a source that ended twice, too
        journal.withdraw(one)
        assert [each.source for each in written(tmp_path)] == ["other \\udcff"]
    journal.settle(reactor)
    assert not written(tmp_path)


def test_what_is_due_now(journal: ReactionJournal, tmp_path: Path) -> None:
    journal.record([change(ONE._replace(source="failed"))])
    for each in (journal, ReactionJournal(str(tmp_path))):
        assert each.due(ONE.reactor, lambda kind, source, run: False) == {"watch", "listen"}
        assert each.due(ONE.reactor, lambda kind, source, run: source == "failed") == {
            "watch",
            "listen",
        }
        assert each.due(ONE.reactor, lambda kind, source, run: kind == "watch") == {"listen"}
        assert each.due(ONE.reactor, lambda kind, source, run: run == "run 1") == set()
        assert each.due("nobody", lambda kind, source, run: False) == set()


def test_what_cannot_be_settled_is_an_error(journal: ReactionJournal, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / NAME) as other:
        other.execute("DROP TABLE changes")
    other.close()
    problem = f"{tmp_path / NAME}: no such table"
    with pytest.raises(OSError, match=problem):
        journal.record([change(ONE)])
    with pytest.raises(OSError, match=problem):
        journal.withdraw(ONE.source)
    with pytest.raises(OSError, match=problem):
        ReactionJournal(str(tmp_path)).all()


def test_who_only_looks_leaves_a_broken_file(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("this is no database " * 100)
    broken = ReactionJournal(str(tmp_path), looking=True)
    assert broken.has_any(), "nobody knows"
    with pytest.raises(OSError, match="not a database"):
        broken.all()
    assert (tmp_path / NAME).exists()
    journal = ReactionJournal(str(tmp_path))
    assert journal.all() == ()
    assert [note.split(" (")[0] for note in journal.notes] == [
        "the list of pending reactions is damaged"
    ]
    assert not (tmp_path / NAME).exists()


def test_what_a_newer_runner_wrote_is_left_alone(tmp_path: Path) -> None:
    ReactionJournal(str(tmp_path)).record([change(ONE)])
    with closing(sqlite3.connect(tmp_path / NAME)) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)  # others may look
        other.execute(f"PRAGMA user_version={VERSION + 1}")
    for looking in (True, False):
        with pytest.raises(OSError, match=f"{tmp_path / NAME}"):
            ReactionJournal(str(tmp_path), looking=looking).all()
    with closing(sqlite3.connect(tmp_path / NAME)) as other:
        assert other.execute("SELECT count(*) FROM changes").fetchone() == (1,)


def test_nothing_is_settled_whose_reaction_may_be_due_once_more(
    journal: ReactionJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.engine.reaction_journal.FOLDER_SYNCS.commit", lambda: "not durable")
    journal.settle("nobody")
    with pytest.raises(OSError, match="not durable"):
        journal.settle(ONE.reactor)
    assert set(journal.all()) == written(tmp_path) == {ONE, OTHER, LATER}


def test_a_reaction_that_was_due_before_keeps_its_time(tmp_path: Path) -> None:
    journal = ReactionJournal(str(tmp_path))
    assert not journal.has_any() and journal.all() == ()
    assert not (tmp_path / NAME).exists()
    first = change(ONE)
    journal.record([first])
    journal.record([first._replace(time="later")])
    assert journal.all() == ReactionJournal(str(tmp_path)).all() == (ONE,)
    again = ReactionJournal(str(tmp_path))
    again.record([change(ONE._replace(run="run 2"), OTHER._replace(run="run 2"))])
    both = {ONE, OTHER._replace(run="run 2")}
    assert set(again.all()) == written(tmp_path) == both
    again.withdraw(ONE.source)
    assert set(again.all()) == written(tmp_path) == {ONE}


def rows(folder: Path) -> dict[str, int]:
    """How many the tables have."""
    with closing(sqlite3.connect(folder / NAME)) as database:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        count = "SELECT count(*) FROM "
        return {name: database.execute(count + name).fetchone()[0] for (name,) in names}


def test_what_many_react_to_is_one_row(tmp_path: Path) -> None:
    journal = ReactionJournal(str(tmp_path))
    reactors = [f"cmd_|-r{n}_|-r{n}_|-wait" for n in range(40)]
    audience = Audience("watch", dict.fromkeys(reactors, "a.sls:1"))
    for source in range(30):
        journal.record([Change(audience, f"source {source}", "run 1", "now")])
    assert rows(tmp_path) == {"debts": 0, "reactors": 40, "changes": 30}
    for reactor in reactors[1:]:
        journal.settle(reactor)
    assert rows(tmp_path) == {"debts": 0, "reactors": 1, "changes": 30}
    (pending,) = journal.all()
    assert pending.source == "source 0" and pending.sources.endswith("source 19 and 10 more")
    killed = ReactionJournal(str(tmp_path))
    killed.record([change(ONE)])
    assert rows(tmp_path) == {"debts": 0, "reactors": 2, "changes": 31}
    killed.settle(ONE.reactor)
    killed.settle(reactors[0])
    assert set(rows(tmp_path).values()) == {0}


def test_what_many_react_to_stays_one_row_in_later_runs(tmp_path: Path) -> None:
    reactors = [f"cmd_|-r{n}_|-r{n}_|-wait" for n in range(40)]
    for run in range(5):
        journal = ReactionJournal(str(tmp_path))
        assert len(journal.all()) == (40 if run else 0)
        audience = Audience("watch", dict.fromkeys(reactors, "a.sls:1"))
        for source in range(30):
            journal.record([Change(audience, f"source {source}", f"run {run}", "now")])
        assert rows(tmp_path)["changes"] == (60 if run else 30)
        assert {each.run for each in journal.pending(reactors[0])} == {"run 0"}
    journal.withdraw("source 0")  # of this run: it is still due from the first one
    for each in (journal, ReactionJournal(str(tmp_path))):
        assert {one.sources[-20:] for one in each.all()} == {"ource 19 and 10 more"}
    for reactor in reactors:
        ReactionJournal(str(tmp_path)).settle(reactor)
    assert set(rows(tmp_path).values()) == {0}


def test_the_place_may_be_that_of_the_change(tmp_path: Path) -> None:
    journal = ReactionJournal(str(tmp_path))
    audience = Audience("listen", {"r": ""})
    for number in range(2):
        journal.record([Change(audience, f"s{number}", "run 1", "now", f"a.sls:{number}")])
    told = [(each.source, each.place, each.sources) for each in journal.all()]
    assert told == [("s0", "a.sls:0", "s0, s1")]
    assert written(tmp_path) == set(journal.all())


def test_what_version_1_left_is_gone_on_with(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / NAME)) as database, database:
        database.execute(
            "CREATE TABLE debts (reactor TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL,"
            " run TEXT NOT NULL, time TEXT NOT NULL, place TEXT NOT NULL,"
            " PRIMARY KEY (reactor, kind, source))"
        )
        left = [tuple(each)[:6] for each in (ONE, LATER, OTHER)]
        database.executemany("INSERT INTO debts VALUES (?, ?, ?, ?, ?, ?)", left)
        database.execute("PRAGMA user_version=1")
    journal = ReactionJournal(str(tmp_path))
    assert set(journal.all()) == {ONE, LATER, OTHER}
    assert rows(tmp_path) == {"debts": 3}, "who looks alters nothing"
    journal.settle(ONE.reactor, ("watch",))
    assert rows(tmp_path) == {"debts": 2, "reactors": 0, "changes": 0}
    journal.record([change(ONE)])
    assert set(journal.all()) == written(tmp_path) == {ONE, LATER, OTHER}
