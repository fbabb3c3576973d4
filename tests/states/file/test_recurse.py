# SPDX-License-Identifier: Apache-2.0
"""file.recurse beyond the laws: what of the source arrives, and how results tell of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply, look

from runner.api import Done, Plan, StateFailed
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
def test_what_arrives(
    roots: Path, tmp_path: Path, arguments: dict[str, Any], names: list[str]
) -> None:
    run(roots, tmp_path, **arguments)
    assert arrived(tmp_path) == names


def test_the_folder_is_made_where_nothing_matches(roots: Path, tmp_path: Path) -> None:
    """As Salt does, which does not report it."""
    top = f"{tmp_path}/d"
    done = run(roots, tmp_path, include_pat=["nothing"], dir_mode="0700")
    assert done.changes == {top: {top: {"directory": "new"}}}
    assert arrived(tmp_path) == []
    assert not run(roots, tmp_path, include_pat=["nothing"], dir_mode="0700").changes


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


def test_a_link_to_nothing_is_told_or_kept(roots: Path, tmp_path: Path) -> None:
    (roots / "r/gone").symlink_to("nothing")
    for keep, told in (
        (False, ["salt://r/gone is a link to nothing, and is not copied"]),
        (True, []),
    ):
        here = HarnessHere(roots)
        apply(recurse, f"{tmp_path}/{keep}", ["salt://r"], keep_symlinks=keep, current=here)
        assert here.warnings == told
    assert (tmp_path / "True/gone").is_symlink() and not (tmp_path / "False/gone").is_symlink()


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


def test_a_failing_file_does_not_keep_the_others_from_being_written(
    roots: Path, tmp_path: Path
) -> None:
    (tmp_path / "d" / "a").mkdir(parents=True)
    with pytest.raises(StateFailed) as dry:
        look(recurse, f"{tmp_path}/d", source=["salt://r"], current=HarnessHere(roots, dry=True))
    assert arrived(tmp_path) == ["a"]
    with pytest.raises(StateFailed) as real:
        run(roots, tmp_path)
    for failure in (dry, real):
        assert (
            failure.value.message
            == f"#### {tmp_path}/d/a ####\nSpecified target {tmp_path}/d/a is a directory"
        )
    assert dry.value.changes == real.value.changes
    assert real.value.changes and f"{tmp_path}/d/sub/b" in real.value.changes
    assert arrived(tmp_path) == ALL


def test_a_link_in_whose_place_a_file_stands(roots: Path, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "lnk").write_text("x")
    with pytest.raises(StateFailed, match="File exists where the symlink"):
        run(roots, tmp_path, keep_symlinks=True, force_symlinks=False)
    assert arrived(tmp_path) == ALL and (tmp_path / "d/lnk").read_text() == "x"
    run(roots, tmp_path, keep_symlinks=True, force_symlinks=True)
    assert (tmp_path / "d/lnk").is_symlink()


def test_a_dry_run_titles_its_parts(roots: Path, tmp_path: Path) -> None:
    plan = look(recurse, f"{tmp_path}/d", source=["salt://r"], current=HarnessHere(roots, dry=True))
    assert (
        f"#### {tmp_path}/d/sub/b ####\nThe file {tmp_path}/d/sub/b is set to be changed"
        in plan.comment
    )


def test_several_sources_are_merged_and_the_earliest_wins(roots: Path, tmp_path: Path) -> None:
    for name, text in (
        ("one/a", "first\n"),
        ("two/a/under", "x\n"),
        ("two/sub/b", "second\n"),
        ("one/sub/c", "c\n"),
    ):
        (roots / name).parent.mkdir(parents=True, exist_ok=True)
        (roots / name).write_text(text)
    run(roots, tmp_path, source=["salt://one", "salt://two", "salt://none"], merge=True)
    assert arrived(tmp_path) == ["a", "sub", "sub/b", "sub/c"]
    assert (tmp_path / "d/a").read_text() == "first\n"
    assert not run(roots, tmp_path, source=["salt://one", "salt://two"], merge=True).changes


@pytest.fixture
def links(roots: Path) -> Path:
    top = roots / "l"
    (top / "folder").mkdir(parents=True)
    (top / "hollow").mkdir()
    (top / "folder" / "f").write_text("f\n")
    (roots / "outside").write_text("o\n")
    for name, target in {
        "to_folder": "folder",
        "to_hollow": "hollow",
        "to_file": "folder/f",
        "again": "to_folder",
        "nowhere": "no",
        "out_of_the_tree": "/etc/hostname",
    }.items():
        (top / name).symlink_to(target)
    return roots


LINKS = {"to_folder": "folder", "to_file": "folder/f", "again": "to_folder", "nowhere": "no"}


@pytest.mark.parametrize("arguments", [{}, {"include_empty": True}, {"exclude_pat": ["folder*"]}])
def test_links_are_kept_where_what_they_point_to_arrives(
    links: Path, tmp_path: Path, arguments: dict[str, Any]
) -> None:
    run(links, tmp_path, source=["salt://l"], keep_symlinks=True, **arguments)
    found = {
        path.name: str(path.readlink()) for path in (tmp_path / "d").rglob("*") if path.is_symlink()
    }
    expected = LINKS | ({"to_hollow": "hollow"} if "include_empty" in arguments else {})
    if "exclude_pat" in arguments:
        expected = {"to_file": "folder/f", "nowhere": "no"}
    assert found == expected
    assert (tmp_path / "d" / "out_of_the_tree").is_file() and not (
        tmp_path / "d" / "out_of_the_tree"
    ).is_symlink()


@pytest.mark.parametrize("keep", [False, True])
def test_sources_laid_over_each_other(links: Path, tmp_path: Path, keep: bool) -> None:
    over = links / "over"
    (over / "folder" / "sub").mkdir(parents=True)
    (over / "folder" / "g").write_text("g\n")
    (over / "to_file").mkdir()
    (over / "to_file" / "inner").write_text("i\n")
    (over / "hollow").write_text("a file now\n")
    (over / "nowhere").mkdir()
    run(
        links,
        tmp_path,
        source=["salt://over", "salt://l"],
        merge=True,
        keep_symlinks=keep,
        include_empty=True,
    )
    top = tmp_path / "d"
    assert (
        (top / "folder" / "g").is_file()
        and (top / "folder" / "f").is_file()
        and (top / "folder" / "sub").is_dir()
    )
    assert (top / "to_file" / "inner").is_file(), "a folder over a link"
    assert (top / "hollow").is_file(), "a file over an empty folder"
    assert (top / "nowhere").is_dir(), "an empty folder over a link"
    assert (top / "to_folder").is_symlink() is keep
    assert (top / "to_hollow").exists() is not keep, "a link to a folder that became a file"
    before = arrived(tmp_path)
    plan = look(
        recurse,
        str(top),
        source=["salt://over", "salt://l"],
        merge=True,
        keep_symlinks=keep,
        include_empty=True,
        current=HarnessHere(links),
    )
    assert isinstance(plan, Done)
    assert arrived(tmp_path) == before


def test_clean_makes_way_for_things_of_another_kind(roots: Path, tmp_path: Path) -> None:
    top = tmp_path / "d"
    (top / "a" / "full").mkdir(parents=True)
    (top / "sub").write_text("a file\n")
    (top / "stray").write_text("")
    with pytest.raises(StateFailed, match="is a directory"):
        look(recurse, str(top), source=["salt://r"], current=HarnessHere(roots, dry=True))
    plan = look(recurse, str(top), source=["salt://r"], clean=True, current=HarnessHere(roots))
    assert isinstance(plan, Plan)
    assert f"Replacing directory {top}/a with a file" in plan.comment
    assert f"Replacing {top}/sub with a directory" in plan.comment
    assert f"The file {top}/sub/b is set to be changed" in plan.comment
    assert (top / "a" / "full").is_dir() and (top / "stray").exists()
    done = run(roots, tmp_path, clean=True)
    assert done.changes == plan.changes
    assert done.changes["removed"] == [f"{top}/stray"]
    assert done.changes[f"{top}/a"] == {"diff": "New file", "mode": "0644"}
    assert done.changes[f"{top}/sub"] == {f"{top}/sub": {"directory": "new"}}
    assert arrived(tmp_path) == ALL


def test_a_link_to_a_folder_that_is_managed_is_not_cleaned_away(
    roots: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "sub").symlink_to(tmp_path / "elsewhere")
    run(roots, tmp_path, clean=True)
    assert (tmp_path / "d" / "sub").is_symlink()
    assert (tmp_path / "elsewhere" / "b").is_file()


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0{{ nope.x }}", b"\xff\xd8\xff\xe0\x9d\x8a\x93\xa1{{ x"]
)
def test_binary_files_among_templates_are_copied(roots: Path, tmp_path: Path, data: bytes) -> None:
    (roots / "r" / "picture").write_bytes(data)
    (roots / "r" / "a").write_text("{{ 1 + 1 }}\n")
    run(roots, tmp_path, template="jinja")
    assert (tmp_path / "d" / "picture").read_bytes() == (roots / "r" / "picture").read_bytes()
    assert (tmp_path / "d" / "a").read_text().strip() == "2"


def test_a_tree_below_the_root_of_the_machine(roots: Path) -> None:
    plan = look(recurse, "/", source=["salt://r"], current=HarnessHere(roots))
    assert isinstance(plan, Plan)
    assert {"/a", "/sub/b", "/sub/deep/c.txt"} <= plan.changes.keys()
    assert not any(path.startswith("//") for path in plan.changes)
