# SPDX-License-Identifier: Apache-2.0
"""file.symlink, absent, copy, rename and touch: comments and what is on disk afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HarnessHere, apply, look

from runner.api import StateFailed
from states.file.absent import absent
from states.file.copy import copy
from states.file.rename import rename
from states.file.symlink import symlink
from states.file.touch import touch


def test_a_link_is_created_changed_and_kept(tmp_path: Path) -> None:
    link = tmp_path / "l"
    for target in ("one", "two"):
        assert (
            apply(symlink, str(link), target).comment == f"Created new symlink {link} -> {target}"
        )
        assert str(link.readlink()) == target
    assert apply(symlink, str(link), "two").changes == {}
    assert [path.name for path in tmp_path.iterdir()] == ["l"]


def test_a_hidden_neighbour_stays(tmp_path: Path) -> None:
    (tmp_path / ".l.new-link").mkdir()
    apply(symlink, str(tmp_path / "l"), "target")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".l.new-link", "l"]


def test_what_is_in_the_way_stays_without_force(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(StateFailed, match="Directory exists where the symlink"):
        look(symlink, str(tmp_path / "d"), "x")
    apply(symlink, str(tmp_path / "d"), "x", backupname="kept")
    assert (tmp_path / "kept").is_dir() and (tmp_path / "d").is_symlink()


def test_absent_removes_a_link_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "l").symlink_to("d")
    assert apply(absent, str(tmp_path / "l")).comment == f"Removed file {tmp_path}/l"
    assert apply(absent, str(tmp_path / "d")).comment == f"Removed directory {tmp_path}/d"


def test_copy_into_a_folder_and_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "d").mkdir()
    here, folder = HarnessHere(), str(tmp_path / "d")
    assert apply(copy, folder, f"{tmp_path}/a", current=here).changes == {}
    assert here.warnings == [
        f"{folder} is a folder: {tmp_path}/a is not copied into it; `subdir: True` copies into it"
    ]
    done = apply(copy, folder, str(tmp_path / "a"), subdir=True)
    assert done.changes == {f"{tmp_path}/d/a": f"{tmp_path}/a"}
    done = apply(copy, f"{tmp_path}/d/a", f"{tmp_path}/a", force=True)
    assert done.changes == {} and " is a copy of " in done.comment


def test_rename_moves_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    apply(rename, f"{tmp_path}/b", f"{tmp_path}/a")
    again = apply(rename, f"{tmp_path}/b", f"{tmp_path}/a")
    assert again.comment == f'Source file "{tmp_path}/a" has already been moved out of place'


def test_touch_sets_the_given_times(tmp_path: Path) -> None:
    assert apply(touch, f"{tmp_path}/t", atime=5, mtime="6").changes == {"new": f"{tmp_path}/t"}
    assert ((tmp_path / "t").stat().st_atime, (tmp_path / "t").stat().st_mtime) == (5, 6)
    with pytest.raises(StateFailed, match="seconds since 1970"):
        look(touch, f"{tmp_path}/t", atime="junk")
