# SPDX-License-Identifier: Apache-2.0
"""Copies and moves of what is in each other: nothing goes, and nothing has no end."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine


def _paths(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("function", "source", "name", "reason"),
    [
        ("file.copy", "d/e", "d", "which it would replace"),
        ("file.copy", "link/e/f", "d", "which it would replace"),
        ("file.copy", "d", "d/e", "into itself"),
        ("file.copy", "d", "link/new", "into itself"),
        ("file.copy", "d", "d", "into itself"),
        ("file.rename", "d/e", "d", "which it would replace"),
        ("file.rename", "d/e/f", "link/e/f", "which it would replace"),
        ("file.rename", "d", "d/e/new", "Invalid argument"),
    ],
)
def test_what_is_in_each_other_stays(
    machine: Machine, function: str, source: str, name: str, reason: str
) -> None:
    top = machine.folder / "top"
    (top / "d/e").mkdir(parents=True)
    (top / "d/e/f").write_text("contents")
    (top / "link").symlink_to("d")
    before = _paths(top)
    words = ("single", function, f"name={top / name}", f"source={top / source}", "force=True")
    for test in (["--test"], []):
        (result,) = machine.results(*words, *test, code=2).values()
        assert reason in result["comment"]
        assert _paths(top) == before


@pytest.mark.parametrize(
    ("function", "name", "more"),
    [
        ("file.symlink", "d/e", ["target={top}/link/e"]),
        ("file.symlink", "d/e/f", ["target=f"]),
        ("file.symlink", "d", ["target=d/e"]),
        ("file.symlink", "d/e/f", ["target={top}/to_f"]),
        ("file.symlink", "d/e/f", ["target=/nowhere", "backupname=f"]),
        ("file.symlink", "d/e/f", ["target=/nowhere", "backupname={top}/link/e"]),
        ("file.directory", "d/e/f", ["backupname={top}/d/e"]),
        ("file.hardlink", "d/e/f", ["target={top}/to_f"]),
        ("file.rename", "d/e/f", ["source={top}/to_f"]),
        ("file.rename", "d", ["source={top}/to_f"]),
    ],
)
def test_nothing_goes_that_a_link_or_a_backup_needs(
    machine: Machine, function: str, name: str, more: list[str]
) -> None:
    top = machine.folder / "top"
    (top / "d/e").mkdir(parents=True)
    (top / "d/e/f").write_text("contents")
    (top / "link").symlink_to("d")
    (top / "to_f").symlink_to("link/e/f")
    before = _paths(top)
    words = ["single", function, f"name={top / name}", "force=True"]
    words += [each.replace("{top}", str(top)) for each in more]
    for test in (["--test"], []):
        (result,) = machine.results(*words, *test, code=2).values()
        assert "which it would replace" in result["comment"]
        assert _paths(top) == before
        assert (top / "d/e/f").read_text() == "contents"
