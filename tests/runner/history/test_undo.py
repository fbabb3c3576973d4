# SPDX-License-Identifier: Apache-2.0
"""runner undo: files as they were before a run; what cannot be restored is left out, reported, and
foreseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import needs_root

from runner.history.contents import ContentStore
from runner.history.kept import Kept, KeptRun
from runner.history.store import MIGRATIONS, open_history
from runner.history.undo import UndoStep, earlier
from runner.model.former_state import FormerState
from runner.support.redaction import Secrets

FILE = "{tmp}/f:\n  file.managed:\n    - contents: new\n    - mode: '0600'\n"


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
    assert machine.answer("undo", "1")["done"] is True
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("old\n", 0o640)
    assert (folder / "sub/x").read_text() == "x"
    assert os.readlink(link) == "f"
    assert not (machine.folder / "n").exists()
    again = machine("undo", "1", code=1).stderr
    assert "was undone already" in again and "lists the undos" in again
    kept = [path for path in (machine.folder / "cache/state/undo").rglob("*") if path.is_file()]
    assert kept
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept)


@needs_root("to give files away")
def test_who_reads_earlier_runs_leaves_nothing_beside_them(machine: Machine) -> None:
    machine.write(a=FILE, top="base: {'*': [a]}")
    reactor = "    - onchanges: [file: '{tmp}/f']\n"
    machine.write(b=FILE + "'false':\n  cmd.run:\n" + reactor)
    state = machine.folder / "cache/state"
    machine("highstate")
    (machine.folder / "f").unlink()
    machine("sls", "b", code=2)  # which leaves a reaction pending
    there = {path.name for path in state.iterdir()}
    for words in (
        "history",
        "history show last",
        "history diff 1 2",
        "history file {tmp}/f",
        "why {tmp}/f",
        "show pending",
        "orphans",
        "undo --test",
        "highstate --test",
        "sls b --test",
        "undo",
    ):
        machine(*words.replace("{tmp}", str(machine.folder)).split(), code=None)
        left = {path.name for path in state.iterdir() if "sqlite-" in path.name}
        assert left <= there, words


def test_undo_gives_owners_and_groups_back(machine: Machine) -> None:
    changed, gone = machine.folder / "f", machine.folder / "d"
    changed.write_text("old\n")
    gone.mkdir()
    for path in (changed, gone):
        os.chown(path, 4444, 4445)
    machine.write(
        a="{tmp}/f: {file.managed: [contents: new, user: 4446, group: 4447]}\n"
        "{tmp}/d: {file.absent: []}\n"
    )
    machine("sls", "a")
    assert (changed.stat().st_uid, changed.stat().st_gid, gone.exists()) == (4446, 4447, False)
    machine("undo")
    for path in (changed, gone):
        assert (path.stat().st_uid, path.stat().st_gid) == (4444, 4445)


def test_a_pipe_gets_its_mode_back_and_another_one_does_not(machine: Machine) -> None:
    pipe, socket_ = machine.folder / "pipe", machine.folder / "socket"
    os.mkfifo(pipe, 0o600)
    with closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(str(socket_))
    socket_.chmod(0o600)
    given = "file.managed: [mode: '0640', replace: false]"
    machine.write(a=f"{{tmp}}/pipe: {{{given}}}\n{{tmp}}/socket: {{{given}}}\n")
    machine("sls", "a")
    assert pipe.stat().st_mode & 0o777 == socket_.stat().st_mode & 0o777 == 0o640
    socket_.unlink()
    os.mkfifo(socket_, 0o640)
    os.chmod(socket_, 0o640)
    foreseen = machine.answer("undo", "--test", code=2)
    done = machine.answer("undo", code=2)
    assert done["steps"] == foreseen["steps"]
    refused = {Path(step["path"]).name: step["refused"] for step in done["steps"]}
    assert not refused["pipe"] and "these are not kept" in refused["socket"]
    assert (pipe.stat().st_mode & 0o777, socket_.stat().st_mode & 0o777) == (0o600, 0o640)


def test_undo_names_the_runs_that_it_passes_over(machine: Machine) -> None:
    machine.write(a=FILE, b="'true': {cmd.run: []}")
    machine("sls", "a")
    machine("sls", "b", "--test")
    machine("sls", "b")
    of_path = machine.answer("undo", "--path", str(machine.folder / "f"), "--test")
    assert of_path["later"] == [], "of a path all runs are known"
    for words in (["--test"], []):
        said = machine("undo", *words).stdout.splitlines()
        assert said[0].startswith("Run 3 stays, nothing that it changed can be restored: runner")
        assert said[1].startswith("Run 1: ")
    assert machine.answer("undo", "2")["later"] == []


def test_an_undo_is_in_the_history_and_can_be_undone(machine: Machine) -> None:
    target = machine.folder / "f"
    target.write_text("old\n")
    machine.write(a=FILE)
    machine("sls", "a")
    machine("undo")
    assert target.read_text() == "old\n"
    run, undo = machine.answer("history")[::-1]
    assert (undo["kind"], undo["outcome"], undo["changed"], undo["command"][:11]) == (
        "undo",
        "done",
        1,
        "runner undo",
    )
    assert run["undone"]
    assert machine.answer("history", "show", "2")["changes_made"][0]["function"] == "file.put_back"
    for words in ((), ("last",)):
        assert "no run of the history altered files" in machine("undo", *words, code=1).stderr, (
            "an undo is not a last run"
        )
    machine("undo", "2")
    assert target.read_text() == "new\n"


def test_an_undo_that_stopped_goes_on(machine: Machine) -> None:
    first, second = machine.folder / "f", machine.folder / "g"
    machine.write(a=FILE + FILE.replace("/f:", "/g:"))
    machine("sls", "a")
    second.unlink()  # as an undo that was killed after its first step
    assert machine.answer("undo")["done"] is True
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
    foreseen = machine.answer("undo", "--test", code=code)
    refused = {
        os.path.relpath(step["path"], folder): step["refused"]
        for step in foreseen["steps"]
        if step["refused"]
    }
    assert refused.keys() == left_out.keys()
    for path, why in left_out.items():
        assert why.replace("{tmp}", str(folder)) in refused[path]
    done = machine.answer("undo", code=code)
    assert (done["steps"], foreseen["done"], done["done"]) == (foreseen["steps"], False, True)
    for path, text in {"f": "old", "first": "1", "gone/sub/x": "x"}.items():
        assert path in left_out or (folder / path).read_text() == text
    assert "n" in left_out or not (folder / "n").exists()
    last = machine.answer("history", "show", "last")
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


WATCHED = """
{tmp}/f: {file.managed: [contents: VERSION]}
reload:
  cmd.wait:
    - name: echo told >> {tmp}/log
    - watch: [{file: {tmp}/f}]
