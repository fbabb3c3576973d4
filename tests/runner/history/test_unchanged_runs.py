# SPDX-License-Identifier: Apache-2.0
"""Runs that change nothing are in the history like others, and cost no database."""

from __future__ import annotations

import fcntl
import itertools
import marshal
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command import Machine

from runner.history import unchanged
from runner.history.unchanged import LARGEST, NAME

TREE = (
    "{tmp}/f:\n  file.managed: [contents: a]\n"
    "{tmp}/g:\n  file.managed:\n    - contents: b\n    - require: [{file: '{tmp}/f'}]\n"
)


@pytest.fixture
def converged(machine: Machine) -> Iterator[Machine]:
    """A machine whose one run has made two files."""
    machine.write(a=TREE)
    machine("sls", "a")
    yield machine


def waiting(machine: Machine) -> Path:
    return machine.folder / "cache/state" / NAME


def size(machine: Machine) -> int:
    return waiting(machine).stat().st_size if waiting(machine).exists() else 0


def rows(machine: Machine, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(machine.folder / "cache/state/history.sqlite")) as database:
        return database.execute(query).fetchall()


def numbers(machine: Machine) -> list[int]:
    return [run["id"] for run in machine.answer("history")]


def test_they_wait_until_somebody_opens_the_history(converged: Machine) -> None:
    for _ in range(3):
        converged("sls", "a")
    assert rows(converged, "SELECT id FROM runs") == [(1,)]
    assert size(converged) > 0
    assert numbers(converged) == [4, 3, 2, 1]
    assert size(converged) == 0


