"""file.recurse beyond the laws: what of the source arrives, and how results tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply, look

from runner.api import StateFailed
from states.file.recurse import recurse


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "r" / "sub" / "deep").mkdir(parents=True)
    (root / "r" / "empty").mkdir()
    for name in ("a", "sub/b", "sub/deep/c.txt"):
        (root / "r" / name).write_text(f"{name}\n")
    (root / "r" / "sub" / "b").chmod(0o755)
    (root / "r" / "lnk").symlink_to("a")
    return root


def run(roots: Path, tmp_path: Path, **arguments: Any) -> Any:
    arguments = {"source": ["salt://r"], **arguments}
    return apply(recurse, f"{tmp_path}/d", **arguments, current=HarnessHere(roots))


def arrived(tmp_path: Path) -> list[str]:
    return sorted(str(path.relative_to(tmp_path / "d")) for path in (tmp_path / "d").rglob("*"))


ALL = ["a", "lnk", "sub", "sub/b", "sub/deep", "sub/deep/c.txt"]
CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ALL),
    ({"include_empty": True}, sorted([*ALL, "empty"])),
    ({"exclude_pat": ["sub/*"]}, ["a", "lnk"]),
    ({"include_pat": ["E@(a|sub/b)$"]}, ["a", "sub", "sub/b"]),
    ({"include_pat": ["*a", "*b"], "exclude_pat": ["sub*"]}, ["a"]),
    ({"maxdepth": 0}, ["a", "lnk"]),
    ({"maxdepth": 1}, ["a", "lnk", "sub", "sub/b"]),
    ({"source": ["salt://no", "salt://r/sub/"]}, ["b", "deep", "deep/c.txt"]),
]


@pytest.mark.parametrize(("arguments", "names"), CHOICES)
def test_what_arrives(roots: Path, tmp_path: Path, arguments: dict[str, Any], names: list[str]) -> None:
    run(roots, tmp_path, **arguments)
    assert arrived(tmp_path) == names


def test_changes_stand_under_their_paths(roots: Path, tmp_path: Path) -> None:
    top = f"{tmp_path}/d"
    done = run(roots, tmp_path, file_mode="0600", dir_mode="0700")
    new = {"diff": "New file"}
    assert done.comment == f"Recursively updated {top}"
    assert done.changes == {
        f"{top}/sub/deep": {f"{top}/sub/deep": {"directory": "new"}},
        f"{top}/a": new,
        f"{top}/lnk": new,
        f"{top}/sub/b": new,
        f"{top}/sub/deep/c.txt": new,
    }
    again = run(roots, tmp_path, file_mode="0600", dir_mode="0700")
    assert (again.comment, again.changes) == (f"The directory {top} is in the correct state", {})


def test_links_stay_links_when_asked(roots: Path, tmp_path: Path) -> None:
    done = run(roots, tmp_path, keep_symlinks=True)
    assert (tmp_path / "d" / "lnk").readlink() == Path("a")
    assert done.changes[f"{tmp_path}/d/lnk"] == {"new": f"{tmp_path}/d/lnk"}


def test_modes_as_in_the_tree(roots: Path, tmp_path: Path) -> None:
    run(roots, tmp_path, file_mode="keep")
    assert (tmp_path / "d" / "sub" / "b").stat().st_mode & 0o777 == 0o755


def test_cleaning_keeps_what_is_about_to_arrive(roots: Path, tmp_path: Path) -> None:
    (tmp_path / "d" / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "d" / "zz" / "y").mkdir(parents=True)
    (tmp_path / "d" / "sub" / "deep" / "old").touch()
    done = run(roots, tmp_path, clean=True)
    assert arrived(tmp_path) == ALL
    assert done.changes["removed"] == [f"{tmp_path}/d/sub/deep/old", f"{tmp_path}/d/zz"]


def test_a_failing_file_keeps_the_others_from_being_written(roots: Path, tmp_path: Path) -> None:
    (tmp_path / "d" / "a").mkdir(parents=True)
    with pytest.raises(StateFailed) as failure:
        run(roots, tmp_path)
    assert failure.value.message == f"#### {tmp_path}/d/a ####\nSpecified target {tmp_path}/d/a is a directory"
    assert arrived(tmp_path) == ["a"]


def test_a_dry_run_titles_its_parts(roots: Path, tmp_path: Path) -> None:
    plan = look(recurse, f"{tmp_path}/d", source=["salt://r"], current=HarnessHere(roots, dry=True))
    assert f"#### {tmp_path}/d/sub/b ####\nThe file {tmp_path}/d/sub/b is set to be changed" in plan.comment


def test_several_sources_are_merged_and_the_earliest_wins(roots: Path, tmp_path: Path) -> None:
    for name, text in (("one/a", "first\n"), ("two/a/under", "x\n"), ("two/sub/b", "second\n"), ("one/sub/c", "c\n")):
        (roots / name).parent.mkdir(parents=True, exist_ok=True)
        (roots / name).write_text(text)
    run(roots, tmp_path, source=["salt://one", "salt://two", "salt://none"], merge=True)
    assert arrived(tmp_path) == ["a", "sub", "sub/b", "sub/c"]
    assert (tmp_path / "d/a").read_text() == "first\n"
    assert not run(roots, tmp_path, source=["salt://one", "salt://two"], merge=True).changes