"""


def test_one_path_is_restored_to_any_version_that_runs_found(machine: Machine) -> None:
    target = machine.folder / "f"
    target.write_text("zero\n")
    for version in ("one", "two", "three"):
        machine.write(a=TREE.replace("contents: new", f"contents: {version}").replace("moved", "m"))
        (machine.folder / "first").write_text("1")
        machine("sls", "a", code=None)
        if version == "two":
            target.write_text("two\nand theirs\n")
    shown = machine("history", "file", str(target)).stdout
    assert [line.strip() for line in shown.splitlines()[4:6]] == ["-zero", "+one"]
    assert "since then, not by runner: other contents" in shown and "    +and theirs" in shown
    changes = machine.answer("history", "file", str(target))["changes"]
    assert [change["run"] for change in changes] == [1, 2, None, 3]
    assert changes[3]["restore"] == f"runner undo 3 --path {target}"
    for run, text in (("3", "two\nand theirs\n"), ("1", "zero\n"), ("2", "one\n")):
        machine("undo", run, "--path", str(target))
        assert target.read_text() == text, run
    assert (machine.folder / "n/m/o").exists(), "the rest of the run stays"
    target.write_text("by hand")
    assert (
        "changed since: other contents"
        in machine("undo", "3", "--path", str(target), code=2).stdout
    )
    assert target.read_text() == "by hand"
    assert "run 1 did not alter /etc/hosts" in (
        machine("undo", "1", "--path", "/etc/hosts", code=1).stderr
    )
    assert "no run of the history altered /etc/hosts" in (
        machine("history", "file", "/etc/hosts", code=1).stderr
    )


def test_what_is_not_to_be_shown_is_not_shown_as_a_version(machine: Machine) -> None:
    machine.write(
        a="{tmp}/f: {file.managed: [contents: hushed, show_changes: false]}\n"
        "{tmp}/g: {file.managed: [contents: 'p: geheim42']}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="password: geheim42",
    )
    (machine.folder / "f").write_text("before")
    (machine.folder / "g").write_text("p: before")
    machine("sls", "a")
    shown = machine("history", "file", str(machine.folder / "f")).stdout
    assert "contents that are not shown" in shown and "hushed" not in shown
    shown = machine("history", "file", str(machine.folder / "g")).stdout
    assert "contents that differ in what is hidden" in shown and "geheim42" not in shown
    machine.write(pillar__p="password: another42")
    (machine.folder / "g").write_text("p: another42\n")
    shown = machine("history", "file", str(machine.folder / "g")).stdout
    assert "contents that differ in what is hidden" in shown and "another42" not in shown
    assert "geheim42" not in shown
    machine.write(a="{tmp}/{{ pillar.password }}: {file.touch: []}\n")
    machine("sls", "a")
    shown = machine("history", "file", str(machine.folder / "another42")).stdout
    assert "a file instead of nothing" in shown and "another42" not in shown


def test_an_old_secret_is_hidden_in_all_versions(machine: Machine) -> None:
    """By where a later version has one, though nobody knows it any more."""
    machine.write(
        a="{tmp}/g: {file.managed: [contents: 'p: {{ pillar.password }}.']}\n"
        "{tmp}/l: {file.symlink: [target: '/to/{{ pillar.password }}.', force: true]}\n",
        pillar__top="base: {'*': [p]}",
    )
    for secret in ("Zq7Kd2x9", "Yo9Mx4w2"):
        machine.write(pillar__p=f"password: {secret}")
        machine("sls", "a")
    (machine.folder / "cache/state/former-secrets").unlink()
    for path, shown in (("g", "+p: **********."), ("l", "a link to /to/**********.")):
        told = machine("history", "file", str(machine.folder / path)).stdout
        assert shown in told and "Zq7" not in told and "Yo9" not in told
    assert "points to /to/**********. instead of /to/**********. (another)" in told


def test_what_a_state_with_no_log_did_is_restored_and_not_shown(machine: Machine) -> None:
    file, link = machine.folder / "f", machine.folder / "l"
    file.write_text("before")
    link.symlink_to("/to/before")
    machine.write(
        a="{tmp}/f: {file.managed: [contents: hushed, no_log: true]}\n"
        "{tmp}/l: {file.symlink: [target: /to/hushed, force: true, no_log: true]}\n"
        "{tmp}/n: {file.symlink: [target: /to/hushed, no_log: true]}\n"
    )
    machine("sls", "a")
    shown = [
        machine(*words).stdout for words in (["history", "file", str(file)], ["undo", "--test"])
    ]
    shown.append(machine("history", "file", str(link)).stdout)
    link.unlink()
    link.symlink_to("/to/theirs")
    shown.append(machine("undo", "--strict", code=1).stderr)
    shown.append(machine("undo", "--out", "json", code=2).stdout)
    shown.append(machine("history", "show", "last", "--out", "json").stdout)
    shown.append(machine("undo", "last", "--test", code=2).stdout)
    assert "contents that are not shown" in shown[0]
    assert "l: points elsewhere" in shown[1] and "n: nothing instead of a link\n" in shown[1]
    assert "since: points elsewhere" in shown[3]
    assert not [text for text in shown if "hushed" in text or "/to/" in text]
    assert b"/to/" not in (machine.folder / "cache/state/history.sqlite").read_bytes()
    assert (file.read_text(), os.readlink(link)) == ("before", "/to/theirs")


def test_what_has_become_a_secret_since_is_hidden_in_an_undo(machine: Machine) -> None:
    """In the command, steps, reasons, watchers and what is left out: planned, refused, done."""
    for name in ("link", "theirs"):
        (machine.folder / name).symlink_to("/to/before")
    machine.write(
        a="{tmp}/link: {file.symlink: [target: /to/geheim42, force: true]}\n"
        "{tmp}/theirs: {file.symlink: [target: /to/geheim42, force: true]}\n"
        "{tmp}/geheim42: {file.managed: [contents: x]}\n"
        "on geheim42: {cmd.wait: [name: 'true geheim42', watch: [file: '{tmp}/link']]}\n"
        "true geheim42: {cmd.run: []}\n",
        b="{tmp}/b: {file.touch: []}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="{}",
    )
    machine("sls", "a", "--pillar", "{word: geheim42}")
    machine("single", "cmd.run", "true geheim42")
    (machine.folder / "theirs").unlink()
    (machine.folder / "theirs").symlink_to("/to/somebody")
    shown = machine("undo", "--test", code=2).stdout
    assert shown.count("geheim42") == 11, "nobody knows yet that it is one"
    assert "link: points to /to/before instead of /to/geheim42\n" in shown

    def hides(*words: str) -> None:
        done = machine(*words, code=None)
        assert "**********" in done.stdout + done.stderr
        assert "geheim42" not in done.stdout + done.stderr

    machine.write(pillar__p="password: geheim42")
    hides("undo", "--test")
    hides("undo", "--test", "--out", "json")
    hides("undo", "--strict")
    machine("sls", "b")
    machine.write(pillar__p="password: another42")
    hides("undo", "1", "--test")  # what is a former one now
    machine.write(pillar__p="password: geheim42")
    hides("undo", "1", "--react")
    hides("history", "show", "last")
    assert os.readlink(machine.folder / "link") == "/to/before"


def test_other_parts_of_the_machine_hide_secrets_in_an_undo() -> None:
    secrets = Secrets()
    secrets.add("geheim42")
    was, now = (FormerState("crontab", "geheim42", {"lines": [of]}) for of in ("geheim42", "b"))
    step = UndoStep(was, now, Kept(0, 0, "", was), note="geheim42 is lost").masked(secrets.mask)
    assert str(step) == "crontab **********: lines with ********** and without b"
    assert step.note == "********** is lost"


def test_a_strict_undo_does_all_or_nothing(machine: Machine) -> None:
    machine.write(a=FILE + FILE.replace("/f:", "/g:"))
    machine("sls", "a")
    (machine.folder / "g").write_text("theirs")
    refused = machine("undo", "--strict", code=1)
    assert "g would be left out: the machine was changed since" in refused.stderr
    assert (machine.folder / "f").exists()
    assert machine.answer("history")[0]["kind"] == "run", "nothing was begun"
    (machine.folder / "g").write_text("new\n")
    machine("undo", "--strict")
    assert not (machine.folder / "f").exists()


DIES = """
import os, signal
from modules import file
from runner.api import Plan
def halfway(name):
    yield Plan({}, '')
    file.write(name, b'half')
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_is_undone_as_far_as_it_came(machine: Machine) -> None:
    (machine.folder / "f").write_text("old")
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/dies.py").write_text(DIES)
    machine.write(
        a=FILE
        + FILE.replace("/f:", "/g:")
        + "{tmp}/h: {dies.halfway: []}\n{tmp}/i: {file.touch: []}"
    )
    machine("sls", "a", code=-9)
    killed = machine.answer("history")[0]
    assert (killed["outcome"], killed["total"]) == ("killed or still running", 4)
    assert (killed["counts"], killed["changed"], killed["failed"]) == ({"changed": 2}, 2, 0)
    (machine.folder / "g").write_text("theirs")
    foreseen = machine.answer("undo", "--test", code=2)["steps"]
    assert [os.path.basename(step["path"]) for step in foreseen] == ["h", "g", "f"]
    assert "the run was killed before" in foreseen[0]["note"]
    assert "changed since" in foreseen[1]["refused"]
    assert machine.answer("undo", code=2)["steps"] == foreseen
    assert (machine.folder / "f").read_text() == "old"
    assert not (machine.folder / "h").exists()


