# SPDX-License-Identifier: Apache-2.0
"""Code of a tree that does what no code should: the run goes on, and says what was the matter."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Machine

STATES = """
import os, subprocess, sys
from runner.api import Plan

def _ok(name): return {"name": name, "changes": {"x": "y"}, "result": True, "comment": "ok"}
def exits(name): sys.exit(0)
def base(name): raise BaseException("base")
def lists(name): return {**_ok(name), "changes": [1]}
def cyclic(name):
    changes = {}
    changes["d"] = changes
    return {**_ok(name), "changes": changes}
def yields(name): yield 1
def twice(name):
    yield Plan({}, "once")
    yield Plan({}, "again")
def answers(name):
    yield Plan({"x": "y"}, "once")
    return 5
def odd(name): return {**_ok(name), "comment": "a\\udcff"}
def forks(name):
    if os.fork() == 0:
        return _ok(name)
    os.wait()
    return _ok(name)
def moves(name):
    os.chdir("/")
    os.umask(0o777)
    return _ok(name)
def prints(name):
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run(["echo", "called"])
    return _ok(name)
"""
FAILING = {
    "exits": "RuntimeError: sys.exit(0) was called",
    "base": "BaseException: base",
    "lists": "'Changes' should be a dictionary, not [1]",
    "cyclic": "nested more than 200 levels deep",
    "yields": "bad.yields yields int, not a Plan",
    "twice": "RuntimeError: bad.twice yields twice (",
    "answers": "bad.answers returned int, not a comment or Done",
}
WORKING = ("odd", "forks", "moves", "prints")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    machine = Machine(tmp_path_factory.mktemp("bad"))
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/bad.py").write_text(STATES)
    lines = [f"{name}: {{bad.{name}: []}}\n" for name in (*FAILING, *WORKING)]
    machine.write(
        t="".join(lines) + "after:\n  cmd.run: [{name: pwd; umask; echo x >> {tmp}/after}]\n"
    )
    done = machine("sls", "t", "--out", "json", code=2)
    results = {each["__id__"]: each for each in json.loads(done.stdout)["local"].values()}
    return machine.folder, results, done.stderr


@pytest.mark.parametrize("name", FAILING)
def test_a_state_that_fails(ran: Any, name: str) -> None:
    assert ran[1][name]["result"] is False and FAILING[name] in ran[1][name]["comment"]


def test_the_others_run_once_and_where_they_should(ran: Any) -> None:
    folder, results, told = ran
    assert all(results[name]["result"] for name in WORKING)
    assert results["after"]["changes"]["stdout"] == f"{folder}\n0022"
    assert (folder / "after").read_text() == "x\n"
    assert all(word in told for word in ("printed", "written", "called"))


def test_names_that_are_no_utf8_are_kept_in_the_history(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(t="{tmp}/d: {file.directory: [{clean: true}]}")
    (tmp_path / "d").mkdir()
    odd = os.path.join(os.fsencode(tmp_path), b"d/\xff")
    subprocess.run([b"touch", odd], check=True)
    assert "history" not in machine("sls", "t").stderr
    assert json.loads(machine("history", "--out", "json").stdout)["local"][0]["changed"] == 1
    machine("undo")
    assert os.path.exists(odd)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import sys\nsys.exit(3)", "m.py fails while it is loaded: SystemExit: 3"),
        (
            "def __virtual__(): raise ValueError('v')",
            "m.py fails while it is loaded: ValueError: v",
        ),
        (
            "def __init__(opts): raise ValueError('v')\nf = int",
            "m.py fails while it is loaded: ValueError: v",
        ),
        ("import sys\ndef f(): sys.exit(3)", "m.f: RuntimeError: sys.exit(3) was called"),
        ("def f(): raise RuntimeError('r')", "m.f: RuntimeError: r"),
    ],
)
def test_a_function(tmp_path: Path, code: str, told: str) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "states/_modules").mkdir()
    (tmp_path / "states/_modules/m.py").write_text(code)
    answer = machine("call", "m.f", code=1).stderr
    assert told in answer and "_modules/m.py:" in answer and "bug" not in answer


def test_an_interrupt_in_a_guard_ends_the_run(machine: Machine) -> None:
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/m.py").write_text("def stop(): raise KeyboardInterrupt")
    machine.write(a="a: {test.nop: [{onlyif: [{fun: m.stop}]}]}\nb: {test.nop: []}\n")
    assert "Not run: test.nop b." in machine("sls", "a", code=130).stdout


COMMANDS = {
    **{f"show {what}": ["show", what] for what in ("top", "highstate", "lowstate", "graph")},
    "show pillar": ["show", "pillar"],
    "show sls": ["show", "sls", "a"],
    "why": ["why", "y", "--run"],
    "orphans": ["orphans"],
    "prune": ["prune", "--test"],
    "resource": ["resource", "test"],
    "doc": ["doc"],
    "doc of a state": ["doc", "noisy.said"],
    "doc of a word": ["doc", "watch"],
    "doc --missing": ["doc", "--missing", "pillar"],
    "schema": ["schema"],
    "check": ["check"],
    "call": ["call", "noisy.said"],
    "highstate": ["highstate", "--test"],
    "sls": ["sls", "a"],
    "single": ["single", "noisy.said", "name=x"],
    "history": ["history"],
}
NOISY = """
print("loaded")
def said(name="x"):
    print("called")
    return {"name": name, "result": True, "changes": {}, "comment": ""}
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_an_answer_is_alone_whatever_the_tree_prints(command: str, machine: Machine) -> None:
    machine.write(
        a="# {{ salt['noisy.said']() }} {{ grains.get('called') }}\nx: {test.nop: []}\n"
        "y: {noisy.said: [require: [test: x]]}\n",
        top="base: {'*': [a]}\n",
    )
    for kind in ("_modules", "_states", "_grains"):
        (machine.folder / "states" / kind).mkdir()
        (machine.folder / "states" / kind / "noisy.py").write_text(NOISY)
    machine("sls", "a")
    form = [] if command == "schema" else ["--out", "json"]
    json.loads(machine(*COMMANDS[command], *form, code=None).stdout)
