# SPDX-License-Identifier: Apache-2.0
"""Files of states that have nothing to do with each other get their names after one sync of all:
nobody can tell but by the time it takes.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from contextlib import closing
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Any

import pytest
from command import Machine, alone_and_together
from harness import needs_a_name, own_name

from runner.history.store import open_history
from runner.support.files import group_commit
from runner.support.files.folder_syncs import device_and_inode

# what a run syncs and renames; argument: what goes wrong
WATCHER = """
import errno, os, signal, sys
log, wrong = sys.argv.pop(1), sys.argv.pop(1)
from runner.support.files import group_commit
def note(*words):
    with open(log, "a") as file:
        print(*words, file=file)
fsync, sync_all = os.fsync, group_commit._sync_file_system
def one(handle):
    name = os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))
    if ".runner-" in name:
        note("sync", name.split(".")[1])
        if wrong == "fsync" and name.startswith(".7.runner-"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
    fsync(handle)
def all_of_it(handle):
    note("sync all")
    if wrong == "folder":
        os.mkdir("out/7")
    if wrong == "temporary":
        starts = (".7.c.", ".7.")  # the copy beside an edited file, or the file itself
        names = [name for start in starts for name in os.listdir("out") if name.startswith(start)]
        os.unlink("out/" + names[0])
    if wrong == "other":
        with open("out/7", "a") as file:
            file.write("of another process\\n")
    return wrong not in ("syncfs", "fsync") and sync_all(handle)
made = []
def hear(event, arguments):
    if event == "os.rename" and ".runner-" in arguments[0]:
        note("name", arguments[1])
    if event == "open" and ".runner-" in str(arguments[0]):
        made.append(arguments[0])
        if wrong == "full" and arguments[0].startswith(".7.runner-"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if wrong == "interrupt" and len(made) == 12:
            os.kill(os.getpid(), signal.SIGTERM)
os.fsync, group_commit._sync_file_system = one, all_of_it
group_commit.types_of = lambda device: {"nfs" if wrong == "nfs" else "ext4"}
group_commit._is_little_dirty = lambda: wrong != "dirty"
sys.addaudithook(hear)
from runner.engine import shared_commit
shared_commit.LONGEST_WAIT = 3600
"""
FILES = "".join(
    f"{{tmp}}/out/{n}: {{file.managed: [contents: new {n}, makedirs: true]}}\n" for n in range(20)
)
TOGETHER = ["sync all", *(f"name {n}" for n in range(20))]
ONE_BY_ONE = [line for n in range(20) for line in (f"sync {n}", f"name {n}")]


def run(machine: Machine, wrong: str = "-", code: int = 0) -> tuple[list[str], dict[str, Any]]:
    """Return what a run synced and named, and its results by ID."""
    log = machine.folder / "log"
    log.unlink(missing_ok=True)
    words = machine.argv("sls", "a", "--out", "json")[3:]
    done = machine.altered(WATCHER, str(log), wrong, *words)
    assert done.returncode == code, done.stdout + done.stderr
    results = json.loads(done.stdout)["local"].values()
    left = [str(path) for path in machine.folder.rglob("*.runner-*")]
    assert not left
    found = {result["__id__"].rpartition("/")[2]: result for result in results}
    return log.read_text().splitlines(), found


@pytest.mark.parametrize(
    ("wrong", "lines"),
    [
        ("-", TOGETHER),
        ("syncfs", ["sync all", *ONE_BY_ONE]),  # it says that it failed
        ("nfs", ONE_BY_ONE),
        ("dirty", ONE_BY_ONE),  # much of others would have to be written
    ],
)
def test_contents_are_durable_before_a_name_is_given(
    machine: Machine, wrong: str, lines: list[str]
) -> None:
    machine.write(a=FILES)
    done, results = run(machine, wrong)
    assert done == lines
    assert [result["__run_num__"] for result in results.values()] == list(range(20))
    assert all((machine.folder / f"out/{n}").read_text() == f"new {n}\n" for n in range(20))
    machine("undo")
    assert not (machine.folder / "out").exists()


def waiting(folder: Path, hidden: str, name: str) -> group_commit.WaitingFile:
    """A file that is to get a name."""
    file, at = (os.open(path, os.O_RDONLY) for path in (folder / hidden, folder))
    number = device_and_inode(os.fstat(at))
    return group_commit.WaitingFile(file, at, number, hidden, str(folder / name))


def test_what_a_file_that_waits_may_concern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    for name in (".new.hidden", "old"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("old")
    monkeypatch.setattr(group_commit, "MOST", 1)
    commit = group_commit.GroupCommit()
    assert commit.has_room and not commit.owns(3)
    waits = waiting(tmp_path, ".new.hidden", "new")
    assert not commit.add(waits)
    with commit.collecting(3):
        assert commit.add(waits)
    os.close(waits.folder)
    assert commit.owns(3) and not commit.has_room
    concerned = [
        "new",
        "NEW",
        "link",
        "",
        ".",
        "..",
        "é",
        "/folder/f",
        "./old",
        "old/below",
        "new/below",  # where there is no folder yet
        "new/be/low",
    ]
    for name in concerned:
        assert commit.may_concern(f"{tmp_path}/{name}"), name
    assert commit.may_concern(str(tmp_path)) and commit.may_concern(str(tmp_path.parent))
    for name in ("old", "none", "none/old", "no/folder/yet", "folder"):
        assert not commit.may_concern(f"{tmp_path}/{name}"), name
    assert not commit.finish(3) and not commit.owns(3)
    assert (tmp_path / "new").exists() and not commit.may_concern(f"{tmp_path}/new")


def test_a_file_that_waits_behind_a_link_concerns_the_folders_that_it_leads_to(
    tmp_path: Path,
) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("real/deep")
    (tmp_path / "link/.new.hidden").touch()
    commit = group_commit.GroupCommit()
    waits = waiting(tmp_path / "link", ".new.hidden", "new")
    with commit.collecting(3):
        assert commit.add(waits)
    os.close(waits.folder)
    for name in ("real", "real/deep", ""):
        assert commit.may_concern(str(tmp_path / name)), name
    assert not commit.may_concern(str(tmp_path / "other"))
    assert not commit.finish(3)


@pytest.mark.parametrize(("most", "little"), [(-1, False), (1 << 60, True)])
def test_how_much_others_have_to_write(
    monkeypatch: pytest.MonkeyPatch, most: int, little: bool
) -> None:
    monkeypatch.setattr(group_commit, "MOST_DIRTY", most)
    assert group_commit._is_little_dirty() is little
    monkeypatch.setattr(group_commit, "open", lambda *_, **__: os.stat("/proc/0"), raising=False)
    assert not group_commit._is_little_dirty()


def test_a_few_files_are_synced_one_by_one(machine: Machine) -> None:
    machine.write(a="".join(FILES.splitlines(keepends=True)[:3]))
    assert run(machine)[0] == ONE_BY_ONE[:6]


@pytest.mark.parametrize(
    ("wrong", "comment"),
    [
        ("fsync", "write of {}/out/7 failed: Input/output error"),
        ("folder", "Specified target {}/out/7 is a directory"),
    ],
)
def test_a_file_that_gets_no_name_fails_its_state_alone(
    machine: Machine, wrong: str, comment: str
) -> None:
    needs = "{tmp}/out/needs: {file.managed: [contents: x, require: [file: {tmp}/out/7]]}\n"
    machine.write(a=FILES + needs)
    _, results = run(machine, wrong, code=2)
    assert results.pop("needs")["__cause__"].startswith("file_|-")
    assert list(results) == [str(n) for n in range(20)]
    failed = {name: result for name, result in results.items() if not result["result"]}
    assert [(name, result["comment"]) for name, result in failed.items()] == [
        ("7", comment.format(machine.folder))
    ]
    assert [result["__run_num__"] for result in results.values()] == list(range(20))


def test_a_file_that_was_taken_away_is_written_once_more(machine: Machine) -> None:
    machine.write(a=FILES)
    _, results = run(machine, "temporary")
    assert all(result["changes"] == {"diff": "New file"} for result in results.values())
    assert (machine.folder / "out/7").read_text() == "new 7\n"


def test_an_interrupted_run_names_what_it_has_written(machine: Machine) -> None:
    machine.write(a=FILES)
    _, results = run(machine, "interrupt", code=143)
    assert list(results)[:12] == [str(n) for n in range(12)]
    changed = [name for name, result in results.items() if result["changes"]]
    names = {path.name for path in (machine.folder / "out").iterdir()}
    assert {*changed} <= names <= {str(n) for n in range(12)} and len(changed) >= 11


@pytest.mark.parametrize("most", [40, 41])  # each file that waits takes one
def test_descriptors_may_be_few(machine: Machine, most: int) -> None:
    machine.write(a=FILES.replace("out/", "{tmp}/more/") + FILES)
    argv = ["prlimit", f"--nofile={most}", *machine.argv("sls", "a")]
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((machine.folder / "out").iterdir())) == 20


ORDERED = {
    "a command": "cat {tmp}/f: {cmd.run: [cwd: {tmp}]}",
    "a guard": "g: {test.succeed_with_changes: [unless: test -s {tmp}/f]}",
    "a source": "{tmp}/g: {file.managed: [source: {tmp}/f]}",
    "a copy of it": "{tmp}/g: {file.copy: [source: {tmp}/f]}",
    "a copy of a link to it": "{tmp}/g: {file.copy: [source: {tmp}/link]}",
    "a copy of a folder with it": "{tmp}/copied: {file.copy: [source: {tmp}/sub]}",
    "a copy of a folder": "{tmp}/copied: {file.copy: [source: {tmp}/kept, preserve: true]}",
    "a file of the tree": "{tmp}/g: {file.managed: [source: 'salt://f']}",
    "a file of the tree that is not there yet": "{tmp}/g: {file.managed: [source: 'salt://sub/e']}",
    "a file of the first root": "{tmp}/g: {file.managed: [source: 'salt://both']}",
    "the first source of a list": (
        "{tmp}/g: {file.managed: [source: [{tmp}/new, 'salt://f', {tmp}/link]]}"
    ),
    **{
        f"a template that {what}": (
            "{tmp}/g: {file.managed: [template: "
            + engine
            + ", contents: '{% raw %}"
            + text
            + "{% endraw %}']}"
        )
        for what, engine, text in [
            ("calls a function", "jinja", '{{ salt["file.read"]("TMP/new") }}'),
            ("runs a program", "jinja", '{{ salt.cmd.run("cat TMP/new") }}'),
            ("has a filter", "jinja", '{{ "TMP/f" | file_hashsum }}'),
            ("reads the tree", "jinja", '{% import_text "sub/e" as e %}{{ e }}'),
            ("reads a file", "jinja", '{% include "TMP/f" %}'),
            ("asks for a grain", "jinja", "{{ grains.from_a_file }}"),
            ("asks for what the run knows", "jinja", '{{ salt["pillar.get"]("x", 1) }}'),
            ("is a program", "py", 'def run(): return open("TMP/new").read()'),
        ]
    },
    "a recursion from it": "{tmp}/copied: {file.recurse: [source: 'salt://sub']}",
    "a recursion with it as a link": (
        "{tmp}/copied: {file.recurse: [source: 'salt://sub', keep_symlinks: true]}"
    ),
    "a recursion over it": "{tmp}/sub: {file.recurse: [source: 'salt://tree']}",
    "a recursion another way": "{tmp}/way/sub: {file.recurse: [source: 'salt://tree']}",
    "a recursion beside it that cleans": (
        "{tmp}/sub: {file.recurse: [source: 'salt://tree/in', clean: true]}"
    ),
    "a recursion in its place": "r: {file.recurse: [name: {tmp}/new, source: 'salt://tree']}",
    "a recursion and what is in it": (
        "{tmp}/copied: {file.recurse: [source: 'salt://tree']}\n"
        "in: {file.append: [name: {tmp}/copied/e, text: more]}\n"
        "{tmp}/way/copied/in/x: {file.managed: [contents: other]}\n"
        "{tmp}/g: {file.managed: [source: {tmp}/copied/in/y]}"
    ),
    "recursions over each other": (
        "{tmp}/copied: {file.recurse: [source: 'salt://tree']}\n"
        "{tmp}/way/copied: {file.recurse: [source: 'salt://tree/in']}\n"
        "last: {file.recurse: [name: {tmp}/copied, source: 'salt://tree/in', clean: true]}"
    ),
    "the same file": "again: {file.managed: [name: {tmp}/f, contents: old]}",
    "another name of it": "{tmp}/link: {file.managed: [contents: old]}",
    "another way to it": "{tmp}/way/f: {file.managed: [contents: old]}",
    "a path in it": "{tmp}/f/below: {file.managed: [contents: x, makedirs: true]}",
    "a folder": "{tmp}: {file.directory: [clean: true, exclude_pat: 'E@runner|states|cache|way']}",
    "an edit": "{tmp}/f: {file.append: [text: more]}",
    "what requires it": "{tmp}/h: {file.managed: [contents: x, require: [file: {tmp}/f]]}",
    "what is as it should be": "{tmp}/there: {file.managed: [contents: there]}",
    "what fails": "{tmp}/no/x: {file.managed: [contents: x]}",
    "one with a guard": "{tmp}/g: {file.managed: [contents: x, onlyif: test -s {tmp}/f]}",
    "its absence": "gone: {file.absent: [name: {tmp}/f]}",
    "a prereq": "p: {test.succeed_with_changes: [prereq: [file: {tmp}/f]]}",
    "a look for a prereq": (
        "{tmp}/h: {file.managed: [contents: x, prereq: [test: q]]}\n"
        "q: {test.succeed_with_changes: [unless: grep -q new {tmp}/f]}"
    ),
    "what does not run": "{tmp}/h: {file.managed: [contents: x, require: [test: bad]]}",
    "a listener": "l: {cmd.wait: [name: 'true', listen: [file: {tmp}/f]]}",
}


@pytest.mark.parametrize("then", ORDERED)
def test_what_follows_finds_what_it_would_find_alone(tmp_path: Path, then: str) -> None:
    found = []
    for machine in alone_and_together(tmp_path):
        (machine.folder / "f").write_text("old\n")
        (machine.folder / "there").write_text("there\n")
        (machine.folder / "link").symlink_to("f")
        (machine.folder / "way").symlink_to(".")
        (machine.folder / "sub").mkdir()
        (machine.folder / "second").mkdir()
        (machine.folder / "kept").mkdir()
        (machine.folder / "kept/k").touch()
        os.utime(machine.folder / "kept", (1000, 1000))
        (machine.folder / "second/both").write_text("second\n")
        (machine.folder / "states/tree/in").mkdir(parents=True)
        for name in ("e", "in/x", "in/y", "in/e"):
            (machine.folder / f"states/tree/{name}").write_text(f"tree {name}\n")
        roots = [str(machine.folder / name) for name in ("states", ".", "way/second")]
        machine.config["file_roots"] = {"base": roots}
        (machine.folder / "states/_grains").mkdir()
        (machine.folder / "states/_grains/own.py").write_text(
            f"def own(): return {{'from_a_file': open('{machine.folder}/f').read()}}\n"
        )
        first, last = "{tmp}/e: {file.managed: [contents: x]}\n", "{tmp}/z: {test.nop: []}\n"
        if then == "what does not run":
            first = f"bad: {{test.fail_without_changes: [failhard: false]}}\n{first}"
        second = "".join(
            f"{{tmp}}/{name}: {{file.managed: [contents: new]}}\n"
            for name in ("f", "sub/e", "new", "both")
        )
        line = ORDERED[then].replace("TMP", str(machine.folder))
        if line.startswith("{tmp}/f: {file.append"):
            line = "edited: {file.append: [name: {tmp}/f, text: more]}"
        machine.write(a=f"{first}{second}{line}\n{last}")
        results = machine.results("sls", "a", code=2 if failed(then) else 0)
        for result in results.values():
            for key in ("start_time", "duration", "pid"):
                result.pop(key, None)
                result["changes"].pop(key, None) if isinstance(result["changes"], dict) else None
        if failed(then):
            results.pop(f"{machine.folder}/z", None)
        paths = [*machine.folder.iterdir(), *machine.folder.glob("[cs][ou][pb]*/**/*")]
        tree = {
            str(path.relative_to(machine.folder)): path.read_text()
            for path in paths
            if path.is_file()
        }
        tree.pop("runner.yaml", None)
        if then == "a copy of a folder":
            assert (machine.folder / "copied").stat().st_mtime == 1000
        text = json.dumps([list(results.items()), sorted(tree.items())])
        found.append(text.replace(str(machine.folder), "M"))
    assert found[0] == found[1]


def failed(then: str) -> bool:
    places = ("a path in it", "a recursion in its place")
    return then in (*places, "what does not run", "what fails")


def test_what_is_known_of_file_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    assert group_commit.types_of(os.stat("/proc/self").st_dev) == {"proc"}
    assert group_commit.types_of(os.makedev(4095, 4095)) == set()
    facts = b"MemFree: 9 kB\nDirty: 5 kB\nWriteback: 3 kB\nWritebackTmp: 9 kB\n"
    monkeypatch.setattr(group_commit, "open", lambda *_, **__: io.BytesIO(facts), raising=False)
    for most, little in ((8, True), (7, False)):
        monkeypatch.setattr(group_commit, "MOST_DIRTY", most)
        assert group_commit._is_little_dirty() is little
    with open("/proc/self/status") as file:
        assert group_commit._sync_file_system(file.fileno())
    assert not group_commit._sync_file_system(-1)


@pytest.mark.parametrize(
    ("name", "waits"), [("f", True), ("passwd", False), ("nsswitch.conf", False), ("\xe9", False)]
)
def test_what_others_go_by_does_not_wait(tmp_path: Path, name: str, waits: bool) -> None:
    commit = group_commit.GroupCommit()
    (tmp_path / "hidden").write_text("new")
    before = os.listdir("/proc/self/fd")
    file = waiting(tmp_path, "hidden", name)
    assert not commit.add(file), "nobody collects"
    with commit.collecting(1):
        assert commit.add(file) is waits
    for descriptor in (file.folder, *([] if waits else [file.descriptor])):
        os.close(descriptor)
    assert (commit.owns(1), commit.owns(0), commit.is_collecting) == (waits, False, False)
    assert commit.may_concern(str(tmp_path / name.upper())) is (waits or not name.isascii())
    assert not commit.may_concern(str(tmp_path / "other"))
    commit.sync()
    assert not commit.finish(1)
    assert (tmp_path / name).exists() is waits
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    ("types", "release", "synced"),
    [
        ({"ext4"}, "5.8.0-1-amd64", True),
        ({"ext4"}, "5.7.19", False),
        ({"xfs"}, "6.1+", True),
        ({"nfs"}, "6.1.0", False),
        ({"ext4", "nfs"}, "6.1.0", False),
        (set(), "6.1.0", False),
    ],
)
def test_which_file_systems_are_synced_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, types: set[str], release: str, synced: bool
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(group_commit, "types_of", lambda device: asked.append(device) or types)
    named = os.uname_result(("Linux", "here", release, "", ""))
    monkeypatch.setattr(os, "uname", lambda: named)
    commit = group_commit.GroupCommit()
    assert commit._may_sync(7) is commit._may_sync(7) is synced
    assert asked == [7]


def test_a_file_that_does_not_get_its_name_is_gone(tmp_path: Path) -> None:
    """So is what comes after it in its state."""
    commit, before = group_commit.GroupCommit(), os.listdir("/proc/self/fd")
    (tmp_path / "taken").mkdir()
    for name in ("first", "taken", "last"):
        (tmp_path / f".{name}").write_text("new")
        file = waiting(tmp_path, f".{name}", name)
        with commit.collecting(1):
            assert commit.add(file)
        os.close(file.folder)
    assert commit.finish(1) == [f"{tmp_path}/taken", f"{tmp_path}/last"]
    assert sorted(os.listdir(tmp_path)) == ["first", "taken"]
    commit.finish_all()
    assert not commit.owns(1) and not commit.finish(1)
    assert os.listdir("/proc/self/fd") == before


def recursed(machine: Machine, text: str = "{file.recurse: [source: 'salt://tree']}") -> None:
    tree = machine.folder / "states/tree"
    tree.mkdir()
    for n in range(20):
        (tree / str(n)).write_text(f"new {n}\n")
    machine.write(a=f"{{tmp}}/out: {text}\n")


@pytest.mark.parametrize(
    ("wrong", "most", "lines"),
    [
        ("-", 128, TOGETHER),
        ("syncfs", 128, ["sync all", *ONE_BY_ONE[::2], *TOGETHER[1:]]),
        ("-", 16, ["sync all", *TOGETHER[1:17], *ONE_BY_ONE[32::2], *TOGETHER[17:]]),
    ],
)
def test_the_files_of_one_state_get_their_names_together(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, wrong: str, most: int, lines: list[str]
) -> None:
    recursed(machine)
    program = WATCHER.replace("made = []", f"made = []; group_commit.MOST = {most}")
    monkeypatch.setitem(globals(), "WATCHER", program)
    done, results = run(machine, wrong)
    names = dict(zip(map(str, range(20)), sorted(map(str, range(20))), strict=True))
    words = [line.split() for line in lines]
    assert done == [f"{word} {names.get(name, name)}" for word, name in words]
    assert len(results["out"]["changes"]) == 20
    assert all((machine.folder / f"out/{n}").read_text() == f"new {n}\n" for n in range(20))
    machine("undo")
    assert not (machine.folder / "out").exists()


def recursed_apart(machine: Machine, out: str) -> None:
    """Twenty states with a file each. out: where they put them, behind which comes a number."""
    text = ""
    for n in range(20):
        tree = machine.folder / f"states/tree{n}"
        tree.mkdir()
        (tree / f"{n}").touch()
        text += f"{{tmp}}/{out}{n}: {{file.recurse: [source: 'salt://tree{n}']}}\n"
    machine.write(a=text)


def test_states_with_few_files_each_share_a_commit(machine: Machine) -> None:
    recursed_apart(machine, "out/")
    done, results = run(machine)
    named = [f"name {n}" for n in range(20)]
    assert done == ["sync all", *named, *["sync all"] * done[1:].count("sync all")]
    assert [result["__run_num__"] for result in results.values()] == list(range(20))
    assert all((machine.folder / f"out/{n}/{n}").exists() for n in range(20))
    machine("undo")
    assert not (machine.folder / "out").exists()


def test_a_file_without_a_name_fails_its_state_of_several_with_many(machine: Machine) -> None:
    recursed_apart(machine, "out")
    _, results = run(machine, "fsync", code=2)
    assert [n for n in range(20) if not results[f"out{n}"]["result"]] == [7]
    assert "out7/7 failed: Input/output error" in results["out7"]["comment"]
    assert [n for n in range(20) if not (machine.folder / f"out{n}/{n}").exists()] == [7]


def test_a_file_without_a_name_fails_the_state_that_has_many(machine: Machine) -> None:
    recursed(machine)
    _, results = run(machine, "fsync", code=2)
    result, out = results["out"], f"{machine.folder}/out"
    assert f"write of {out}/7 failed: Input/output error" in result["comment"]
    assert result["changes"].keys() == {f"{out}/{n}" for n in range(20) if n != 7}
    assert {path.name for path in Path(out).iterdir()} == {str(n) for n in range(20) if n != 7}


@pytest.mark.parametrize("argument", ["check_cmd: 'test -s {tmp}/out/7'", "failhard: true"])
def test_what_looks_at_the_files_of_a_state_finds_them(machine: Machine, argument: str) -> None:
    recursed(machine, f"{{file.recurse: [source: 'salt://tree', {argument}]}}")
    done, results = run(machine)
    assert results["out"]["result"] and "sync all" not in done


EDITS = {
    "file.append": "text: more",
    "file.prepend": "text: more",
    "file.replace": "pattern: old, repl: new",
    "file.line": "mode: replace, match: old, content: x = new, backup: false",
    "file.comment": "regex: x",
    "file.uncomment": "regex: y",
    "file.blockreplace": "content: new, append_if_not_found: true",
    "file.keyvalue": "key: x, value: new, separator: ' = '",
    "file.serialize": "dataset: {x: new}",
    "file.touch": "makedirs: true",
    "file.managed": "source: 'salt://a.sls', makedirs: true, show_changes: false",
    "file.managed ": "source: 'salt://a.sls', template: jinja, context: {a: 1}, mode: '0600'",
    "file.copy": "source: {tmp}/states/a.sls, force: true, preserve: true",
    "ini.options_present": "sections: {s: {x: new}}",
    "ini.options_absent": "sections: {s: [x]}",
    "ini.sections_present": "sections: [t]",
    "ini.sections_absent": "sections: [s]",
}


@pytest.mark.parametrize("function", EDITS)
def test_edits_of_different_files_share_a_commit(tmp_path: Path, function: str) -> None:
    found = []
    for machine in alone_and_together(tmp_path):
        out = machine.folder / "out"
        out.mkdir()
        for n in () if function == "file.touch" else range(20):
            (out / str(n)).write_text("[s]\nx = old\n#y\n")
        states = (f"{{tmp}}/out/{n}: {{{function}: [{{{EDITS[function]}}}]}}\n" for n in range(20))
        machine.write(a="".join(states))
        done, results = run(machine)
        assert done.count("sync all") == (not machine.config["failhard"]), done
        kept = ("comment", "changes", "result")
        told = [{key: result[key] for key in kept} for result in results.values()]
        tree = sorted((path.name, path.read_text()) for path in out.iterdir())
        found.append(json.dumps([told, tree]).replace(str(machine.folder), "M"))
    assert found[0] == found[1]
    assert found[0].count('"result": true') == 20


# several states that each make another version of one file; what the last one leaves
VERSIONS = {
    "file.append": ("name: F, text: line {n}", "line 19"),
    "file.prepend": ("name: F, text: line {n}", "line 19"),
    "file.replace": ("name: F, pattern: v{n}$, repl: v{more}, backup: BAK", "v20"),
    "file.line": ("name: F, mode: insert, location: end, content: line {n}", "line 19"),
    "file.blockreplace": (
        "name: F, marker_start: '# s{n}', marker_end: '# e{n}', content: x{n},"
        " append_if_not_found: true",
        "x19",
    ),
    "file.keyvalue": ("name: F, key: k{n}, value: x{n}, append_if_not_found: true", "k19=x19"),
    "file.managed": ("name: F, contents: x{n}, mode: '0{mode}'", "x19"),
    "ini.options_present": ("name: F, sections: {{s: {{k{n}: x{n}}}}}", "k19 = x19"),
    "file.copy": ("name: F, source: {{tmp}}/states/v{n}, force: true", "x19"),
    "mount.fstab_present": (
        "name: /d{n}, fs_file: /m{n}, fs_vfstype: ext4, mount: false, config: F",
        "/m19",
    ),
    "mount.mounted": (
        "name: /m{n}, device: /d{n}, fstype: ext4, mount: false, config: F",
        "/m19",
    ),
    "ssh_known_hosts.present": (
        "name: h{n}.example, config: F, enc: ed25519, key: AAAAC3NzaC1lZDI1NTE5AAAAIBBB,"
        " hash_known_hosts: false",
        "h19.example",
    ),
    "ssh_auth.present": ("name: AAAAB{mode}{n}, user: USER, config: F", "AAAAB64419"),
}

EACH = [
    pytest.param(name, marks=needs_a_name if "USER" in arguments else ())
    for name, (arguments, _) in VERSIONS.items()
]


def versions(machine: Machine, function: str, more: str = "") -> Path:
    """States that edit one file after each other; the file."""
    target = machine.folder / "out/7"
    target.parent.mkdir()
    target.write_text("[s]\nv0\n")
    arguments = VERSIONS[function][0].replace("F", str(target)).replace("BAK", ".c")
    arguments = arguments.replace("USER", own_name())
    for n in range(20):
        (machine.folder / f"states/v{n}").write_text(f"x{n}")
    words = (arguments.format(n=n, more=n + 1, mode=600 + n % 2 * 44) for n in range(20))
    states = (f"s{n}: {{{function}: [{{{word}}}]}}\n" for n, word in enumerate(words))
    machine.write(a="".join(states) + more)
    return target


def without_times(machine: Machine, results: dict[str, Any]) -> str:
    kept = ("comment", "changes", "result", "__id__", "__run_num__")
    told = [{key: result[key] for key in kept} for result in results.values()]
    return json.dumps(told).replace(str(machine.folder), "M")


@pytest.mark.parametrize("function", EACH)
def test_versions_of_one_file_are_written_once(tmp_path: Path, function: str) -> None:
    """Results, undo and a state's own undo are the same."""
    found = []
    for machine in alone_and_together(tmp_path):
        target = versions(machine, function)
        done, results = run(machine)
        if not machine.config["failhard"]:
            assert done.count("name 7") == 1, done
        told = [without_times(machine, results), target.read_text(), target.stat().st_mode]
        assert VERSIONS[function][1] in target.read_text()
        with closing(open_history(str(machine.folder / "cache/state"), [])) as database:
            query = "SELECT path, type, mode, content, tag FROM {}"
            rows = database.execute(f"{query.format('kept')} ORDER BY sequence").fetchall()
            left = database.execute(query.format("left_behind").replace(", tag", "")).fetchall()
            made = "SELECT thing, states, state, id, position, existed, removed FROM made"
            told.append(str(database.execute(made).fetchall()).replace(str(machine.folder), "M"))
        told += [str(rows).replace(str(machine.folder), "M"), str(left[0][1:])]
        assert len(rows) >= 20 and len(left) >= 1
        machine("undo")
        told.append(target.read_text())
        found.append(told)
    assert found[0] == found[1]
    assert found[0][-1] == "[s]\nv0\n"


@pytest.mark.parametrize("function", EACH)
def test_versions_of_a_new_file_are_those_of_one_that_was_there(
    tmp_path: Path, function: str
) -> None:
    found = []
    for machine in alone_and_together(tmp_path):
        target = versions(machine, function)
        target.unlink()
        first = f"new: {{file.managed: [{{name: {target}, contents: '[s]\n\n  v0'}}]}}\n"
        sls = machine.folder / "states/a.sls"
        sls.write_text(first + sls.read_text())
        told = without_times(machine, machine.results("sls", "a"))
        found.append((told, target.read_text(), sorted(os.listdir(target.parent))))
        machine("undo")
        assert not target.exists()
    assert found[0] == found[1]


@pytest.mark.parametrize("wrong", ["fsync", "temporary", "other"])
def test_all_versions_are_written_again_where_the_last_gets_no_name(
    machine: Machine, wrong: str
) -> None:
    others = "".join(
        f"{{tmp}}/out/o{n}: {{file.managed: [contents: x]}}\n" for n in range(group_commit.FEWEST)
    )
    target = versions(machine, "file.append", others)
    _, results = run(machine, wrong, code=2 if wrong == "fsync" else 0)
    for n in range(20):
        result = results[f"s{n}"]
        assert result["result"] is (wrong != "fsync"), result
        assert result["__run_num__"] == n
    text = "".join(f"line {n}\n" for n in range(20)) if wrong != "fsync" else ""
    other = "of another process\n" if wrong == "other" else ""
    assert target.read_text() == f"[s]\nv0\n{other}{text}"


def test_what_follows_reads_the_version_that_waits(machine: Machine) -> None:
    """A file that is not there yet, one that stays as it is, other names of it."""
    f = machine.folder / "f"
    (machine.folder / "to").write_text("old\n")
    (machine.folder / "link").symlink_to("to")
    machine.write(
        a="{tmp}/f: {file.managed: [contents: new]}\n"
        "more: {file.append: [name: {tmp}/f, text: more]}\n"
        "same: {file.managed: [name: {tmp}/f, contents: 'new\n\n  more', mode: '0600']}\n"
        "none: {file.append: [name: {tmp}/f, text: more]}\n"
        "{tmp}/link: {file.append: [text: one]}\n"
        "{tmp}/to: {file.append: [text: two]}\n"
        "again: {file.append: [name: {tmp}/link, text: three]}\n"
    )
    results = machine.results("sls", "a")
    changed = {
        result["__id__"].rpartition("/")[2]: bool(result["changes"]) for result in results.values()
    }
    assert changed["f"] and changed["more"] and not changed["none"]
    assert (machine.folder / "to").read_text() == "old\none\ntwo\nthree\n"
    assert f.stat().st_mode & 0o777 == 0o600
    machine("undo")
    assert not f.exists() and (machine.folder / "to").read_text() == "old\n"


@pytest.mark.parametrize(
    ("state", "source"),
    [
        ("file.managed", "{tmp}/out/7"),
        ("file.managed", "salt://tree/7"),
        ("file.copy", "{tmp}/out/7"),
    ],
)
@pytest.mark.parametrize("wrong", ["temporary", "fsync"])
def test_what_is_made_from_a_file_that_got_no_name_is_made_again(
    machine: Machine, state: str, source: str, wrong: str
) -> None:
    """It changes nothing before; there is another file meanwhile where the first one fails."""
    (machine.folder / "out").mkdir()
    (machine.folder / "out/7").write_text("old")
    (machine.folder / "states/tree").symlink_to("../out")
    others = "".join(f"{{tmp}}/out/o{n}: {{file.managed: [contents: x]}}\n" for n in range(16))
    first = "{tmp}/out/7: {file.managed: [contents: new, contents_newline: false]}\n"
    then = f"{{tmp}}/new/made: {{{state}: [source: '{source}', makedirs: true, mode: '0640']}}\n"
    machine.write(a=f"{others}{first}{then}")
    made = machine.folder / "new/made"
    if state == "file.managed":
        made.parent.mkdir()
        made.write_text("old")
        made.chmod(0o600)
    _, results = run(machine, wrong, code=2 if wrong == "fsync" else 0)
    assert results["7"]["result"] is (wrong != "fsync")
    changes = [str(made) if state == "file.copy" else "diff", "mode"]
    if state == "file.managed" and wrong == "fsync":
        changes.remove("diff")
    assert results["made"]["result"] and list(results["made"]["changes"]) == changes
    assert [result["__run_num__"] for result in results.values()] == list(range(18))
    text = "old" if wrong == "fsync" else "new"
    assert (made.read_text(), made.stat().st_mode & 0o777) == (text, 0o640)
    machine("undo")
    if state == "file.managed":
        assert (made.read_text(), made.stat().st_mode & 0o777) == ("old", 0o600)
    else:
        assert not made.parent.exists()


def test_a_copy_beside_an_edited_file_comes_after_what_waits(machine: Machine) -> None:
    (machine.folder / "f").write_text("old\n")
    machine.write(
        a="{tmp}/e: {file.managed: [contents: x]}\n{tmp}/f.bak: {file.managed: [contents: x]}\n"
        "{tmp}/f: {file.replace: [{pattern: old, repl: new}]}\n"
        "{tmp}/g: {file.managed: [contents: x]}\n"
    )
    machine("sls", "a")
    assert (machine.folder / "f.bak").read_text() == "old\n"
    assert (machine.folder / "f").read_text() == "new\n"


def test_no_file_is_edited_whose_copy_did_not_get_its_name(machine: Machine) -> None:
    (machine.folder / "out").mkdir()
    names = ["7", *map(str, range(8, 27))]
    for name in names:
        (machine.folder / "out" / name).write_text("old")
    replaces = "{{tmp}}/out/{}: {{file.replace: [{{pattern: old, repl: new, backup: .c}}]}}\n"
    machine.write(a="".join(map(replaces.format, names)))
    _, results = run(machine, "temporary")
    assert all(result["changes"]["diff"] for result in results.values())
    texts = {path.name: path.read_text() for path in (machine.folder / "out").iterdir()}
    assert texts == dict.fromkeys(names, "new") | {f"{name}.c": "old" for name in names}


@pytest.mark.parametrize("wrong", ["full", "fsync"])
def test_an_edit_that_fails_leaves_no_copy_beside_the_file(machine: Machine, wrong: str) -> None:
    out = machine.folder / "out"
    out.mkdir()
    for n in range(20):
        (out / str(n)).write_text("old")
    replaces = "{{tmp}}/out/{}: {{file.replace: [{{pattern: old, repl: new}}]}}\n"
    machine.write(a="".join(map(replaces.format, range(20))))
    _, results = run(machine, wrong, code=2)
    assert [name for name, result in results.items() if not result["result"]] == ["7"]
    texts = {path.name: path.read_text() for path in out.iterdir()}
    kept = {f"{n}.bak": "old" for n in range(20) if n != 7}
    assert texts == {str(n): "new" for n in range(20)} | {"7": "old"} | kept


@pytest.mark.parametrize(
    ("count", "works", "singly"), [(16, True, 0), (16, False, 16), (3, True, 3), (0, True, 0)]
)
def test_what_was_unpacked_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, works: bool, singly: int
) -> None:
    (tmp_path / "sub").mkdir()
    for n in range(count):
        (tmp_path / "sub" / str(n)).write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}"))
    )
    monkeypatch.setattr(group_commit.GROUP_COMMIT, "sync_all", lambda *_: works)
    group_commit.make_contents_durable(str(tmp_path))
    wanted = [f"{tmp_path}/sub/{n}" for n in range(singly)]
    if singly == count:
        wanted += [str(tmp_path), f"{tmp_path}/sub"]
    assert sorted(synced) == sorted(wanted)


