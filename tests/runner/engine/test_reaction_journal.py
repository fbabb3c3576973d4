# SPDX-License-Identifier: Apache-2.0
"""The journal of pending reactions alone: what of it is durable, and what it tells."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from runner.engine.reaction_journal import NAME, VERSION, ReactionJournal
from runner.model.result import PendingReaction

ONE = PendingReaction("cmd_|-one_|-one_|-wait", "watch", "source", "run 1", "now", "a.sls:1")
OTHER = ONE._replace(reactor="cmd_|-other_|-other_|-wait", run="run 2")
LATER = ONE._replace(kind="listen", run="run 2")


def written(folder: Path) -> set[PendingReaction]:
    """What another run would read."""
    return set(ReactionJournal(str(folder)).all())


@pytest.fixture
def journal(tmp_path: Path) -> ReactionJournal:
    journal = ReactionJournal(str(tmp_path))
    journal.record([ONE, OTHER, LATER])
    return journal


def synchronous(journal: ReactionJournal) -> int:
    """Return how far SQLite goes to have the next transaction on the disk."""
    (level,) = journal._open().execute("PRAGMA synchronous").fetchone()
    assert isinstance(level, int)
    return level


def test_what_is_due_is_on_the_disk_before_the_change_and_what_is_done_need_not_be(
    journal: ReactionJournal,
) -> None:
    full, normal = 2, 1
    assert synchronous(journal) == full
    journal.settle(ONE.reactor)
    assert synchronous(journal) == normal
    journal.record([ONE])
    assert synchronous(journal) == full


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ({"reactor": ONE.reactor}, {OTHER}),
        ({"reactor": "nobody"}, {ONE, OTHER, LATER}),
        ({"source": "source"}, set()),
        ({"source": "another"}, {ONE, OTHER, LATER}),
        ({"source": "source", "kinds": ("listen",)}, {ONE, OTHER}),
        ({"source": "source", "run": "run 2"}, {ONE}),
        ({"reactor": ONE.reactor, "source": "another"}, {ONE, OTHER, LATER}),
        ({"reactor": ONE.reactor, "source": "source", "kinds": ("watch",)}, {OTHER, LATER}),
    ],
)
def test_what_is_settled(
    journal: ReactionJournal, tmp_path: Path, arguments: dict[str, str], left: set[PendingReaction]
) -> None:
    journal.settle(**arguments)  # type: ignore[arg-type]
    assert set(journal.all()) == written(tmp_path) == left
    assert journal.pending(OTHER.reactor) == tuple(left & {OTHER})
    assert journal.has_any() is bool(left)


def test_what_cannot_be_settled_is_an_error(journal: ReactionJournal, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / NAME) as other:
        other.execute("DROP TABLE debts")
    other.close()
    with pytest.raises(OSError, match=f"{tmp_path / NAME}: no such table"):
        journal.settle(ONE.reactor)
    with pytest.raises(OSError, match=f"{tmp_path / NAME}: no such table"):
        journal.record([ONE])


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
    ReactionJournal(str(tmp_path)).record([ONE])
    with closing(sqlite3.connect(tmp_path / NAME)) as other:
        assert other.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)  # others may look
        other.execute(f"PRAGMA user_version={VERSION + 1}")
    for looking in (True, False):
        with pytest.raises(OSError, match=f"{tmp_path / NAME}"):
            ReactionJournal(str(tmp_path), looking=looking).all()
    with closing(sqlite3.connect(tmp_path / NAME)) as other:
        assert other.execute("SELECT count(*) FROM debts").fetchone() == (1,)


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
    journal.record([ONE])
    journal.record([ONE._replace(time="later", run="run 2")])
    assert journal.all() == ReactionJournal(str(tmp_path)).all() == (ONE,)