def test_what_a_killed_state_had_altered_once_more_is_undone(machine: Machine) -> None:
    path = machine.folder / "f"
    path.write_text("old")
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/dies.py").write_text(DIES)
    machine.write(a=FILE + "again: {dies.halfway: [{name: '{tmp}/f'}]}")
    machine("sls", "a", code=-9)
    assert path.read_text() == "half"
    (step,) = machine.answer("undo")["steps"]
    assert (step["refused"], "the run was killed before" in step["note"]) == (None, True)
    assert path.read_text() == "old"


def test_who_watched_what_is_restored_is_named_and_reacts(machine: Machine) -> None:
    (machine.folder / "f").write_text("old")
    machine.write(a=WATCHED.replace("VERSION", "one"))
    machine("sls", "a")
    log = machine.folder / "log"
    (machine.folder / "f").write_text("by hand")
    assert machine.answer("undo", "--test", code=2)["watchers"] == [], "it is not restored"
    (machine.folder / "f").write_text("one\n")
    shown = machine("undo", "--test", code=2).stdout
    assert "log) watches what is restored; with --react it reacts too." in shown
    assert "cmd: reload (cmd.execute_shell" in shown and "cannot be undone" in shown
    done = machine.answer("undo", "--react", code=2)
    (watcher,) = done["watchers"]
    assert (watcher["state"], watcher["of"], watcher["result"]) == (
        f"cmd.wait reload (echo told >> {log})",
        [str(machine.folder / "f")],
        True,
    )
    assert log.read_text() == "told\n" * 2
    undo = machine.answer("history", "show", "last")
    assert [result["id"] for result in undo["results"]] == ["reload"]
    machine("undo", "2", "--react", code=2)
    assert (machine.folder / "f").read_text() == "one\n"
    assert log.read_text() == "told\n" * 3