def test_an_archive_is_durable_before_it_is_in_its_place(machine: Machine) -> None:
    recursed(machine)
    tree = machine.folder / "states/tree"
    subprocess.run(["tar", "cf", "t.tar", "-C", tree, "."], cwd=tree.parent, check=True)
    machine.write(
        a="{tmp}/out: {archive.extracted: [source: 'salt://t.tar',"
        " skip_verify: true, enforce_toplevel: false]}\n"
    )
    done, _ = run(machine)
    assert done == ["sync all"]
    assert (machine.folder / "out/7").read_text() == "new 7\n"


def test_what_a_tree_has_in_place_of_our_functions_finds_what_was_written(machine: Machine) -> None:
    own = machine.folder / "states/_modules/config.py"
    own.parent.mkdir()
    own.write_text("def get(path):\n    with open(path) as file:\n        return file.read()\n")
    (machine.folder / "states/t").write_text("{{ salt['config.get'](where) }}")
    machine.write(
        a="{tmp}/f: {file.managed: [contents: new]}\n"
        "{tmp}/g: {file.managed: [source: salt://t, template: jinja, context: {where: {tmp}/f}]}\n"
    )
    machine("sls", "a")
    assert (machine.folder / "g").read_text() == "new\n"


def test_who_holds_a_folder_for_long_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(group_commit, "LONGEST_EDIT", 0.01)
    monkeypatch.setattr(group_commit.time, "sleep", waited.append)
    other, own = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    flock(other, LOCK_EX)
    for _ in range(2):
        before = len(waited)
        with group_commit.one_at_a_time(own):
            assert waited
    assert len(waited) == before
    os.close(other)
    with group_commit.one_at_a_time(own), pytest.raises(BlockingIOError):
        third = os.open(tmp_path, os.O_RDONLY)
        flock(third, LOCK_EX | LOCK_NB)
    flock(third, LOCK_EX)
    before = len(waited)
    with group_commit.one_at_a_time(own):
        assert len(waited) > before, "it was free meanwhile"
    os.close(third)
    os.close(own)
