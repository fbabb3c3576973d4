# SPDX-License-Identifier: Apache-2.0
"""Full file systems: what does not fit is refused before it fills them; nothing is left of it."""

from __future__ import annotations

import http.server
import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import may_mount, require
from serving import served
from starting import PATIENCE

pytestmark = pytest.mark.skipif(not may_mount(), reason="needs root, to mount a file system")

SMALL = """mount -t tmpfs -o size=20m,mode=700 none {0}
mkdir {0}/old
"$@"
find {0} -type f -size +1000"""
MIB = b"x" * (1 << 20)


class _Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        size = {"/cut": 3 << 20, "/huge": 10**15, "/right": 2 << 20}.get(self.path)
        if size:
            self.send_header("Content-Length", str(size))
        self.end_headers()
        with suppress(OSError):
            if size and size < 10**15:
                self.wfile.write(2 * MIB)
                return
            while True:
                self.wfile.write(MIB)
                time.sleep(0.2 if self.path == "/slow" else 0)


def on_a_small_disk(
    machine: Machine, folder: Path, *words: str
) -> tuple[dict[str, dict[str, Any]], str]:
    """The results by name where a folder is a file system of 20 MiB, and what is left in it."""
    folder.mkdir(exist_ok=True)
    argv = machine.argv(*words, "--out", "json")
    command = ["unshare", "-m", "sh", "-c", SMALL.format(folder), "sh", *argv]
    done = subprocess.run(
        command, capture_output=True, text=True, env=machine.environment, timeout=PATIENCE
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    answer, end = json.JSONDecoder().raw_decode(done.stdout)
    found = {Path(each["__id__"]).name: each for each in answer["local"].values()}
    return found, done.stdout[end:].strip()


def test_downloads_that_do_not_fit_or_never_end(machine: Machine) -> None:
    url = served(_Server)
    states = {
        f"{{tmp}}/{name}": {"file.managed": [{"source": f"{url}/{name}"}, {"skip_verify": True}]}
        for name in ("huge", "endless", "cut", "right")
    }
    machine.write(all=json.dumps(states))
    found, left = on_a_small_disk(machine, machine.folder / "cache", "sls", "all")
    assert "it has 1000000000000000 bytes, and " in found["huge"]["comment"]
    assert "does not say how large it is" in found["endless"]["comment"]
    assert "its server ended it after 2097152 of 3145728 bytes" in found["cut"]["comment"]
    results = [found[name]["result"] for name in ("huge", "endless", "cut", "right")]
    assert results == [False, False, False, True]
    assert [Path(path).name for path in left.splitlines()] == ["right"]
    assert {path.name for path in machine.folder.iterdir()}.isdisjoint({"huge", "endless", "cut"})


def test_a_run_that_is_killed_while_it_downloads(machine: Machine) -> None:
    download = {"source": f"{served(_Server)}/slow", "skip_verify": True}
    machine.write(all=json.dumps({"{tmp}/slow": {"file.managed": [download]}}), none="{}")
    cached = machine.folder / "cache"

    def parts() -> list[Path]:
        return [path for path in cached.glob("extrn_files/**/.*") if path.is_file()]

    with machine.start("sls", "all", ready=parts):
        pass  # it is killed
    assert parts()
    machine("sls", "none")
    assert not parts()


BIG = """
{tmp}/before:
  file.absent: []
{tmp}/disk/managed:
  file.managed: [source: 'salt://large', backup: minion]
{tmp}/disk/copy:
  file.copy: [source: '{tmp}/states/large']
{tmp}/disk/folder:
  file.recurse: [source: 'salt://folder']
{tmp}/disk/copied:
  file.copy: [source: '{tmp}/states/folder']
{tmp}/disk/sparse:
  file.copy: [source: '{tmp}/states/sparse']
{tmp}/disk/small:
  file.managed: [contents: x]
"""


def _tree(machine: Machine, **sls: str) -> Path:
    states = machine.folder / "states"
    (states / "folder").mkdir()
    (states / "large").write_bytes(30 * MIB)
    for name in ("1", "2", "3"):
        (states / "folder" / name).write_bytes(8 * MIB)
    with (states / "sparse").open("wb") as sparse:
        sparse.truncate(40 << 20)
    machine.write(**sls)
    return machine.folder / "disk"


def test_a_dry_run_fails_where_files_do_not_fit(machine: Machine) -> None:
    disk = _tree(machine, all=BIG)
    dry, nothing = on_a_small_disk(machine, disk, "sls", "all", "--test")
    real, left = on_a_small_disk(machine, disk, "sls", "all")
    failed = ["managed", "copy", "folder", "copied"]
    assert [name for name, each in dry.items() if each["result"] is False] == failed
    assert [name for name, each in real.items() if each["result"] is False] == failed
    for name in failed:
        assert "No space left on device: " in real[name]["comment"]
        assert dry[name]["comment"] == real[name]["comment"]
    below = [path.removeprefix(f"{disk}/") for path in left.splitlines()]
    assert sorted(below) == ["folder/1", "folder/2", "sparse"] and not nothing


def test_a_dry_run_does_not_know_what_others_free(machine: Machine) -> None:
    command = "{tmp}/disk/x:\n  file.managed: [source: 'salt://large']\n"
    first = "rm -rf {tmp}/old:\n  cmd.run: []\n"
    removed = "{tmp}/disk/old:\n  file.absent: []\n"
    disk = _tree(machine, cleans=first + command, removes=removed + command)
    for name, by in (("cleans", "cmd: rm"), ("removes", "file: ")):
        found, _ = on_a_small_disk(machine, disk, "sls", name, "--test")
        assert found["x"]["result"] is None and f"depends on {by}" in found["x"]["comment"]


def test_copies_and_backups_keep_holes(machine: Machine) -> None:
    contents = b"begin".ljust(1 << 20) + bytes(4 << 20) + b"end"
    origin = machine.folder / "origin"
    with origin.open("wb") as sparse:
        sparse.write(contents[: 1 << 20])
        sparse.seek(5 << 20)
        sparse.write(b"end")
    copied = "{tmp}/copy:\n  file.copy: [source: '{tmp}/origin']\n"
    managed = "{tmp}/managed:\n  file.managed: [source: '{tmp}/origin']\n"
    replaced = "{tmp}/origin:\n  file.managed: [contents: new, backup: minion]\n"
    machine.config["state_dir"] = str(machine.folder / "var")
    machine.write(copies=copied + managed, replaces=replaced)
    machine("sls", "copies")
    machine("sls", "replaces")
    (kept,) = (machine.folder / "var/file_backup").glob("**/origin*")
    for path in (machine.folder / "copy", machine.folder / "managed", kept):
        assert path.read_bytes() == contents
        assert path.stat().st_blocks * 512 < 2 << 20, path
    assert origin.read_text() == "new\n"


EDITS = """
{tmp}/disk/f:
  file.managed: [source: 'salt://text']
replaced:
  file.replace: [name: '{tmp}/disk/f', pattern: begin, repl: new]
blocked:
  file.blockreplace:
    - name: {tmp}/disk/f
    - append_if_not_found: true
    - content: x
"""


def test_an_edit_that_does_not_fit_leaves_no_copy(machine: Machine) -> None:
    (machine.folder / "states/text").write_bytes(b"begin\n" * ((8 << 20) // 6))
    machine.write(all=EDITS)
    for words in (["--test"], []):
        found, left = on_a_small_disk(machine, machine.folder / "disk", "sls", "all", *words)
        assert found["replaced"]["result"] is False and found["blocked"]["result"] is False
        assert "No space left on device: " in found["replaced"]["comment"]
    assert [Path(path).name for path in left.splitlines()] == ["f"]


def test_an_edit_of_an_immutable_file_leaves_no_copy(machine: Machine) -> None:
    target = machine.folder / "f"
    target.write_text("a\n")
    require("chattr")
    if subprocess.run(["chattr", "+i", target], check=False).returncode:
        pytest.skip("this file system has no immutable files")
    (machine.folder / "f.old").write_text("kept")
    machine.config["state_dir"] = str(machine.folder / "var")
    lines = [
        "file.replace: [{pattern: a, repl: b}, {backup: .bak}]",
        "file.replace: [{pattern: a, repl: b}, {backup: .old}]",
        "file.comment: [{regex: a}]",
        "file.managed: [{contents: b}, {backup: minion}]",
        "file.blockreplace: [{append_if_not_found: true}, {content: x}]",
        "module.run: [{file.psed: [{path: '{tmp}/f'}, {before: a}, {after: b}]}]",
    ]
    machine.write(
        a="".join(
            f"s{number}:\n  {line}\n".replace("[{", "[{name: '{tmp}/f'}, {", "module" not in line)
            for number, line in enumerate(lines)
        )
    )
    try:
        found = machine.results("sls", "a", code=2)
    finally:
        subprocess.run(["chattr", "-i", target], check=True)
    assert [each["result"] for each in found.values()] == [False] * len(lines)
    assert sorted(path.name for path in machine.folder.glob("f*")) == ["f", "f.old"]
    assert (machine.folder / "f.old").read_text() == "kept"
    backups = machine.folder / "var/file_backup"
    assert backups.is_dir() and [path for path in backups.rglob("*") if path.is_file()] == []


FULL = """mount -t tmpfs -o size={1},mode=700 none {0}
"$@" >/dev/null 2>&1
cat /dev/zero >{0}/fill 2>/dev/null
exec "$@"
"""


@pytest.mark.parametrize("size", ["64k", "700k"], ids=["from the first", "later"])
def test_a_full_disk_below_the_state_folder_is_told_with_its_cure(
    machine: Machine, size: str
) -> None:
    """SQLite itself says `disk I/O error` there."""
    folder = machine.folder / "cache"
    folder.mkdir()
    machine.write(
        all="{tmp}/f: {file.managed: [contents: x]}\n"
        "after: {cmd.run: [name: 'true', onchanges: [file: '{tmp}/f']]}\n"
    )
    command = ["unshare", "-m", "sh", "-c", FULL.format(folder, size), "sh"]
    done = subprocess.run(
        [*command, *machine.argv("sls", "all")],
        capture_output=True,
        text=True,
        env=machine.environment,
        timeout=PATIENCE,
    )
    cure = "(its disk is full: free some space)"
    assert done.returncode == 0, done.stderr
    (told,) = [line for line in done.stderr.splitlines() if "history of this run" in line]
    assert f"{folder}/state/history.sqlite: " in told and told.endswith(cure)
