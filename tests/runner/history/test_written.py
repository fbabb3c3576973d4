# SPDX-License-Identifier: Apache-2.0
"""What a run has just written the history takes from it, and does not read again."""

from __future__ import annotations

import os
import subprocess
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere, apply

from modules import _paths
from runner.api import StateFailed
from runner.history import contents, snapshots
from runner.history.store import open_history
from runner.support.files import group_commit
from runner.support.files.group_commit import stamp
from states.file.absent import absent

# the files below `out` that a run opens
OPENED = """
import os, sys
log = sys.argv.pop(1)
def hear(event, arguments):
    if event == "open" and "/out/" in str(arguments[0]):
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "a") as file:
            print(arguments[0], file=file)
sys.addaudithook(hear)
from runner.cli import main
main()
"""
FILES = "".join(
    f"{{tmp}}/out/{n}: {{file.managed: [contents: '{n} {'x' * 40}', makedirs: true]}}\n"
    for n in range(30)
)


def test_a_file_that_was_written_is_not_read_again(machine: Machine) -> None:
    machine.write(a=FILES)
    log = machine.folder / "log"
    argv = machine.argv("sls", "a")
    argv[2:3] = [OPENED, str(log)]
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not log.exists(), log.read_text()
    (machine.folder / "out/7").write_text("somebody's\n")
    machine.write(b=FILES.replace("x" * 40, "y"))
    machine("sls", "b")
    said = machine("undo").stdout
    assert (machine.folder / "out/7").read_text() == "somebody's\n", said
    assert (machine.folder / "out/8").read_text() == f"8 {'x' * 40}\n"


def test_what_was_altered_after_it_was_written_is_read(tmp_path: Path) -> None:
    files, path = group_commit.WrittenFiles(), tmp_path / "f"
    path.write_text("new")
    with path.open("rb") as file:
        files.note(file.fileno(), b"new")
        assert files.taken(stamp(path.stat())) is None, "nobody asks"
        files.want(True)
        for data in (None, b"x" * (group_commit.LARGEST_KEPT + 1)):
            files.note(file.fileno(), data)
            assert files.taken(stamp(path.stat())) is None
        files.note(file.fileno(), b"new")
        assert files.taken(stamp(path.stat())) == b"new"
        assert files.taken(stamp(path.stat())) is None, "it is kept once"
        files.note(file.fileno(), b"new")
        before = path.stat()
        os.utime(path, ns=(0, 0))
        assert files.taken(stamp(path.stat())) is None
        files.want(False)
        assert files.taken(stamp(before)) is None


def test_what_is_kept_of_written_files_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_KEPT", 5)
    files = group_commit.WrittenFiles()
    files.want(True)
    for name, data in (("a", b"123"), ("b", b"45"), ("c", b"6")):
        (tmp_path / name).write_bytes(data)
        with (tmp_path / name).open("rb") as file:
            files.note(file.fileno(), data)
    found = [files.taken(stamp((tmp_path / name).stat())) for name in ("a", "b", "c")]
    assert found == [None, None, b"6"]


def test_contents_are_compressed_when_there_are_many(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both forms are read; what looks like compressed contents is none."""
    machine.write(a=FILES)
    machine("sls", "a")
    text = (machine.folder / "cache/state/undo/1.contents").read_bytes()
    assert all(f"{n} {'x' * 40}\n".encode() in text for n in range(30))
    state = str(machine.folder / "other")
    os.mkdir(state, 0o700)
    monkeypatch.setattr(contents, "MUCH", 90)
    several = [zlib.compress(b"x"), b"", b"a" * 90, b"b" * 90, b"c" * contents.SMALLEST]
    with closing(open_history(state)) as database:
        store = contents.ContentStore(state, lambda: database)
        store.begin(1, lambda query, row: database.execute(query, row) and None)
        for data in several:
            store.put_data(data)
        store.close()
        lengths = dict(database.execute("SELECT content, length FROM contents").fetchall())
        in_order = [lengths[snapshots.hash_of(data)] for data in several]
        assert in_order[:3] == [len(data) for data in several[:3]]
        assert max(in_order[3:]) < 60
        assert [store.get(snapshots.hash_of(data)) for data in several] == several


def test_what_is_mounted_in_a_folder_is_not_kept() -> None:
    """Nor is it removed with the folder, which is refused."""
    facts = {"path": "/dev", "type": "dir"}
    shown = {sight.snapshot.path for sight in snapshots.before("file.remove", facts)}
    assert "/dev/null" in shown
    within = os.lstat("/dev").st_dev
    folders = {os.path.dirname(path) for path in shown - {"/dev"}}
    assert {os.lstat(folder).st_dev for folder in folders} == {within}


def test_a_folder_that_is_gone_already_has_nothing_below_it(tmp_path: Path) -> None:
    facts = {"path": str(tmp_path / "gone"), "type": "dir"}
    (sight,) = snapshots.before("file.remove", facts)
    assert isinstance(sight, snapshots.Sight)
    assert sight.snapshot.type == "none"


def test_a_file_without_a_size_that_does_not_end_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert snapshots.look("/proc/self/status").data
    monkeypatch.setattr(snapshots, "LARGEST", 10)
    sight = snapshots.look("/proc/self/status")
    assert (sight.data, sight.snapshot.content) == (None, "")


def test_a_removal_that_is_refused_is_not_read_for_undo(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "root/proc").mkdir(parents=True)
    monkeypatch.setattr(_paths, "mount_points", lambda: [f"{tmp_path}/root/proc"])
    here = HarnessHere()
    events: list[object] = []
    monkeypatch.setattr(here, "emit", events.append)
    with pytest.raises(StateFailed, match="is a mount point"):
        apply(absent, str(tmp_path / "root"), current=here)
    assert not events, "each has what is kept"


def test_of_a_folder_that_goes_no_more_is_kept_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(snapshots, "MOST_BELOW", 1000)
    for number in range(5):
        (tmp_path / f"{number}").write_bytes(bytes(400))
    (tmp_path / "small").write_bytes(b"x" * 100)
    facts = {"path": str(tmp_path), "type": "dir"}
    kept = [
        sight.snapshot.content
        for sight in snapshots.before("file.remove", facts)
        if sight.snapshot.type == "file"
    ]
    assert len(kept) == 6 and kept.count("") == 3
