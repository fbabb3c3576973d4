# SPDX-License-Identifier: Apache-2.0
"""file.directory beyond the laws: changes as Salt reports them, and what cleaning keeps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, apply, look
from needing import needs_root

from runner.api import Plan, StateFailed
from states.file.directory import directory


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "d"
    (folder / "s" / "t").mkdir(parents=True)
    for name in ("f", "s/g", "s/t/h"):
        (folder / name).write_text("x")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def modes(top: Path) -> dict[str, str]:
    return {
        str(path.relative_to(top)): f"{path.lstat().st_mode & 0o7777:o}"
        for path in (top, *top.rglob("*"))
    }


def test_a_new_folder(tmp_path: Path) -> None:
    done = apply(directory, f"{tmp_path}/a/b/", makedirs=True, mode="0711")
    assert (done.comment, done.changes) == ("", {f"{tmp_path}/a/b": {"directory": "new"}})
    assert modes(tmp_path / "a") == {".": "711", "b": "711"}


def test_recursion_reports_each_path_and_what_was_set_last(top: Path) -> None:
    done = apply(directory, str(top), dir_mode="0700", file_mode="0600", recurse=["mode"])
    assert done.changes == {
        f"{top}": {"mode": "0700"},
        f"{top}/f": {"mode": "0600"},
        f"{top}/s": {"mode": "0700"},
        f"{top}/s/g": {"mode": "0600"},
        f"{top}/s/t": {"mode": "0700"},
        f"{top}/s/t/h": {"mode": "0600"},
        "mode": "0600",
    }
    assert done.comment == f"Directory {top} updated"
    assert modes(top) == {
        ".": "700",
        "f": "600",
        "s": "700",
        "s/g": "600",
        "s/t": "700",
        "s/t/h": "600",
    }


RECURSIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"recurse": ["mode"]}, [".", "f", "s", "s/g", "s/t", "s/t/h"]),
    ({"recurse": ["mode", "ignore_files"]}, [".", "s", "s/t"]),
    ({"recurse": ["mode", "ignore_dirs"]}, [".", "f", "s/g", "s/t/h"]),
    ({"recurse": ["mode"], "max_depth": 1}, [".", "f", "s"]),
    ({"recurse": ["mode"], "max_depth": 0}, ["."]),
    ({"recurse": ["mode"], "children_only": True}, ["f", "s", "s/g", "s/t", "s/t/h"]),
    ({"recurse": ["user"]}, ["."]),
    ({}, ["."]),
]


@pytest.mark.parametrize(("arguments", "changed"), RECURSIONS)
def test_how_far_recursion_goes(top: Path, arguments: dict[str, Any], changed: list[str]) -> None:
    apply(directory, str(top), mode="0700", **arguments)
    assert sorted(path for path, mode in modes(top).items() if mode == "700") == changed


def test_silent_recursion(top: Path) -> None:
    done = apply(directory, str(top), mode="0700", recurse=["mode", "silent"])
    assert done.changes == {"recursion": "Changes silenced", "mode": "0700"}


def test_links_are_followed_only_when_asked(tmp_path: Path, top: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").touch(0o644)
    (top / "l").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "loop").symlink_to(top)
    apply(directory, str(top), mode="0700", recurse=["mode"])
    assert modes(tmp_path / "elsewhere")["x"] == "644"
    apply(directory, str(top), mode="0700", recurse=["mode"], follow_symlinks=True)
    assert modes(tmp_path / "elsewhere")["x"] == "700"


def left(top: Path) -> list[str]:
    return sorted(str(path.relative_to(top)) for path in top.rglob("*"))


def test_cleaning_reports_each_path(top: Path) -> None:
    done = apply(directory, str(top), clean=True)
    removed = {"removed": "Removed due to clean"}
    paths = [f"{top}/f", f"{top}/s", f"{top}/s/g", f"{top}/s/t", f"{top}/s/t/h"]
    assert done.changes == {**dict.fromkeys(paths, removed), "removed": [f"{top}/f", f"{top}/s"]}
    assert (done.comment, left(top)) == (f"Files cleaned from directory {top}", [])


@pytest.mark.parametrize(
    ("patterns", "kept"),
    [(["f"], ["f"]), (["s/g"], ["s", "s/g"]), (["E@t/h$"], ["s", "s/t", "s/t/h"]), (["s"], ["s"])],
)
def test_cleaning_keeps_what_is_excluded(top: Path, patterns: list[str], kept: list[str]) -> None:
    apply(directory, str(top), clean=True, exclude_pat=patterns)
    assert left(top) == kept


def chunk(name: str, id_: str, *requires: tuple[str, str], fun: str = "managed") -> SimpleNamespace:
    requisites = [SimpleNamespace(state=state, target=target) for state, target in requires]
    return SimpleNamespace(
        function=f"file.{fun}",
        state="file",
        fun=fun,
        id=id_,
        name=name,
        sls="a.b",
        requisites=requisites,
        args={},
    )


def test_cleaning_keeps_what_other_states_manage(top: Path) -> None:
    me = chunk(str(top), "me", ("file", "needed"), ("sls", "a.c"), fun="directory")
    current = HarnessHere()
    current.chunk = me  # type: ignore[assignment]
    others = [
        chunk(f"{top}/s/t/h", "needed"),
        chunk(f"{top}/later", "later", ("file", str(top))),
        chunk(f"{top}/f", "unrelated"),
        chunk(f"{top}/s/g", "gone", ("file", "me"), fun="absent"),
    ]
    current.chunks = (me, *others)  # type: ignore[assignment]
    (top / "later").touch()
    apply(directory, str(top), clean=True, current=current)
    assert left(top) == ["f", "later", "s", "s/t", "s/t/h"]


def test_what_is_in_the_way(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("x")
    with pytest.raises(StateFailed, match="exists and is a file"):
        look(directory, str(target))
    done = apply(directory, str(target), backupname="kept")
    kept = tmp_path / "kept"
    assert done.changes == {
        str(target): {"directory": "new"},
        "backup": f"{target} was renamed to {kept}",
    }
    assert (tmp_path / "kept").read_text() == "x"
    assert target.is_dir()
    done = apply(directory, f"{tmp_path}/kept", force=True)
    assert done.changes == {
        f"{tmp_path}/kept": {"directory": "new"},
        "forced": "File was forcibly replaced",
    }


def test_a_dangling_link_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("nowhere")
    with pytest.raises(StateFailed, match="exists and is a symlink"):
        look(directory, f"{tmp_path}/l")
    apply(directory, f"{tmp_path}/l", force=True)
    assert (tmp_path / "l").is_dir() and not (tmp_path / "l").is_symlink()


def test_a_plan_provides_all_folders(tmp_path: Path) -> None:
    plan = look(directory, f"{tmp_path}/a/b", makedirs=True)
    assert isinstance(plan, Plan)
    assert list(plan.provides) == [("file", f"{tmp_path}/a"), ("file", f"{tmp_path}/a/b")]
    with pytest.raises(StateFailed) as failure:
        look(directory, f"{tmp_path}/a/b")
    assert failure.value.missing == (("file", f"{tmp_path}/a"),)


def test_a_file_above_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    with pytest.raises(StateFailed, match=f"{tmp_path}/f is not a directory"):
        look(directory, f"{tmp_path}/f/a/b", makedirs=True)


@needs_root("to give files away")
@pytest.mark.parametrize("follow", [False, True])
def test_the_owner_of_links_or_of_what_they_point_to(tmp_path: Path, follow: bool) -> None:
    (tmp_path / "aside").write_text("x")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "link").symlink_to(tmp_path / "aside")
    both = {"user": "daemon", "group": "daemon"}
    apply(directory, f"{tmp_path}/d", **both, recurse=["user"], follow_symlinks=follow)
    there = (tmp_path / "d" / "link").lstat(), (tmp_path / "aside").stat()
    assert tuple(at.st_uid for at in there) == ((0, 1) if follow else (1, 0))
    assert {at.st_gid for at in there} == {0}, "`recurse` says what of them is for what is inside"


def test_a_link_whose_folder_has_another_mode_is_told(machine: Machine) -> None:
    (machine.folder / "d").mkdir(mode=0o755)
    (machine.folder / "l").symlink_to("d")
    words = ("single", "file.directory", f"name={machine.folder}/l", "mode=0700")
    for test in (["--test"], []):
        (result,) = machine.results(*words, *test).values()
        assert "`follow_symlinks: True` sets them there" in result["warnings"][0]
    (result,) = machine.results(*words, "follow_symlinks=True").values()
    assert result["changes"] and "warnings" not in result
    (result,) = machine.results(*words).values()
    assert "warnings" not in result
