# SPDX-License-Identifier: Apache-2.0
"""What a release left on a machine is gone on with by the next ones; what a later one left is
refused with words.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from command import ROOT, Machine

LEFT_BY_0_1_0 = Path(__file__).parent / "data/state-0.1.0"
# the tree of that machine, whose `restart` has failed so far
SITE = """
{tmp}/motd:
  file.managed:
    - contents: the new text
    - mode: '0644'

{tmp}/added:
  file.managed:
    - contents: added

restart:
  cmd.wait:
    - name: test -e {tmp}/allowed && touch {tmp}/restarted
    - watch:
      - file: {tmp}/motd
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine that 0.1.0 ran on twice."""
    state = tmp_path / "cache/state"
    shutil.copytree(LEFT_BY_0_1_0 / "undo", state / "undo")
    for name in ("history", "debts"):
        script = (LEFT_BY_0_1_0 / f"{name}.sql").read_text()
        for word, value in (("tmp", tmp_path), ("uid", os.getuid()), ("gid", os.getgid())):
            script = script.replace(f"{{{word}}}", str(value))
        with closing(sqlite3.connect(state / f"{name}.sqlite")) as database:
            database.executescript(script)
    for folder in (state.parent, state):
        folder.chmod(0o700)
    (tmp_path / "motd").write_text("the new text\n")
    (tmp_path / "added").write_text("added\n")
    for name in ("motd", "added"):
        (tmp_path / name).chmod(0o644)
    machine = Machine(tmp_path)
    machine.write(site=SITE, top="base: {'*': [site]}")
    return machine


def test_history_pending_reactions_and_undo_of_0_1_0_go_on(machine: Machine) -> None:
    tmp = machine.folder
    runs = machine.answer("history")
    assert [(run["id"], run["failed"], run["command"]) for run in runs] == [
        (2, 1, "runner highstate"),
        (1, 1, "runner highstate"),
    ]
    shown = machine("history", "show", "1").stdout
    assert "-the old text" in shown and "+the new text" in shown and "mode: 0644" in shown
    (pending,) = machine.answer("show", "pending")
    assert pending["reactor"].startswith("cmd_|-restart_|-") and pending["kind"] == "watch"

    (tmp / "allowed").touch()
    (tmp / "added").write_text("by hand\n")
    results = machine.results("highstate")
    assert results["restart"]["result"] and (tmp / "restarted").exists()
    assert results[f"{tmp}/added"]["__origin__"] == "drift", "since a run of 0.1.0"
    assert machine.answer("show", "pending") == []

    machine("undo", "1", code=2)  # the command cannot be undone
    assert (tmp / "motd").read_text() == "the old text\n"
    assert (tmp / "motd").stat().st_mode & 0o777 == 0o640
    assert not (tmp / "added").exists()
    assert len(machine.answer("history")) == 4


def test_what_a_later_release_left_is_refused_with_words(machine: Machine) -> None:
    """It is not altered, and a run does its work."""
    state = machine.folder / "cache/state"
    for name in ("history", "debts"):
        with closing(sqlite3.connect(state / f"{name}.sqlite")) as database:
            database.execute("PRAGMA user_version=999")
    before = {path.name: path.read_bytes() for path in state.glob("*.sqlite")}
    told = "was written by a newer runner (its format is 999, this one knows up to "
    advice = "): use that runner, or move the file away"
    for words in (
        ("history",),
        ("undo", "1"),
        ("orphans",),
        ("show", "pending"),
        ("forget", "--all"),
    ):
        error = machine(*words, code=1).stderr
        assert told in error and advice in error, words

    (machine.folder / "motd").write_text("by hand\n")
    (machine.folder / "allowed").touch()
    done = machine("highstate")
    assert (machine.folder / "motd").read_text() == "the new text\n"
    assert (machine.folder / "restarted").exists()
    assert "the history of this run is not kept" in done.stderr
    assert "not protected against a kill" in done.stderr
    machine.config["durable"] = "required"
    (machine.folder / "motd").write_text("by hand\n")
    assert "it cannot be recorded that" in machine("highstate", code=2).stdout
    assert (machine.folder / "motd").read_text() == "by hand\n"
    assert {path.name: path.read_bytes() for path in state.glob("*.sqlite")} == before


def test_another_installation_goes_by_nothing_that_one_has_kept(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.write(all="x: {test.nop: []}\ny: {test.nop: [require: [test: x]]}")
    for _ in range(3):
        machine("sls", "all")
    kept = {path: path.read_bytes() for path in machine.folder.glob("cache/compiled/*")}
    assert kept
    other = tmp_path / "other"
    other.mkdir()
    for name in ("modules", "states"):
        (other / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "runner", other / "runner")
    with (other / "runner/pipeline/kept_plan.py").open("a") as file:
        file.write("\n\ndef from_bytes(*_):\n    raise RuntimeError('of another one')\n")
    done = subprocess.run(machine.argv("sls", "all"), capture_output=True, text=True, cwd=other)
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in kept} != kept
