"""runner undo: files as they were before a run; what cannot be restored is left out, reported, and
foreseen.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Machine

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n    - mode: '0600'\n"


def answer(machine: Machine, *words: str, code: int = 0) -> Any:
    return json.loads(machine(*words, "--out", "json", code=code).stdout)["local"]


def test_undo_restores_files(machine: Machine) -> None:
    target, folder, link = machine.folder / "f", machine.folder / "d", machine.folder / "l"
    target.write_text("old\n")
    target.chmod(0o640)
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/x").write_text("x")
    link.symlink_to("f")
    machine.write(
        a=FILE
        + "{tmp}/d:\n  file.absent: []\n{tmp}/n/m/o:\n  file.managed:\n    - contents: n\n    -"
        " makedirs: True\n{tmp}/l:\n  file.symlink:\n    - target: /etc\n"
    )
    machine("sls", "a")
    machine("undo", "--test")
    assert target.read_text() == "new\n"
    assert answer(machine, "undo", "1")["done"] is True
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("old\n", 0o640)
    assert (folder / "sub/x").read_text() == "x"
    assert os.readlink(link) == "f"
    assert not (machine.folder / "n").exists()
    assert "was undone already" in machine("undo", "1", code=1).stderr
    kept = [path for path in (machine.folder / "cache/state/undo").rglob("*") if path.is_file()]
    assert kept
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


def test_an_undo_is_in_the_history_and_can_be_undone(machine: Machine) -> None:
    target = machine.folder / "f"
    target.write_text("old\n")
    machine.write(a=FILE)
    machine("sls", "a")
    machine("undo")
    assert target.read_text() == "old\n"
    run, undo = answer(machine, "history")[::-1]
    assert (undo["kind"], undo["outcome"], undo["changed"], undo["command"][:11]) == (
        "undo",
        "done",
        1,
        "runner undo",
    )
    assert run["undone"]
    assert answer(machine, "history", "show", "2")["changes_made"][0]["function"] == "file.put_back"
    assert "no run of the history altered files" in machine("undo", code=1).stderr, (
        "an undo is not a last run"
    )
    machine("undo", "2")
    assert target.read_text() == "new\n"


def test_an_undo_that_stopped_goes_on(machine: Machine) -> None:
    first, second = machine.folder / "f", machine.folder / "g"
    machine.write(a=FILE + FILE.replace("/f:", "/g:"))
    machine("sls", "a")
    second.unlink()  # as an undo that was killed after its first step
    assert answer(machine, "undo")["done"] is True
    assert not first.exists()


TREE = """
{tmp}/f: {file.managed: [contents: new]}
{tmp}/n/m/o: {file.managed: [contents: n, makedirs: true]}
{tmp}/gone: {file.absent: []}
{tmp}/moved: {file.rename: [source: {tmp}/first]}
"""
# what happens after the run -> (the paths that are left out, why)
SINCE: dict[str, tuple[Callable[[Path], Any], dict[str, str]]] = {
    "nothing": (lambda at: None, {}),
    "an edited file": (
        lambda at: (at / "f").write_text("theirs"),
        {"f": "changed since: other contents"},
    ),
    "a removed file": (
        lambda at: (at / "f").unlink(),
        {"f": "changed since: nothing instead of a file"},
    ),
    "a file in a folder of the run": (
        lambda at: (at / "n/m/theirs").write_text("t"),
        {"n/m": "a folder that is not empty: it holds {tmp}/n/m/theirs", "n": "it holds {tmp}/n/m"},
    ),
    "an edited file in such a folder": (
        lambda at: (at / "n/m/o").write_text("theirs"),
        {"n/m/o": "changed since", "n/m": "it holds {tmp}/n/m/o", "n": "it holds {tmp}/n/m"},
    ),
    "something where a folder was": (
        lambda at: (at / "gone").write_text("t"),
        {
            "gone": "changed since",
            "gone/sub": "its folder {tmp}/gone does not exist",
            "gone/sub/x": "its folder {tmp}/gone/sub",
        },
    ),
    "a moved file that is gone": (
        lambda at: (at / "moved").unlink(),
        {"first": "changed since: nothing"},
    ),
}


@pytest.mark.parametrize("since", SINCE)
def test_a_dry_run_says_what_the_undo_does(machine: Machine, since: str) -> None:
    folder = machine.folder
    (folder / "f").write_text("old")
    (folder / "first").write_text("1")
    (folder / "gone/sub").mkdir(parents=True)
    (folder / "gone/sub/x").write_text("x")
    machine.write(a=TREE)
    machine("sls", "a")
    change, left_out = SINCE[since]
    change(folder)
    code = 2 if left_out else 0
    foreseen = answer(machine, "undo", "--test", code=code)
    refused = {
        os.path.relpath(step["path"], folder): step["refused"]
        for step in foreseen["steps"]
        if step["refused"]
    }
    assert refused.keys() == left_out.keys()
    for path, why in left_out.items():
        assert why.replace("{tmp}", str(folder)) in refused[path]
    done = answer(machine, "undo", code=code)
    assert (done["steps"], foreseen["done"], done["done"]) == (foreseen["steps"], False, True)
    for path, text in {"f": "old", "first": "1", "gone/sub/x": "x"}.items():
        assert path in left_out or (folder / path).read_text() == text
    assert "n" in left_out or not (folder / "n").exists()
    last = answer(machine, "history", "show", "last")
    assert (last["outcome"], last["failed"]) == (
        ("done in part", len(left_out)) if left_out else ("done", 0)
    )
    if left_out:
        again = machine("undo", code=2).stdout
        assert again.count("left out: ") == len(left_out) and "Restored 0 paths; " in again, (
            "it is not stuck"
        )
        assert f"but for {len(left_out)} path" in machine("history", "show", "1").stdout
    else:
        assert "no run of the history altered files" in machine("undo", code=1).stderr


def test_after_an_undo_in_part_the_rest_can_follow_or_an_earlier_run(machine: Machine) -> None:
    (machine.folder / "f").write_text("old")
    machine.write(
        a=FILE, b=TREE.replace("contents: new", "contents: newer").replace("{tmp}/moved", "#")
    )
    machine("sls", "a")
    machine("sls", "b")
    (machine.folder / "n/m/o").write_text("theirs")
    shown = machine("undo", code=2).stdout
    assert shown.splitlines()[-1] == "Restored 1 path; 3 were left out."
    assert (machine.folder / "f").read_text() == "new\n"
    assert "`runner undo 1 --test` shows what can be restored" in machine("undo", code=2).stdout
    shutil.rmtree(machine.folder / "n")
    assert "All is as it was before this run." in machine("undo").stdout
    assert "was undone already" in machine("undo", "2", code=1).stderr
    machine("undo")
    assert (machine.folder / "f").read_text() == "old"


def test_what_fails_against_expectation_is_reported_and_the_rest_is_done(machine: Machine) -> None:
    """A full disk, say: here a module of the tree that fails instead of the one that restores."""
    (machine.folder / "f").write_text("old")
    (machine.folder / "g").write_text("old")
    machine.write(a=FILE + FILE.replace("/f:", "/g:"))
    machine("sls", "a")
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/file.py").write_text(
        "from modules import file\nfrom runner.api import StateFailed\nrefuse_put, refuse_owner,"
        " refuse_chmod = file.refuse_put, file.refuse_owner, file.refuse_chmod\ndef put_back(path,"
        " *more):\n    if path.endswith('/g'): raise StateFailed('no space')\n   "
        " file.put_back(path, *more)\n"
    )
    shown = machine("undo", code=2).stdout
    assert "left out: no space" in shown and "Restored 1 path; 1 was left out." in shown
    assert (machine.folder / "f").read_text() == "old"
    assert "g was left out: no space" in machine("history", "show", "last").stdout
