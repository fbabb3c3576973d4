# SPDX-License-Identifier: Apache-2.0
"""Drift is what others changed behind our back, and nothing else."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from command import Machine
from needing import require

from runner.history.judging import Judge
from runner.history.recorder import CHANGER
from runner.history.schema import SCHEMA
from runner.history.unchanged import BEGIN, RESULT

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n    - mode: '0600'\n"


def test_what_an_undo_restored_is_no_drift(machine: Machine) -> None:
    (machine.folder / "f").write_text("old")
    machine.write(a=FILE)
    machine("sls", "a")
    machine("sls", "a")
    machine("undo")
    assert "drift" not in machine("sls", "a", "--test").stdout
    assert "__origin__" not in machine.results("sls", "a")[f"{machine.folder}/f"]
    (machine.folder / "f").write_text("theirs")
    assert machine.results("sls", "a")[f"{machine.folder}/f"]["__origin__"] == "drift"


def test_what_a_command_or_another_tree_changed_is_no_drift(machine: Machine) -> None:
    target = f"{machine.folder}/f"
    machine.write(a=FILE, gone="{tmp}/f: {file.absent: []}")
    machine("sls", "a")
    for words in (["single", "file.absent", f"name={target}"], ["sls", "gone"]):
        machine(*words)
        assert "__origin__" not in machine.results("sls", "a")[target]
        machine("sls", "a")
    single = ["single", "file.managed", f"name={target}", "contents=x"]
    machine(*single)
    machine("sls", "gone")
    assert "__origin__" not in machine.results(*single)[target]


def test_states_that_undo_each_other_are_named_and_no_drift(machine: Machine) -> None:
    text = "{tmp}/f: {file.managed: [{contents: a}]}\n"
    text += "more: {file.append: [{name: '{tmp}/f'}, {text: b}]}\n"
    machine.write(a=text)
    whole, path = f"{machine.folder}/f", machine.folder / "f"
    machine("sls", "a")
    for run in (1, 2):
        said = machine("sls", "a").stdout
        assert f"file.append more changed {whole} after it in run {run}: the two may undo" in said
        assert (
            f"file.managed {whole} changed {whole} before it in this run: the two may undo" in said
        )
    results = machine.results("sls", "a")
    assert [results[name]["__origin__"] for name in (whole, "more")] == ["repeats", "repeats"]
    path.write_text("theirs\n")
    assert "the two may undo" not in machine("sls", "a").stdout, "somebody else has changed it"


def test_states_that_only_work_on_the_same_file_are_not(machine: Machine) -> None:
    machine.write(
        a="{tmp}/f: {file.touch: []}\nkept: {file.managed: [{name: '{tmp}/f'}, {mode: '0600'}]}\n"
        "more: {file.append: [{name: '{tmp}/f'}, {text: b}]}\n"
    )
    machine("sls", "a")
    (machine.folder / "f").unlink()
    assert "the two may undo" not in machine("sls", "a").stdout
    (machine.folder / "f").write_text("")
    assert "the two may undo" not in machine("sls", "a").stdout


def test_values_of_one_grain_undo_each_other(machine: Machine) -> None:
    machine.write(
        a="a: {grains.present: [{name: g}, {value: 1}, {force: true}]}\n"
        "b: {grains.present: [{name: g}, {value: 2}, {force: true}]}\n"
    )
    machine("sls", "a")
    assert "the two may undo each other in each run" in machine("sls", "a").stdout


def test_what_a_function_of_the_tree_does_again_is_no_drift(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name):\n    'A box.'\n"
        "    return {'name': name, 'result': True, 'comment': '', 'changes': {'x': 'y'}}\n"
    )
    machine.write(a="x: {box.made: []}\n")
    origins = [machine.results("sls", "a")["x"].get("__origin__") for _ in range(2)]
    assert origins == [None, "repeats"]


def git(folder: Path, *words: str) -> None:
    require("git")
    who = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_a_new_commit_upstream_is_no_drift(machine: Machine) -> None:
    upstream, clone = machine.folder / "upstream", machine.folder / "clone"
    upstream.mkdir()
    git(upstream, "init", "-b", "main")
    machine.write(
        a="the app:\n  git.latest: [name: {tmp}/upstream, target: {tmp}/clone, rev: main]\n"
    )
    origins = []
    for commit in ("one", "two"):
        git(upstream, "commit", "--allow-empty", "-m", commit)
        found = machine.results("sls", "a")["the app"]
        assert found["changes"]["revision"]["new"]
        origins.append(found.get("__origin__"))
        machine("sls", "a")
    git(clone, "reset", "--hard", "HEAD~1")
    origins.append(machine.results("sls", "a")["the app"].get("__origin__"))
    assert origins == [None, None, "drift"]


def test_an_edit_that_its_own_result_calls_for_is_no_drift(machine: Machine) -> None:
    (machine.folder / "f").write_text("a")
    machine.write(a="{tmp}/f: {file.replace: [{pattern: a, repl: aa, backup: false}]}\n")
    assert origin(machine, "sls", "a") == "intent"
    for words in (["sls", "a", "--test"], ["sls", "a"]):
        said = machine(*words).stdout
        assert "all was as run 1 left it: each run may change it again" in said
        assert "drift" not in said.lower()
    machine.write(a=FILE)
    for _ in range(2):
        machine("sls", "a")
    for words in (["sls", "a", "--test"], ["sls", "a"]):
        (machine.folder / "f").chmod(0o640)
        assert origin(machine, *words) == "drift"


def test_what_a_template_reads_is_no_drift(machine: Machine) -> None:
    (machine.folder / "said").write_text("one")
    machine.write(
        a="""
            {tmp}/f:
              file.managed:
                - source: salt://t
                - template: jinja
        """,
    )
    (machine.folder / "states/t").write_text(
        f"{{{{ salt['cmd.run']('cat {machine.folder}/said') }}}}"
    )
    for _ in range(2):
        machine("sls", "a")
    (machine.folder / "said").write_text("two")
    for words in (["sls", "a", "--test"], ["sls", "a"]):
        assert origin(machine, *words) == "intent"


def test_two_states_at_odds_are_no_drift(machine: Machine) -> None:
    machine.write(
        a=(
            "one: {file.managed: [name: {tmp}/f, contents: a]}\ntwo: {file.managed: [name: {tmp}/f,"
            " contents: b]}\n"
        )
    )
    machine("sls", "a")
    assert {each["__origin__"] for each in machine.results("sls", "a").values()} == {"repeats"}
    assert {each["__origin__"] for each in machine.results("sls", "a").values()} == {"repeats"}


def origin(machine: Machine, *words: str) -> str:
    """The reason of what the last state did, as the history has it after a run."""
    machine(*words)
    (row,) = history(machine, "SELECT origin FROM results ORDER BY run DESC, position DESC LIMIT 1")
    return str(row[0])


def history(machine: Machine, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(machine.folder / "cache/state/history.sqlite")) as connection:
        return connection.execute(query).fetchall()


def test_what_a_command_changed_is_none_where_the_state_had_never_changed_it(
    machine: Machine,
) -> None:
    (machine.folder / "f").write_text("new\n")
    (machine.folder / "f").chmod(0o600)
    machine.write(a=FILE)
    machine("sls", "a")
    machine("single", "file.absent", f"name={machine.folder}/f")
    assert origin(machine, "sls", "a") == "intent"


def test_a_dry_run_tells_drift_from_what_runner_did(machine: Machine) -> None:
    machine.write(a=FILE)
    machine("sls", "a")
    machine("single", "file.append", f"name={machine.folder}/f", "text=more")
    assert origin(machine, "sls", "a", "--test") == "intent"
    for _ in range(2):
        machine("sls", "a")
    (machine.folder / "f").write_text("theirs")
    assert origin(machine, "sls", "a", "--test") == "drift"


def test_a_file_that_a_command_has_moved_away_is_none(machine: Machine) -> None:
    machine.write(a=FILE)
    machine("sls", "a")
    machine("single", "file.rename", f"name={machine.folder}/g", f"source={machine.folder}/f")
    assert origin(machine, "sls", "a") == "intent"


def test_the_last_of_those_that_undo_a_state_is_named(machine: Machine) -> None:
    write = "{}: {{file.managed: [name: {{tmp}}/f, contents: {}, mode: '{}']}}\n"
    machine.write(
        a=write.format("a", "a", "0600"),
        b=write.format("b", "b", "0644"),
        c=write.format("c", "c", "0640"),
        all="include: [a, b, c]\n",
    )
    for name in ("all", "a", "b", "c"):
        machine("sls", name)
    assert "file.managed c changed {f} after it in run 4".format(f=machine.folder / "f") in (
        machine("sls", "all").stdout
    )


def test_what_follows_from_a_change_of_the_tree_is_no_contest(machine: Machine) -> None:
    text = "{tmp}/f: {file.managed: [{contents: one}]}\n"
    text += "more: {file.append: [{name: '{tmp}/f'}, {text: b}]}\n"
    machine.write(a=text)
    machine("sls", "a")
    machine.write(a=text.replace("one", "two"))
    assert origin(machine, "sls", "a") == "intent"


def test_two_that_undo_each_other_are_named_where_a_new_state_comes_before_them(
    machine: Machine,
) -> None:
    text = "{tmp}/f: {file.managed: [{contents: a}]}\n"
    text += "more: {file.append: [{name: '{tmp}/f'}, {text: b}]}\n"
    machine.write(a=text)
    machine("sls", "a")
    machine.write(a="new: {file.append: [{name: '{tmp}/f'}, {text: c}]}\n" + text)
    said = machine("sls", "a").stdout
    assert (
        f"file.append more changed {machine.folder}/f after it in run 1: the two may undo" in said
    )


@pytest.mark.parametrize(
    ("function", "reason"), [("user.chshell", "intent"), ("group.delete", "drift")]
)
def test_another_function_of_the_same_module_on_the_same_target_is_ours(
    function: str, reason: str
) -> None:
    """What has no path: only the calls tell of it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        for run in ("one", "two"):
            began = (run, "", "0", 0.0, None, None, 1, "run", "sls", "", "")
            connection.execute(BEGIN, began)
        row = ("t", "i", "n", "user.present", "a", 1, 1, "{}", "", 0.1, "a:1", None, "", b"d")
        connection.execute(RESULT, (1, 0, *row, "unchanged", "{}", None))
        calls = [(1, "t", "user.add"), (2, "other", function)]
        for number, tag, called in calls:
            connection.execute(CHANGER, (number, tag, called, "bob", "null", 1))
        judge = Judge(connection, 3, (), lambda part: ())
        assert judge("t", b"d", converges=True)[0] == reason
        connection.execute("DELETE FROM changers WHERE run = 2")
        judge.calls.note("other", ("bob", function.partition(".")[0] + "."))
        assert judge("t", b"d", converges=True)[0] == reason
