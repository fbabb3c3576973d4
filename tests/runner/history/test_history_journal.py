# SPDX-License-Identifier: Apache-2.0
"""What a killed run had not yet written into the history's database is there all the same."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import Machine
from starting import PATIENCE

from runner.history.journal import MOST, NAME, Journal, _record, _statements, recover
from runner.history.recorder import About, History
from runner.model.events import CustomEvent, RunStarted

# killed when the fourth file is about to get its name
KILLED = """
import os, signal, sys
renamed = []
def hear(event, arguments):
    if event == "os.rename" and ".runner-" in arguments[0]:
        renamed.append(arguments[1])
        if len(renamed) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hear)
from runner.cli import main
main()
"""
FILES = (
    "{% for n in range(6) %}\n{tmp}/{{ n }}:\n  file.managed: [{contents: new {{ n }}}]\n"
    "{% endfor %}\n"
)


@pytest.fixture
def killed(machine: Machine) -> Iterator[Machine]:
    """A machine whose run was killed after three files were written."""
    for number in range(6):
        (machine.folder / str(number)).write_text(f"old {number}\n")
    machine.write(a=FILES)
    argv = machine.argv("sls", "a")
    argv[2] = KILLED
    done = subprocess.run(argv, capture_output=True, env=machine.environment, cwd=machine.folder)
    assert done.returncode == -9
    yield machine


def state(machine: Machine) -> Path:
    return machine.folder / "cache/state"


def contents(machine: Machine) -> list[str]:
    return [(machine.folder / str(number)).read_text().split()[0] for number in range(6)]


def rows(machine: Machine) -> dict[str, int]:
    """Return how many rows of a killed run some tables have."""
    with closing(sqlite3.connect(state(machine) / "history.sqlite")) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("results", "changers", "kept", "left_behind", "made")
        }


def test_a_killed_run_is_in_the_history_and_can_be_undone(killed: Machine) -> None:
    assert (state(killed) / NAME).stat().st_size > 0
    assert contents(killed) == ["new"] * 3 + ["old"] * 3
    shown = killed("history", "show", "1").stdout
    assert all(f"changed  file.managed  {killed.folder}/{number}" in shown for number in range(3))
    for number in range(3, 6):  # together in one commit
        path = f"{killed.folder}/{number}"
        assert f"not ended  file: {path}\n            its last change: file.write {path}" in shown
    assert not (state(killed) / NAME).exists()
    assert rows(killed) == {"results": 3, "changers": 6, "kept": 6, "left_behind": 3, "made": 3}
    killed("undo", "1")
    assert contents(killed) == ["old"] * 6
    with closing(sqlite3.connect(state(killed) / "history.sqlite")) as connection:
        said = connection.execute("SELECT outcome FROM runs ORDER BY id").fetchall()
    assert said == [("killed",), ("done",)]


def test_a_killed_run_says_in_which_state_it_was_killed(machine: Machine) -> None:
    machine.write(
        a="tells nothing:\n  cmd.run: [name: echo changed=no, stateful: true]\n"
        "hangs:\n  cmd.run: [name: 'kill -KILL $PPID; sleep 9']\nlater:\n  test.nop: []\n"
    )
    machine("sls", "a", code=-9)
    (unfinished,) = machine.answer("history", "show")["unfinished"]
    assert unfinished.startswith("cmd_|-hangs_|-")
    shown = machine("history", "show").stdout
    assert "not ended  cmd: hangs\n            its last change: cmd.execute_shell kill -KI" in shown
    machine.write(a="later:\n  test.succeed_with_changes: []\n")
    machine("sls", "a")
    assert "not ended" not in machine("history", "show").stdout


def test_nothing_is_written_twice(killed: Machine) -> None:
    journal = state(killed) / NAME
    shutil.copy(journal, killed.folder / "copy")
    killed("history")
    before = rows(killed)
    shutil.copy(killed.folder / "copy", journal)
    journal.chmod(0o600)
    killed("sls", "a")
    assert contents(killed) == ["new"] * 6
    assert rows(killed)["changers"] == before["changers"] + 3
    assert "killed" in killed("history").stdout
    assert not journal.exists()


def test_of_two_runs_at_once_one_has_the_journal(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    one, other = (Journal(str(tmp_path / "state"), number, str(number)) for number in (1, 2))
    for journal in (one, other):
        journal.add("INSERT INTO x VALUES (?)", (1,))
    assert (one.save(), other.save()) == (False, True)  # the other one writes at once
    other.close()
    assert len([*_statements((tmp_path / "state" / NAME).read_bytes())]) == 1
    one.close()
    assert not (tmp_path / "state" / NAME).exists()


def numbers(file: Path) -> list[int]:
    """The numbers of the statements in a journal."""
    return [number for _, _, number, _, _ in _statements(file.read_bytes())]


X, GONE = "INSERT INTO x VALUES (?)", "INSERT INTO gone VALUES (?)"


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    """A table that statements write into, and the run 1."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE x (a)")
        connection.execute("CREATE TABLE runs (id, run, written)")
        connection.execute("INSERT INTO runs VALUES (1, 'one', 0)")
        yield connection


def found(database: sqlite3.Connection) -> tuple[list[int], int]:
    """The values in the table, and how many statements of the run are written."""
    values = [value for (value,) in database.execute("SELECT a FROM x")]
    return values, database.execute("SELECT written FROM runs").fetchone()[0]