def test_nothing_is_lacking_of_them(converged: Machine) -> None:
    """The first one that finds all as it should be is written at once, as its file is locked."""
    with waiting(converged).open("w") as file:
        waiting(converged).chmod(0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        converged("sls", "a")
    assert rows(converged, "SELECT id FROM runs") == [(1,), (2,)]
    converged("sls", "a")
    assert numbers(converged) == [3, 2, 1]
    of_time = {"id", "run", "started", "finished", "duration", "started_after", "written"}
    for table, key in (("runs", "id"), ("results", "run")):
        with closing(sqlite3.connect(waiting(converged).with_name("history.sqlite"))) as database:
            database.row_factory = sqlite3.Row
            found = [
                [dict(row) for row in database.execute(f"SELECT * FROM {table} WHERE {key} = {n}")]
                for n in (2, 3)
            ]
        at_once, later = (
            [{name: value for name, value in row.items() if name not in of_time} for row in one]
            for one in found
        )
        assert at_once == later and later
        assert all(
            (row[name] is None) == (other[name] is None)
            for row, other in zip(*found, strict=True)
            for name in row
        )
    assert rows(converged, "SELECT count(*) FROM contents JOIN runs ON graph = content") == [(3,)]


def test_their_states_stand_in_the_file_once(converged: Machine) -> None:
    """They are known by the kept plan, which the third run of a tree is the first to have."""
    sizes = []
    for _ in range(4):
        converged("sls", "a")
        sizes.append(size(converged))
    further = [later - former for former, later in itertools.pairwise(sizes)]
    assert max(further[1:]) < sizes[0] / 2


def test_what_differs_while_the_tree_compiles_to_the_same_is_kept(machine: Machine) -> None:
    """Comments by what is there, and the pillar of what is rendered."""
    machine.write(
        a="{tmp}/g:\n  file.managed: [contents: b, create: false]\n"
        "{tmp}/h:\n  file.managed: [contents: c, template: jinja]\n",
        pillar__top="base: {'*': [p]}",
    )
    for there, pillar in ((0, 1), (0, 1), (0, 1), (0, 1), (1, 1), (1, 2), (1, 2)):
        (machine.folder / "g").write_text("b\n") if there else None
        machine.write(pillar__p=f"k: {pillar}")
        machine("sls", "a")
    assert len(numbers(machine)) == 7
    said = rows(machine, "SELECT comment, digest FROM results ORDER BY run, position")
    comments = [comment.split()[-1] for comment, _ in said[::2]]
    assert comments == ["creation"] * 4 + ["state"] * 3
    assert len({digest for _, digest in said[::2]}) == 1
    rendered = [digest for _, digest in said[1::2]]
    assert [rendered.index(digest) for digest in rendered] == [0, 0, 0, 0, 0, 5, 5]


def test_dry_runs_are_kept_apart(converged: Machine) -> None:
    converged("sls", "a", "--test")
    assert size(converged)
    assert numbers(converged) == [2, 1]
    assert rows(converged, "SELECT kind FROM runs") == [("run",), ("test",)]
    (converged.folder / "g").write_text("other")
    converged("sls", "a", "--test")
    assert (size(converged), rows(converged, "SELECT count(*) FROM runs")) == (0, [(3,)])


def test_a_run_that_changes_something_comes_after_them(converged: Machine) -> None:
    converged("sls", "a")
    (converged.folder / "g").unlink()
    converged("sls", "a")
    assert rows(converged, "SELECT id, changed FROM runs") == [(1, 2), (2, 0), (3, 1)]
    started = [when for (when,) in rows(converged, "SELECT started FROM runs ORDER BY id")]
    assert started == sorted(started)


def test_a_damaged_one_is_left_out_and_none_is_written_twice(converged: Machine) -> None:
    for _ in range(4):
        converged("sls", "a")
    copy = waiting(converged).read_bytes()
    last = copy.rindex(b"\nrun ")
    damaged = bytearray(copy)
    damaged[copy.rindex(b"\nrun ", 0, last) + 40] ^= 1
    waiting(converged).write_bytes(damaged)
    assert len(numbers(converged)) == 4
    waiting(converged).write_bytes(copy)
    assert len(numbers(converged)) == 4
    waiting(converged).write_bytes(b"no runs at all")
    assert len(numbers(converged)) == 4
    assert size(converged) == 0


STATES = ("", {}, [("t",) * 14])
FACTS: list[Any] = [
    ("other", "command", "0", 1.0, "", 0, 1, "run", ""),
    (1, {}),
    (1.0, "done", 0, 0, 0, []),
    (0, 0),
    [0.1],
    [0.1],
    marshal.dumps(STATES),
]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (0, (*FACTS[0], "a column more")),
        (0, (None, *FACTS[0][1:])),
        (0, ()),
        (0, 5),
        (4, [0.1, 0.2]),
        (4, 5),
        (5, [object]),
        (6, b""),
        (6, b"no states"),
        (6, marshal.dumps(5)),
        (7, "one more"),
        (None, None),
    ],
)
def test_a_record_of_another_form_is_left_out(
    converged: Machine, number: int | None, value: Any
) -> None:
    """It is whole, by its checksum: another version of runner has written it."""
    facts = list(FACTS)
    if number == 7:
        facts.append(value)
    elif number is not None:
        facts[number] = value if value != [object] else [b"bytes", *facts]
    body = b"\xff" if number is None else marshal.dumps(tuple(facts))
    body += b"d" * unchanged._DIGEST
    record = unchanged._MARK + unchanged._checksum(body) + len(body).to_bytes(4) + body
    converged("sls", "a")
    with waiting(converged).open("ab") as file:
        file.write(record)
    converged("sls", "a")
    assert numbers(converged) == [3, 2, 1]
    assert (converged.folder / "f").exists() and size(converged) == 0
    (converged.folder / "f").unlink()
    assert converged("sls", "a").stderr == ""
    assert numbers(converged) == [4, 3, 2, 1]


def test_dropped_runs_do_not_come_back(converged: Machine) -> None:
    """Who took them in was killed before the file was empty."""
    converged.config["history_runs"] = 2
    for _ in range(4):
        converged("sls", "a")
    copy = waiting(converged).read_bytes()
    before = numbers(converged)
    waiting(converged).write_bytes(copy)
    assert numbers(converged) == before


def test_older_runs_are_dropped_all_the_same(converged: Machine) -> None:
    converged.config["history_runs"] = 2
    for _ in range(4):
        converged("sls", "a")
    assert numbers(converged) == [5, 4]


def test_many_are_written_into_the_database(converged: Machine) -> None:
    converged("sls", "a")
    with waiting(converged).open("ab") as file:
        file.truncate(LARGEST + 1)
    converged("sls", "a")
    assert (size(converged), rows(converged, "SELECT count(*) FROM runs")) == (0, [(3,)])


def test_others_cannot_have_runs_written(converged: Machine) -> None:
    """What stands in the place of the file is not written to."""
    other = converged.folder / "other"
    other.write_text("theirs")
    waiting(converged).symlink_to(other)
    assert converged("sls", "a").stderr == ""
    assert other.read_text() == "theirs"
    assert rows(converged, "SELECT count(*) FROM runs") == [(2,)]
    shutil.rmtree(converged.folder / "cache/state/undo")
    assert numbers(converged) == [2, 1]
