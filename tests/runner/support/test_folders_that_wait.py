# SPDX-License-Identifier: Apache-2.0
"""Folders that are filled beside their places, copies and archives, and get their names together:
whole at each moment, and found by whatever follows.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Machine, alone_and_together

# argument: how many steps of its work below `out` a run does before it is killed
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
def hear(event, arguments):
    global left
    if event in ("os.mkdir", "os.rename", "os.rmdir", "os.symlink", "os.chmod") or (
        event == "open" and arguments[2] & os.O_CREAT
    ):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
import runner.pipeline.temp_files as files
note = files.Temporaries.note
def noted(self, path):
    if "/out" in path and not noted.heard:
        noted.heard = True
        sys.addaudithook(hear)
    note(self, path)
noted.heard = False
files.Temporaries.note = noted
from runner.engine import shared_commit
shared_commit.LONGEST_WAIT = 3600
"""
# what a run syncs; argument: which folder cannot be synced
SYNCED = """
import errno, os, sys
log, bad = sys.argv.pop(1), sys.argv.pop(1)
from runner.support.files import group_commit
fsync, sync_all = os.fsync, group_commit._sync_file_system
def one(handle):
    path = os.readlink(f"/proc/self/fd/{handle}")
    with open(log, "a") as file:
        file.write(f"{path}\\n")
    if bad in path:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    fsync(handle)
def all_of_it(handle):
    with open(log, "a") as file:
        file.write("all\\n")
    return bad == "nothing" and sync_all(handle)
os.fsync, group_commit._sync_file_system = one, all_of_it
group_commit.types_of = lambda device: {"ext4"}
group_commit._is_little_dirty = lambda: True
from runner.engine import shared_commit
shared_commit.LONGEST_WAIT = 3600
"""