def waiting(folder: Path, *statements: tuple[str, int]) -> Journal:
    """The journal of run 1, with what was saved."""
    (folder / "state").mkdir(mode=0o700, exist_ok=True)
    journal = Journal(str(folder / "state"), 1, "one")
    for statement, value in statements:
        journal.add(statement, (value,))
    journal.save()
    return journal


def test_what_is_saved_is_recovered_once(tmp_path: Path, database: sqlite3.Connection) -> None:
    journal, file = waiting(tmp_path, (X, 1), (X, 2)), tmp_path / "state" / NAME
    assert (journal.save(), numbers(file)) == (False, [1, 2])
    journal.add(X, (3,), (4,))
    assert (journal.save(), numbers(file)) == (False, [1, 2, 3, 4])
    recover(str(tmp_path / "state"), database)
    assert found(database) == ([], 0), "its run is under way"
    journal.write(database)
    assert (found(database), file.stat().st_size) == (([1, 2, 3, 4], 4), 0)
    journal.write(database)
    journal.add(X, (5,))
    journal.save()
    copy = file.read_bytes()
    journal.close()
    assert not file.exists()
    for _ in range(2):
        file.write_bytes(copy)
        recover(str(tmp_path / "state"), database)
        assert found(database) == ([1, 2, 3, 4, 5], 5)
        assert not file.exists()
        assert not database.in_transaction


def test_what_two_runs_have_left_is_recovered(tmp_path: Path, database: sqlite3.Connection) -> None:
    """The journal of the first could not be taken in when the second began."""
    database.execute("INSERT INTO runs VALUES (2, 'two', 0)")
    journal = waiting(tmp_path, (GONE, 1), (X, 2))
    os.close(journal._opened())
    data = _record((2, "two", 1, [X], [0], [(3,)]))
    with (tmp_path / "state" / NAME).open("ab") as file:
        file.write(data)
    recover(str(tmp_path / "state"), database)
    assert found(database) == ([2, 3], 2)


def test_a_damaged_statement_is_left_out(tmp_path: Path, database: sqlite3.Connection) -> None:
    journal = waiting(tmp_path, (X, 1), (GONE, 2))
    journal.add(X, (3,))
    journal.save()
    os.close(journal._opened())  # as a kill does
    recover(str(tmp_path / "state"), database)
    assert found(database) == ([1, 3], 3)
    one, other = (_record((1, "one", number, [X], [0], [(number,)])) for number in (4, 5))
    for damaged in (one[:-1] + b"!", one[:-1], b"!" + one[1:], b"\0" * 20, b"()"):
        (tmp_path / "state" / NAME).write_bytes(damaged + other)
        recover(str(tmp_path / "state"), database)
        assert found(database) == ([1, 3], 3)
    (tmp_path / "state" / NAME).write_bytes(one + other[:-3])
    recover(str(tmp_path / "state"), database)
    assert found(database) == ([1, 3, 4], 4)


def test_values_with_classes_of_their_own_are_saved(tmp_path: Path) -> None:
    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return self

    class Number(int): ...

    row = (Text("t"), Number(7), True, 1.5, b"b", None)
    ((*_, saved),) = _statements(_record((1, "one", 1, [X], [0], [row])))
    assert saved == row and list(map(type, saved)) == [str, int, bool, float, bytes, type(None)]


@pytest.mark.parametrize(("number", "full"), [(MOST - 1, False), (MOST, True)])
def test_many_statements_wait_no_longer(tmp_path: Path, number: int, full: bool) -> None:
    journal = waiting(tmp_path, (X, 0))
    journal._since = float("inf")  # as if the first had begun to wait just now
    journal.add(X, *[(0,)] * (number - 1))
    assert journal.save() is full
    journal.close()


def test_an_old_statement_waits_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    journal = waiting(tmp_path, (X, 1))
    for now, full in ((1000.5, False), (1000.6, True)):
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        journal.add(X, (2,))
        assert journal.save() is full
    journal.close()


def test_what_did_not_fit_on_the_disk_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.write", lambda _, data: len(data) - 1)
    with pytest.raises(OSError, match="the disk is full"):
        waiting(tmp_path, (X, 1))


@pytest.mark.parametrize("damage", ["cut", "binary", "of another history"])
def test_a_damaged_journal_costs_what_is_damaged(killed: Machine, damage: str) -> None:
    journal = state(killed) / NAME
    data = journal.read_bytes()
    expected = {"results": 2, "changers": 6}
    if damage == "cut":
        journal.write_bytes(data[:-20])
    elif damage == "binary":
        first = 8 + int.from_bytes(data[4:8])  # what is announced of all files
        journal.write_bytes(data[:first] + b"\0\xff" * 99 + data[first:])
        expected = {"results": 0, "changers": 6}
    else:
        for path in state(killed).glob("history.sqlite*"):
            path.unlink()
        killed("sls", "a")
        expected = {"results": 6, "changers": 3}  # those of this run
    killed("history")
    assert rows(killed).items() >= expected.items()
    killed("sls", "a")
    assert contents(killed) == ["new"] * 6
    assert not journal.exists()


def test_states_that_run_side_by_side_are_noted_one_after_the_other(tmp_path: Path) -> None:
    """Two would write with one connection, and number what they keep alike."""
    noted = threading.Event()

    def note() -> None:
        history(CustomEvent("of another thread", {}))
        noted.set()

    def graph() -> dict[str, object]:  # which is asked for while the run is noted
        other.start()
        assert not noted.wait(0.1)
        return {}

    other = threading.Thread(target=note)
    history = History(str(tmp_path), About("runner"), [], 0, 0, graph=graph)
    history(RunStarted(0, False, "run"))
    assert noted.wait(PATIENCE) and not history.problem