def test_who_watched_a_whole_file_reacts_once(machine: Machine) -> None:
    """What they are is kept once; a former version kept each by itself."""
    reload = "{name}: {{cmd.wait: [name: 'echo {name} >> {{tmp}}/log', watch: [sls: files]]}}\n"
    machine.write(
        files="".join(f"'{{tmp}}/{name}': {{file.managed: [contents: x]}}\n" for name in "fg"),
        a="include: [files]\n" + "".join(reload.format(name=name) for name in ("one", "two")),
    )
    machine("sls", "a")
    with closing(sqlite3.connect(machine.folder / "cache/state/history.sqlite")) as history:
        (contents,) = history.execute("SELECT count(DISTINCT content) FROM watchers").fetchall()
        assert contents == (1,)
    done = machine.answer("undo", "--react", code=None)
    paths = [str(machine.folder / name) for name in "fg"]
    assert [sorted(each["of"]) for each in done["watchers"]] == [paths, paths]
    assert (machine.folder / "log").read_text() == "one\ntwo\n" * 2


def test_a_watcher_that_a_former_version_kept_is_known(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    said = json.dumps(["cmd", "wait", "reload", "true", {}])
    with closing(open_history(str(tmp_path))) as database:
        store = ContentStore(str(tmp_path), lambda: database)
        store.begin(1, database.execute)
        row = (1, "file_|-f_|-f_|-managed", store.put_text(said))
        store.close()
        database.execute("PRAGMA foreign_keys=OFF")
        database.execute("INSERT INTO watchers VALUES (?, ?, ?)", row)
        assert [*KeptRun(database, str(tmp_path), 1, "", "").watchers(row[1])] == [said]


def test_an_older_history_is_undone(machine: Machine) -> None:
    (machine.folder / "f").write_text("old")
    machine.write(a=FILE + "'true': {cmd.run: []}\n")
    machine("sls", "a")
    path = machine.folder / "cache/state/history.sqlite"
    older = path.with_suffix(".older")
    connection = sqlite3.connect(older)
    connection.executescript(";".join(MIGRATIONS[:4]) + ";PRAGMA user_version=4")
    connection.execute("ATTACH ? AS now", (str(path),))
    for table in ("runs", "results", "changers", "kept", "left_behind"):
        columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM now.{table}")
    connection.commit()
    connection.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    older.rename(path)
    content = hashlib.sha256(b"old").hexdigest()  # which had a file of its own then
    shutil.rmtree(path.parent / "undo")
    (path.parent / f"undo/{content[:2]}").mkdir(parents=True)
    (path.parent / f"undo/{content[:2]}/{content}.z").write_bytes(zlib.compress(b"old"))
    done = machine.answer("undo", code=2)
    assert [step["refused"] for step in done["steps"]] == [None]
    assert len(done["unknown"]) == 1
    assert (machine.folder / "f").read_text() == "old"


def test_the_run_to_undo_is_found_without_reading_the_whole_history(machine: Machine) -> None:
    machine.write(a=FILE)
    machine("sls", "a")
    with closing(sqlite3.connect(machine.folder / "cache/state/history.sqlite")) as history:
        for table, number in (("runs", "id"), ("kept", "run")):
            rows = history.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
            columns = ", ".join(name for (name,) in rows if name != number)
            history.executemany(
                f"INSERT INTO {table} ({number}, {columns})"
                f" SELECT ?, {columns} FROM {table} WHERE {number} = 1",
                [(run,) for run in range(2, 1001)],
            )
        history.commit()
        steps: list[None] = []
        history.set_progress_handler(lambda: steps.append(None), 100)
        assert earlier(history, 1000) == 999
        state_dir = str(machine.folder / "cache/state")
        assert KeptRun.named(history, state_dir, "last").number == 1000
    assert len(steps) < 10
    assert machine.answer("undo", "--test")["run"] == 1000


def test_contents_that_no_run_names_any_more_are_deleted(machine: Machine) -> None:
    target, undo = machine.folder / "f", machine.folder / "cache/state/undo"
    machine.config["history_runs"] = 2
    for number in range(4):
        machine.write(a=FILE.replace("contents: new", f"contents: text {number} {'x' * 2000}"))
        machine("sls", "a")
    # what run 3 replaced stands in the file of run 2
    files = {path.name: path.read_text("latin-1") for path in undo.iterdir()}
    assert files.keys() == {"2.contents", "3.contents", "4.contents"}
    whole = (undo / "3.contents").read_bytes()
    (undo / "3.contents").write_bytes(b"?" * len(whole))
    assert "the store is not whole" in machine("undo", "4", "--test", code=None).stdout
    (undo / "3.contents").write_bytes(whole)
    machine("undo", "3", "--path", str(target))
    assert target.read_text().startswith("text 1 x")


MOVED = """
{tmp}/moved: {file.rename: [source: '{tmp}/the first']}
run: {cmd.run: [name: 'true']}
"""


def test_an_undone_move_can_be_done_again_by_undoing_the_undo(machine: Machine) -> None:
    (machine.folder / "the first").write_text("contents\n")
    machine.write(a=MOVED)
    machine("sls", "a")
    machine("undo", "1", code=2)
    undo = machine.answer("history")[0]
    assert (undo["outcome"], undo["total"], undo["changed"]) == ("done in part", 2, 1)
    change = machine.answer("history", "file", str(machine.folder / "moved"))["changes"][0]
    assert change["restore"] == f"runner undo 1 --path {machine.folder / 'moved'}"
    (machine.folder / "a b").touch()
    machine("single", "file.absent", f"name={machine.folder / 'a b'}")
    change = machine.answer("history", "file", str(machine.folder / "a b"))["changes"][0]
    assert change["restore"] == f"runner undo 3 --path '{machine.folder / 'a b'}'"
    assert (machine.folder / "the first").exists()
    machine("undo", "2")
    assert (machine.folder / "moved").read_text() == "contents\n"
    assert not (machine.folder / "the first").exists()
    machine("undo", "4")
    assert (machine.folder / "the first").read_text() == "contents\n"
    assert not (machine.folder / "moved").exists()


EDITED = """
edited before: {file.append: [name: '{tmp}/old', text: before]}
moved: {file.rename: [name: '{tmp}/new', source: '{tmp}/old']}
edited after: {file.append: [name: '{tmp}/new', text: after]}
folder: {file.rename: [name: '{tmp}/there', source: '{tmp}/here']}
in it: {file.append: [name: '{tmp}/there/a', text: more]}
back: {file.rename: [name: '{tmp}/here', source: '{tmp}/there']}
again: {file.rename: [name: '{tmp}/there', source: '{tmp}/here', require: [file: back]]}
"""


def test_what_was_edited_and_moved_is_what_it_was(machine: Machine) -> None:
    (machine.folder / "old").write_text("mine\n")
    (machine.folder / "here").mkdir()
    (machine.folder / "here/a").write_text("a\n")
    machine.write(a=EDITED)
    machine("sls", "a")
    assert (machine.folder / "new").read_text() == "mine\nbefore\nafter\n"
    assert (machine.folder / "there/a").read_text() == "a\nmore\n"
    steps = machine.answer("undo", "--test")["steps"]
    assert machine.answer("undo")["steps"] == steps
    assert (machine.folder / "old").read_text() == "mine\n"
    assert (machine.folder / "here/a").read_text() == "a\n"
    assert not (machine.folder / "new").exists() and not (machine.folder / "there").exists()


UNPACKED = """
{tmp}/there: {archive.extracted: [source: 'salt://a.tar', force: True, overwrite: True]}
{tmp}/new/folder: {archive.extracted: [source: 'salt://a.tar']}
"""


def test_what_an_archive_brought_and_replaced_is_restored(machine: Machine) -> None:
    members = machine.folder / "members/app"
    (members / "below").mkdir(parents=True)
    (members / "conf").write_text("of the archive")
    (members / "below/one").touch()
    archive = machine.folder / "states/a.tar"
    subprocess.run(["tar", "-C", members.parent, "-cf", archive, "app"], check=True)
    there = machine.folder / "there"
    (there / "app/below/one").mkdir(parents=True)
    (there / "app/below/one/theirs").write_text("theirs")
    (there / "app/conf").write_text("mine")

    def found() -> dict[str, str]:
        paths = sorted(machine.folder.glob("there/**/*"))
        return {str(path): path.read_text() if path.is_file() else "" for path in paths}

    before = found()
    machine.write(a=UNPACKED)
    machine("sls", "a")
    assert (there / "app/below/one").is_file()
    steps = machine.answer("undo", "--test")["steps"]
    assert machine.answer("undo")["steps"] == steps
    assert found() == before
    assert not (machine.folder / "new").exists()


def test_undo_takes_away_a_copied_folder(machine: Machine) -> None:
    at = machine.folder
    for path, text in {"s/x": "new", "s/in/y": "y", "was/x": "old", "was/z": "z"}.items():
        (at / path).parent.mkdir(parents=True, exist_ok=True)
        (at / path).write_text(text)
    (at / "link").symlink_to("was")
    machine.write(
        a="".join(
            f"{{tmp}}/{name}: {{file.copy: [source: '{{tmp}}/s', force: true]}}\n"
            for name in ("new", "was", "link")
        )
    )
    machine("sls", "a")
    foreseen = machine("undo", "--test").stdout
    assert machine("undo").stdout == foreseen.replace("Would restore", "Restored")
    assert not (at / "new").exists()
    assert (at / "link").readlink() == Path("was")
    assert sorted(path.name for path in (at / "was").iterdir()) == ["x", "z"]
    assert (at / "was/x").read_text() == "old"


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_undo_moves_back_to_another_file_system(machine: Machine) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        source = Path(other, "source")
        source.write_text("x")
        machine.write(a=f"{{tmp}}/moved: {{file.rename: [source: {source}]}}")
        machine("sls", "a")
        assert not source.exists()
        machine("undo")
        assert source.read_text() == "x"
        assert not (machine.folder / "moved").exists()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a second file system")
def test_pipes_and_sockets_move_to_another_file_system_and_back(machine: Machine) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        source = Path(other, "source")
        source.mkdir()
        os.mkfifo(source / "pipe", 0o640)
        with closing(socket.socket(socket.AF_UNIX)) as bound:
            bound.bind(str(source / "socket"))
        machine.write(a=f"{{tmp}}/moved: {{file.rename: [source: {source}]}}")
        machine("sls", "a")
        assert not source.exists()
        assert (machine.folder / "moved/pipe").is_fifo()
        machine("undo")
        assert (source / "pipe").is_fifo()
        assert (source / "pipe").stat().st_mode & 0o777 == 0o640
        assert (source / "socket").is_socket()


def test_a_folder_is_copied_over_a_file_and_undone(machine: Machine) -> None:
    at = machine.folder
    (at / "source").mkdir()
    (at / "source/x").write_text("x")
    (at / "target").write_text("old")
    machine.write(a="{tmp}/target: {file.copy: [source: '{tmp}/source', force: true]}")
    machine("sls", "a", "--test")
    machine("sls", "a")
    assert (at / "target/x").read_text() == "x"
    machine("undo")
    assert (at / "target").read_text() == "old"


def test_undo_of_a_link_that_was_removed_with_a_slash(machine: Machine) -> None:
    (machine.folder / "d").mkdir()
    (machine.folder / "d/file").write_text("x")
    (machine.folder / "link").symlink_to("d")
    machine.write(a="{tmp}/link/: {file.absent: []}")
    machine("sls", "a")
    assert "Restored 1 path." in machine("undo").stdout
    assert (machine.folder / "link").readlink() == Path("d")


def test_undo_restores_what_a_copy_wrote_to_through_a_link(machine: Machine) -> None:
    (machine.folder / "written").write_text("old")
    (machine.folder / "source").write_text("new")
    (machine.folder / "f").write_text("k=1")
    for link in ("target", "f.bak"):
        (machine.folder / link).symlink_to("written")
    copied = "{tmp}/target: {file.copy: [source: '{tmp}/source', force: true]}"
    backed_up = "{tmp}/f: {file.replace: [pattern: k=1, repl: k=2]}"
    for text in (copied, backed_up):
        machine.write(a=text)
        machine("sls", "a")
        assert (machine.folder / "written").read_text() != "old"
        machine("undo")
        assert (machine.folder / "written").read_text() == "old"


def test_undo_does_not_say_of_a_large_file_that_it_is_as_it_was(machine: Machine) -> None:
    for name, first in (("f", b"old"), ("source", b"new")):
        with (machine.folder / name).open("wb") as file:
            file.write(first)
            file.truncate(64 * 1024 * 1024 + 1)
    machine.write(a="{tmp}/f: {file.copy: [source: '{tmp}/source', force: true]}")
    machine("sls", "a")
    for words in (["--test"], []):
        said = machine("undo", *words, code=2).stdout
        assert f"{machine.folder}/f: perhaps other contents" in said
        assert "left out: its contents were not kept (too large" in said


def test_undo_leaves_the_only_copy_of_a_large_file(machine: Machine) -> None:
    at = machine.folder / "f"
    at.write_bytes(b"old".ljust(64 * 1024 * 1024 + 1))
    machine.write(a="{tmp}/f: {file.replace: [pattern: ^old, repl: new, count: 1]}")
    machine("sls", "a")
    for words in (["--test"], []):
        steps = machine.answer("undo", *words, code=2)["steps"]
        assert {step["path"]: step["refused"] for step in steps} == {
            f"{at}": "its contents were not kept (too large, or the store is not whole)",
            f"{at}.bak": f"it may be the only copy of what {at} was",
        }
    with open(f"{at}.bak", "rb") as file:
        assert file.read(3) == b"old"


def test_undo_restores_extended_attributes(machine: Machine) -> None:
    at = machine.folder
    (at / "d").mkdir()
    for path in (at / "f", at / "g", at / "d/x", at / "d"):
        path.touch()
        try:
            os.setxattr(path, "user.note", path.name.encode())
        except OSError:
            pytest.skip("no extended attributes here")
    machine.write(
        a="{tmp}/f: {file.managed: [contents: new]}\n{tmp}/g: {file.symlink: [target: f, force:"
        " true]}\n{tmp}/d: {file.absent: []}\n{tmp}/new: {file.managed: []}"
    )
    machine("sls", "a")
    os.setxattr(at / "new", "user.note", b"theirs")
    steps = machine.answer("undo", code=2)["steps"]
    assert [step["refused"] for step in steps if step["refused"]] == [
        "the machine was changed since: other extended attributes"
    ]
    for path in (at / "f", at / "g", at / "d/x", at / "d"):
        assert os.getxattr(path, "user.note") == path.name.encode()
        assert os.listxattr(path) == ["user.note"]


def test_undo_of_a_mode_keeps_the_other_names_of_a_file(machine: Machine) -> None:
    (machine.folder / "f").write_text("x")
    (machine.folder / "f").chmod(0o640)
    (machine.folder / "g").hardlink_to(machine.folder / "f")
    machine.write(a="{tmp}/f: {file.managed: [replace: false, mode: '0600']}")
    machine("sls", "a")
    machine("undo")
    assert (machine.folder / "g").stat().st_mode & 0o777 == 0o640
    assert (machine.folder / "g").samefile(machine.folder / "f")


@needs_root("to do without its rights")
def test_an_owner_without_roots_rights_undoes_what_nobody_may_read(machine: Machine) -> None:
    (machine.folder / "f").write_text("x")
    (machine.folder / "f").chmod(0o640)
    machine.write(a="{tmp}/f: {file.managed: [replace: false, mode: '0000']}")
    unprivileged = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    for words in (["sls", "a"], ["undo"]):
        argv = [*unprivileged, *machine.argv(*words)]
        done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (machine.folder / "f").stat().st_mode & 0o777 == 0o640


def test_undo_of_a_hard_link_to_an_equal_file(machine: Machine) -> None:
    paths = [machine.folder / name for name in ("target", "name")]
    for path in paths:
        path.write_text("same\n")
    machine.write(a="{tmp}/name:\n  file.hardlink: [target: '{tmp}/target', force: true]\n")
    machine("sls", "a")
    assert paths[1].stat().st_nlink == 2
    for words in (["--test"], []):
        shown = machine("undo", *words).stdout
        assert "name: a file of its own instead of a hard link" in shown
    assert [path.stat().st_nlink for path in paths] == [1, 1]
    assert [path.read_text() for path in paths] == ["same\n"] * 2


@needs_root("to give files away")
def test_what_the_store_has_of_others_is_named_and_not_used(machine: Machine) -> None:
    small, large = machine.folder / "small", machine.folder / "large"
    small.write_text("old\n")
    large.write_bytes(os.urandom(600_000))
    states = "".join(f"{path}: {{file.managed: [contents: new]}}\n" for path in (small, large))
    machine.write(a=states, b=states.replace("new", "newer"))
    before = large.read_bytes()
    machine("sls", "a")
    store = machine.folder / "cache/state/undo"
    for path in [path for path in store.rglob("*") if path.is_file()]:
        os.chown(path, 12345, -1)
        assert (
            f"left out: {path}: it belongs to user 12345"
            in machine("undo", "--test", code=None).stdout
        )
        os.chown(path, 0, -1)
    database = machine.folder / "cache/state/history.sqlite"
    with closing(sqlite3.connect(database)) as history, history:  # as a user that was managed
        history.execute(
            "INSERT INTO kept_states (run, sequence, call, tag, kind, name, content)"
            " SELECT run, 99, call, tag, 'user', 'zoe', content FROM kept WHERE path = ?",
            (os.fsencode(small),),
        )
    os.chown(store / "1.contents", 12345, -1)
    said = machine("undo", "--test", code=None).stdout
    assert said.count("it belongs to user 12345") == 2 and "zoe" in said
    os.chown(store / "1.contents", 0, -1)
    # the same contents once more: what others have put there does not count as kept
    [kept] = store.rglob("*.z")
    kept.write_bytes(b"of others")
    os.chown(kept, 12345, -1)
    large.write_bytes(before)
    machine("sls", "b")
    assert kept.stat().st_uid == 0
    machine("undo")
    assert large.read_bytes() == before


def test_undo_of_a_clone_that_failed_does_not_bring_back_what_it_left(machine: Machine) -> None:
    remote, target = machine.folder / "remote", machine.folder / "above/clone"
    script = "git init -q -b main . && echo lost >f && git add f && git commit -qm one"
    blob = "git rev-parse HEAD:f | sed 's,^..,&/,'"
    script += f" && rm -f .git/objects/$({blob})"  # git fails after it has cloned
    remote.mkdir()
    who = {f"GIT_{of}_{what}": "x" for of in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["sh", "-c", script], cwd=remote, check=True, env={**os.environ, **who})
    machine.write(
        a=f"{remote}:\n  git.latest:\n    - target: {target}\n{{tmp}}/f:\n  file.touch: []\n"
    )
    machine("sls", "a", code=2)
    assert not target.exists()
    said = machine("undo", "1", code=None).stdout  # of git it says that it knows nothing
    assert str(target / "f") not in said and not (machine.folder / "above").exists()
    assert not (machine.folder / "f").exists()


NPM = """#!/bin/sh
case $1 in
ls) test ! -e "$0-has" || echo '{"dependencies": {"tool": {"version": "1.0"}}}';;
*) touch "$0-has"; echo '{"added": 1}'
esac
"""


def test_what_cannot_be_undone_has_the_name_that_users_know(machine: Machine) -> None:
    folder = machine.folder / "programs"
    folder.mkdir()
    (folder / "npm").write_text(NPM)
    (folder / "npm").chmod(0o755)
    machine.environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    machine.write(a=FILE + "tool: {npm.installed: []}")
    machine("sls", "a")
    assert machine.answer("undo", "--test", code=2)["unknown"] == ["npm: tool (npm.installed)"]
