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
