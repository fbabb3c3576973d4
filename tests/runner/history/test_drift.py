# SPDX-License-Identifier: Apache-2.0
"""Drift is what others changed behind our back, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

from command import Machine
from needing import require

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
        assert f"file.append more changed {whole} after it in run {run}: the two undo" in said
        assert f"file.managed {whole} changed {whole} before it in this run: the two undo" in said
    results = machine.results("sls", "a")
    assert [results[name]["__origin__"] for name in (whole, "more")] == ["repeats", "repeats"]
    path.write_text("theirs\n")
    assert "the two undo" not in machine("sls", "a").stdout, "somebody else has changed it"


def test_states_that_only_work_on_the_same_file_are_not(machine: Machine) -> None:
    machine.write(
        a="{tmp}/f: {file.touch: []}\nkept: {file.managed: [{name: '{tmp}/f'}, {mode: '0600'}]}\n"
        "more: {file.append: [{name: '{tmp}/f'}, {text: b}]}\n"
    )
    machine("sls", "a")
    (machine.folder / "f").unlink()
    assert "the two undo" not in machine("sls", "a").stdout
    (machine.folder / "f").write_text("")
    assert "the two undo" not in machine("sls", "a").stdout


def test_values_of_one_grain_undo_each_other(machine: Machine) -> None:
    machine.write(
        a="a: {grains.present: [{name: g}, {value: 1}, {force: true}]}\n"
        "b: {grains.present: [{name: g}, {value: 2}, {force: true}]}\n"
    )
    machine("sls", "a")
    assert "the two undo each other" in machine("sls", "a").stdout


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