def tree(folder: Path, *names: str) -> None:
    """Files, each of which says what it is called."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\n")


def content(top: Path) -> dict[str, Any]:
    """What is below a folder, with its rights."""
    return {
        str(path.relative_to(top)): (
            os.readlink(path)
            if path.is_symlink()
            else path.is_file() and path.suffix != ".tar" and path.read_text(),
            path.lstat().st_mode & 0o7777,
        )
        for path in sorted(top.rglob("*"))
    }


def packed(machine: Machine, name: str, *names: str) -> None:
    """An archive of files."""
    tree(machine.folder / f"{name}.d", *names)
    argv = [
        "tar",
        "cf",
        f"{name}.tar",
        "-C",
        f"{name}.d",
        *os.listdir(machine.folder / f"{name}.d"),
    ]
    subprocess.run(argv, cwd=machine.folder, check=True)


def several(machine: Machine, count: int) -> None:
    """Copies of as many small folders, and as many archives in one folder."""
    sls = ""
    (machine.folder / "out").mkdir()
    for n in range(count):
        tree(machine.folder / "source", f"{n}/a", f"{n}/in/b")
        (machine.folder / f"source/{n}/link").symlink_to("a")
        packed(machine, str(n), f"app{n}/a", f"app{n}/in/b")
        sls += f"{{tmp}}/out/copy{n}: {{file.copy: [source: {{tmp}}/source/{n}]}}\n"
        sls += f"app{n}: {{archive.extracted: [name: {{tmp}}/out, source: {{tmp}}/{n}.tar]}}\n"
    machine.write(a=sls)


def synced(machine: Machine, bad: str = "nothing", code: int = 0) -> list[str]:
    """What a run syncs below `out`."""
    log = machine.folder / "log"
    done = machine.altered(SYNCED, str(log), bad, *machine.argv("sls", "a")[3:])
    assert done.returncode == code, done.stdout + done.stderr
    lines = log.read_text().splitlines()
    return [line for line in lines if line == "all" or "/out" in line]


def test_copies_and_archives_share_a_sync(machine: Machine) -> None:
    several(machine, 10)
    assert synced(machine) == ["all", f"{machine.folder}/out"]
    out = content(machine.folder / "out")
    assert len(out) == 10 * (5 + 4)
    for n in range(10):
        assert out[f"copy{n}/in/b"] == (f"{n}/in/b\n", 0o644)
        assert out[f"app{n}/in/b"] == (f"app{n}/in/b\n", 0o644)
    assert "20 states: 20 unchanged" in machine("sls", "a").stdout
    machine("undo")
    assert content(machine.folder / "out") == {}


def test_a_few_are_synced_one_by_one_and_a_bad_one_fails_alone(machine: Machine) -> None:
    several(machine, 2)
    done = synced(machine, "app1/a", code=2)
    assert "all" in done and {path.rpartition("/")[2] for path in done} >= {"a", "b", "in"}
    names = sorted(path.name for path in (machine.folder / "out").iterdir())
    assert names == ["app0", "copy0", "copy1"], "nothing is left of what failed"
    assert machine.results("sls", "a")["app1"]["changes"]


def test_folders_are_whole_whenever_a_run_is_killed(machine: Machine) -> None:
    several(machine, 2)
    whole: dict[str, Any] = {}
    out, kills = machine.folder / "out", 0
    for steps in range(0, 200, 2):
        done = machine.altered(KILLED, str(steps), *machine.argv("sls", "a")[3:])
        there = {path.name: content(path) for path in out.iterdir() if path.name[0] != "."}
        if not whole:
            machine("sls", "a")
            whole = {path.name: content(path) for path in out.iterdir()}
            assert whole.keys() == {"app0", "app1", "copy0", "copy1"}
        assert all(whole[name] == found for name, found in there.items()), steps
        machine("sls", "a")
        assert {path.name: content(path) for path in out.iterdir()} == whole
        subprocess.run(["rm", "-r", out], check=True)
        out.mkdir()
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        kills += 1
    assert kills > 10


ORDERED = {
    "a file in a copy": "{tmp}/out/copied/new: {file.managed: [contents: x, makedirs: true]}",
    "another way to it": "{tmp}/way/out/copied/a: {file.append: [text: more]}",
    "an edit of what was unpacked": "{tmp}/out/app/a: {file.append: [text: more]}",
    "a source in an archive": "{tmp}/g: {file.managed: [source: {tmp}/out/app/in/b]}",
    "a copy of a copy": "{tmp}/g: {file.copy: [source: {tmp}/out/copied]}",
    "a copy of what was unpacked": "{tmp}/g: {file.copy: [source: {tmp}/out/app]}",
    "a copy of both": "{tmp}/g: {file.copy: [source: {tmp}/out]}",
    "a copy in its place": (
        "c: {file.copy: [name: {tmp}/out/copied, source: {tmp}/source/in, force: true]}"
    ),
    "a file in its place": "c: {file.managed: [name: {tmp}/out/copied, contents: x]}",
    "times of it": "c: {file.touch: [name: {tmp}/out/copied]}",
    "a recursion in its place": (
        "c: {file.recurse: [name: {tmp}/out/copied, source: 'salt://tree/copied']}"
    ),
    "a recursion over it": "{tmp}/way/out: {file.recurse: [source: 'salt://tree']}",
    "a recursion of folders": (
        "{tmp}/way/out: {file.recurse: [source: 'salt://empty', include_empty: true]}"
    ),
    "a recursion of folders in its place": (
        "c: {file.recurse: [name: {tmp}/out/copied, source: 'salt://empty/copied',"
        " include_empty: true]}"
    ),
    "an archive in place of a file": (
        "c: {archive.extracted: [name: {tmp}/out/f, source: {tmp}/more.tar]}"
    ),
    "an archive over it": "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/over.tar]}",
    "another archive": "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/more.tar]}",
    "the same archive": "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/first.tar]}",
    "an archive that is in it": (
        "c: {archive.extracted: [name: {tmp}/g, source: {tmp}/out/copied/t.tar]}"
    ),
    "an archive below it": (
        "c: {archive.extracted: [name: {tmp}/out/copied/g, source: {tmp}/more.tar]}"
    ),
    "an archive where it is not": (
        "c: {archive.extracted: [name: {tmp}/g, source: {tmp}/more.tar,"
        " if_missing: {tmp}/out/app/a]}"
    ),
    "an archive that cleans": (
        "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/first.tar, clean: true]}"
    ),
    "an archive with an owner": (
        "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/over.tar, user: "
        f"{os.getuid()}]}}"
    ),
    "an archive of two folders": (
        "c: {archive.extracted: [name: {tmp}/out, source: {tmp}/two.tar, enforce_toplevel: false]}"
    ),
    "a command": "ls -R {tmp}/out: {cmd.run: []}",
    "a guard": "g: {test.succeed_with_changes: [unless: test -s {tmp}/out/app/a]}",
    "its absence": "c: {file.absent: [name: {tmp}/out/copied]}",
    "a link": "{tmp}/out/copied/link: {file.symlink: [target: a]}",
}


@pytest.mark.parametrize("then", ORDERED)
def test_what_follows_finds_what_it_would_find_alone(tmp_path: Path, then: str) -> None:
    found = []
    for machine in alone_and_together(tmp_path):
        packed(machine, "first", "app/a", "app/in/b")
        packed(machine, "over", "copied/a", "copied/c")
        packed(machine, "more", "app2/a")
        packed(machine, "two", "app/d", "copied/d")
        tree(machine.folder, "source/a", "source/in/b", "states/tree/copied/a", "out/x")
        (machine.folder / "source/t.tar").write_bytes((machine.folder / "more.tar").read_bytes())
        (machine.folder / "states/empty/copied/in").mkdir(parents=True)
        (machine.folder / "way").symlink_to(".")
        line = ORDERED[then]
        machine.write(
            a="{tmp}/seen: {file.recurse: [source: 'salt://tree']}\n"  # the tree is listed then
            "{tmp}/out/copied: {file.copy: [source: {tmp}/source]}\n"
            "first: {archive.extracted: [name: {tmp}/out, source: {tmp}/first.tar]}\n"
            "{tmp}/out/f: {file.managed: [contents: x]}\n"
            f"{line}\n{{tmp}}/z: {{test.nop: []}}\n"
        )
        done = machine("sls", "a", "--out", "json", code=None)
        results = json.loads(done.stdout)["local"]
        assert all(each["changes"] for each in [*results.values()][:4])
        for result in results.values():
            for key in ("start_time", "duration"):
                result.pop(key, None)
            if isinstance(result["changes"], dict):
                result["changes"].pop("pid", None)
        results.pop(f"test_|-{machine.folder}/z_|-{machine.folder}/z_|-nop", None)
        below = {name: content(machine.folder / name) for name in ("out", "g")}
        text = json.dumps([list(results.items()), below], default=str)
        found.append(text.replace(str(machine.folder), "M"))
    assert found[0] == found[1]
