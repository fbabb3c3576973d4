# SPDX-License-Identifier: Apache-2.0
"""What is at a path as a dry run sees it is what is there after the real run."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere
from needing import is_root

from modules import _paths, file
from modules._machine import processes
from modules._planned import view
from modules._planned.files import Held, _supposed, planned_files
from modules._planned.machine import looks_kept, merged, merged_names
from modules._planned.overlay import is_planned
from runner.api import ChangeNotAllowed, cached_look, changes_allowed, forget_looks, running
from runner.api.planning import changes_planned
from runner.support.files.permissions import MOST_LINKS

PATHS = """
    . new new/text new/.hidden new/text/below new/nothing/below new/program new/link
    new/dangling new/loop new/dir new/dir/kept new/dir/gone new/absolute new/absolute/kept
    new/dir/../new/text new/fifo new/empty old old/kept old/gone old/moved old/added old/link
    old/text/.. moved moved/inside was was/inside far40 far41 nothing
""".split()


def there_before(top: Path) -> None:
    """Make what the states find."""
    (top / "old").mkdir()
    (top / "was").mkdir(0o2750)
    for name in ("old/kept", "old/gone", "old/moved", "was/inside"):
        (top / name).write_text(name)
    (top / "old/link").symlink_to("kept")


def made(top: str) -> None:
    """Make what states make of that."""
    file.makedirs(f"{top}/new")
    file.write(f"{top}/new/text", b"planned\n", mode="0640")
    file.write(f"{top}/new/program", b"#!/bin/sh\n", mode="0755")
    file.write(f"{top}/new/.hidden", b"")
    file.mkdir(f"{top}/new/empty", mode="0711")
    targets = {"link": "text", "dangling": "nowhere", "loop": "loop", "dir": "../old"}
    for name, target in {**targets, "absolute": f"{top}/old"}.items():
        file.symlink(target, f"{top}/new/{name}")
    file.mknod_fifo(f"{top}/new/fifo", mode="0600")
    file.remove(f"{top}/old/gone")
    file.rename(f"{top}/old/moved", f"{top}/old/added")
    file.rename(f"{top}/was", f"{top}/moved")
    file.write(f"{top}/old/kept", b"altered")
    for number in range(MOST_LINKS + 2):
        file.symlink(f"far{number - 1}" if number else "new/text", f"{top}/far{number}")


def attributes(status: os.stat_result) -> tuple[Any, ...]:
    size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
    return stat.filemode(status.st_mode), status.st_uid, status.st_gid, size


def is_fifo(path: str) -> bool:
    return stat.S_ISFIFO(_paths.lstat(path).st_mode)  # nobody writes into it


def contents(path: str) -> bytes:
    with _paths.open_bytes(os.devnull if is_fifo(path) else path) as file:
        return file.read()


def text(path: str) -> str:
    with _paths.open_text(os.devnull if is_fifo(path) else path, "utf-8") as file:
        return file.read()


def opened(path: str) -> tuple[Any, ...]:
    with _paths.open_bytes(os.devnull if is_fifo(path) else path) as file:
        return attributes(_paths.stat_of(file))


LOOKS: dict[str, Callable[[str], Any]] = {
    "lstat": lambda path: attributes(_paths.lstat(path)),
    "stat": lambda path: attributes(_paths.stat(path)),
    "a stat once opened": opened,
    "lexists": _paths.lexists,
    "exists": _paths.exists,
    "isfile": _paths.isfile,
    "isdir": _paths.isdir,
    "islink": _paths.islink,
    "listdir": lambda path: sorted(_paths.listdir(path)),
    "readlink": _paths.readlink,
    "realpath": _paths.realpath,
    "access": lambda path: [_paths.access(path, how) for how in (os.R_OK, os.W_OK, os.X_OK)],
    "contents": contents,
    "text": text,
    "below": lambda path: [
        (found, stat.filemode(at.st_mode)) for found, at in _paths.below(path) if "l" not in found
    ],
    "walk": lambda path: sorted((at, sorted(d), sorted(f)) for at, d, f in _paths.walk(path)),
    "walk from below": lambda path: sorted(
        (at, sorted(d), sorted(f)) for at, d, f in _paths.walk(path, topdown=False)
    ),
    "glob": lambda path: sorted(_paths.glob(f"{path}/*")),
    "glob of one": lambda path: _paths.glob(path),
}


def seen(top: str) -> dict[tuple[str, str], Any]:
    """What each look says of each path."""
    answers: dict[tuple[str, str], Any] = {}
    for path in PATHS:
        for name, look in LOOKS.items():
            try:
                answer = look(top if path == "." else f"{top}/{path}")
            except OSError as error:
                answer = type(error).__name__, error.errno
            answers[name, path] = repr(answer).replace(top, "TOP")
    return answers


@pytest.fixture(scope="module")
def both(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], Any]]:
    """What is seen in a dry run and after the real one."""
    dry, real = (tmp_path_factory.mktemp("x") for _ in range(2))
    there_before(dry)
    there_before(real)
    with running(HarnessHere(dry=True)):
        with changes_planned():
            made(str(dry))
        planned = seen(str(dry))
    assert sorted(os.listdir(dry)) == ["old", "was"]
    with running(HarnessHere()):
        with changes_allowed():
            made(str(real))
        return planned, seen(str(real))


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_says_what_it_would_say_after_the_real_run(
    both: tuple[dict[tuple[str, str], Any], dict[tuple[str, str], Any]], look: str
) -> None:
    planned, real = both
    differing = {
        path: (planned[look, path], real[look, path])
        for path in PATHS
        if planned[look, path] != real[look, path]
        and not (look == "realpath" and path.startswith("far"))  # Python counts no links there
    }
    assert differing == {}


LISTED = r"find . -printf '%P %M %U:%G %l\n' | sort; find . -type f | sort | xargs cat"


def listed(folder: Path, **how: Any) -> str:
    """What a command sees in a folder."""
    argv = ["sh", "-c", LISTED]
    return subprocess.run(argv, capture_output=True, text=True, check=True, **how).stdout.replace(
        str(folder), "TOP"
    )


def test_a_command_sees_what_it_would_see_after_the_real_run(tmp_path: Path) -> None:
    dry, real = tmp_path / "dry", tmp_path / "real"
    for folder in (dry, real):
        folder.mkdir()
        there_before(folder)
    before = listed(dry, cwd=dry)
    with running(HarnessHere()), changes_allowed():
        made(str(real))
    with running(HarnessHere(dry=True)):
        assert processes.view() is None
        with changes_planned():
            made(str(dry))
        planned = processes.view()
        if planned is None:
            pytest.skip("it takes the right to mount")
        assert processes.view() is planned
        seen = listed(dry, preexec_fn=planned.entering(str(dry), None, None, None))
        words = ["sh", "-c", "id -u; id -g; id -G; umask; pwd"]
        as_somebody = subprocess.run(
            words, preexec_fn=planned.entering(None, 1234, 2345, [3456]), capture_output=True
        )
    assert seen == listed(real, cwd=real)
    assert as_somebody.stdout.decode() == "1234\n2345\n2345 3456\n0022\n/\n"
    assert listed(dry, cwd=dry) == before, "the machine has nothing of it"


def test_a_folder_gets_what_is_planned_in_it(tmp_path: Path) -> None:
    dry, real = tmp_path / "dry", tmp_path / "real"
    for folder in (dry, real):
        folder.mkdir()
        there_before(folder)
    with running(HarnessHere()), changes_allowed():
        made(str(real))
    with running(HarnessHere(dry=True)):
        with changes_planned():
            made(str(dry))
        files = planned_files()
        assert files is not None
        entry = files.root
        for name in dry.parts[1:]:
            below = entry.child(name)
            assert below is not None
            entry = below
        view.settle(entry)
        assert not entry.names
    assert listed(dry, cwd=dry) == listed(real, cwd=real)


@pytest.mark.parametrize(
    ("limit", "most", "fits"),
    [
        ("MOST_ENTRIES", 3, False),
        ("MOST_ENTRIES", 4, True),
        ("MOST_BYTES", 29, False),
        ("MOST_BYTES", 30, True),
    ],
)
def test_much_is_not_laid_over_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, fits: bool
) -> None:
    with running(HarnessHere(dry=True)), changes_planned():
        for name in ("a", "b", "c"):
            file.write(str(tmp_path / name), b"x" * 10)
        if processes.view() is None:
            pytest.skip("it takes the right to mount")
        monkeypatch.setattr(view, limit, most)
        assert (view._made(planned_files()) is not None) is fits  # type: ignore[arg-type]


def test_files_are_made_once_for_all_views(tmp_path: Path) -> None:
    path, base = f"{tmp_path}/d/f", view.Base(f"{tmp_path}/base")
    made, put = Path(base.folder + path), Path(f"{tmp_path}/put")
    owner = 1234 if is_root() else os.geteuid()
    (tmp_path / "gone").touch()
    with running(HarnessHere(dry=True)), changes_planned():
        file.makedirs(f"{tmp_path}/d")
        file.write(path, b"data", mode="0640")
        file.symlink("f", f"{tmp_path}/d/link")
        file.remove(f"{tmp_path}/gone")
        files = planned_files()
        assert files is not None
        for room in ([3, 9], [9, 0]):
            with pytest.raises(OSError) as error:
                base.make(files.root, "/", room)
            assert error.value.errno == errno.EFBIG
        assert not base.lies_at(path) and base.names(f"{tmp_path}/d") == []
        for contents, mode in ((b"data", "0640"), (b"other", "0600")):
            file.write(path, contents, mode=mode)
            file.chown(path, owner, None)
            entry = files.entry(path)
            assert entry is not None and not base.has(path, entry)
            base.make(files.root, "/", [len(contents), 1])
            assert (made.read_bytes(), made.stat().st_mode & 0o777) == (contents, int(mode, 8))
            assert made.stat().st_uid == owner
            assert base.has(path, entry) and base.lies_at(path)
            base.make(files.root, "/", [0, 0])  # there is nothing to make
            assert base.names(f"{tmp_path}/d") == ["f"]
            view._put(entry, path, str(put), base)
            assert not put.exists()
        view._put(entry, path, str(put))
        assert (put.read_bytes(), put.stat().st_mode & 0o777) == (b"other", 0o600)


@pytest.mark.parametrize(
    ("path", "is_folder", "mode"),
    [
        ("/etc/f", False, "-rw-r--r--"),
        ("/etc/f", True, "drwxr-xr-x"),
        ("/usr/sbin/f", False, "-rwxr-xr-x"),
    ],
)
def test_what_may_be_there_is_readable(path: str, is_folder: bool, mode: str) -> None:
    supposed = _supposed(path, is_folder, b"text").stat()
    assert stat.filemode(supposed.st_mode) == mode
    assert (supposed.st_uid, supposed.st_gid, supposed.st_mtime_ns) == (0, 0, 0)
    assert supposed.st_ino == _supposed(path, is_folder, b"text").stat().st_ino


def test_what_is_planned(tmp_path: Path) -> None:
    there_before(tmp_path)
    with running(HarnessHere(dry=True)):
        assert planned_files() is None
        with changes_planned():
            made(str(tmp_path))
        planned = {path for path in PATHS if is_planned(f"{tmp_path}/{path}")}
    assert {"new", "new/text", "old", "old/kept", "old/gone", "old/added", "moved"} <= planned
    assert not {"nothing", "new/nothing/below", "new/loop"} & planned
    with running(HarnessHere()):
        assert planned_files() is None
    assert not is_planned(str(tmp_path / "new"))


def test_much_is_planned_in_a_folder_that_is_held(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/old").touch()
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "file").touch()
    with running(HarnessHere(dry=True)), changes_planned():
        file.write(f"{tmp_path}/new", b"data")
        files = planned_files()
        assert files is not None
        assert files.held_folder(f"{tmp_path}/none") is None
        assert files.held_folder(f"{tmp_path}/file") is None
        root = files.held_folder("/")
        assert root == ("", files.root)
        new = files.way(f"{tmp_path}/new", follow=False).entry()
        for path in ("there/../there", "link"):
            held = files.held_folder(f"{tmp_path}/{path}")
            assert held is not None and held[0] == f"{tmp_path}/there"
        before = files.changes
        files.put(held, "new", new)
        files.put(held, "old", None)
        assert files.changes == before + 2
        assert sorted(_paths.listdir(f"{tmp_path}/link")) == ["new"]
        assert contents(f"{tmp_path}/there/new") == b"data"
        assert is_planned(f"{tmp_path}/there/old") and not is_planned(f"{tmp_path}/file")
    assert merged({"a": 1, "b": 2}, {"b": None, "c": 0}) == {"a": 1, "c": 0}
    assert merged_names(["b", "a"], {}) == ["b", "a"]
    assert merged_names(["b", "a"], {"b": False, "c": True}) == ["a", "c"]


def test_a_planned_file_is_as_old_as_its_plan(tmp_path: Path) -> None:
    before = time.time_ns()
    with running(HarnessHere(dry=True)):
        with changes_planned():
            file.write(str(tmp_path / "f"), b"x")
        status, again = _paths.stat(str(tmp_path / "f")), _paths.stat(str(tmp_path / "f"))
        numbers = {_paths.stat(path).st_ino for path in (str(tmp_path / "f"), str(tmp_path))}
    assert before <= status.st_mtime_ns <= time.time_ns()
    assert status.st_mtime == pytest.approx(status.st_mtime_ns / 1e9)
    assert status.st_ino == again.st_ino
    assert len(numbers) == 2


def test_looks_are_kept_where_only_the_plan_changes() -> None:
    here = HarnessHere(dry=True)
    with running(here):
        answers = here.store("cached_look")
        answers |= {"kept": {"a": 1}, "others": {"b": 2}}
        with looks_kept("kept", "none"):
            answers.clear()
            answers["kept"] = {"c": 3}
        assert answers == {"kept": {"a": 1, "c": 3}, "none": {}}


OTHERS = {"/etc/aptitude": True, "/usr/bin/x": True, "/etc/list": True}
THEIRS = {"/etc/apt/a": False, "/etc/apt": False, "/etc": False, "/etc/lists/a/b": False}


@pytest.mark.parametrize(("path", "stays"), (OTHERS | THEIRS).items())
def test_answers_that_go_by_other_files_than_planned_ones_stay(path: str, stays: bool) -> None:
    """A program that was asked sees no plan; in a real run all may be others."""
    answers = iter(range(100))
    by_files = cached_look("files", "/etc/apt", "/etc/{0}/a")(lambda name: next(answers))
    by_any = cached_look("any", "/srv/*/x")(lambda: next(answers))
    by_none = cached_look("none")(lambda: next(answers))
    with running(HarnessHere(dry=True)):
        before = (by_files("lists"), by_any(), by_none())
        forget_looks(None, path)
        assert (by_files("lists") == before[0]) is stays
        assert by_any() != before[1]
        assert by_none() != before[2]
        known = by_files("lists")
        forget_looks(None)
        assert by_files("lists") != known


def test_a_file_without_a_name_goes_with_who_holds_it() -> None:
    handle = os.memfd_create("x")
    held = Held(handle)
    assert os.readlink(held.path).startswith("/memfd:x")
    del held
    with pytest.raises(OSError):
        os.fstat(handle)


def test_nothing_is_planned_where_the_machine_is_the_real_one(tmp_path: Path) -> None:
    """A stand-in that writes as its changer does would write there."""
    with running(HarnessHere()), changes_planned(), pytest.raises(ChangeNotAllowed):
        file.write(str(tmp_path / "x"), b"x")
    assert not (tmp_path / "x").exists()
