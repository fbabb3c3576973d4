# SPDX-License-Identifier: Apache-2.0
"""Tests are left out only while they and what they test are as they were when they passed."""

from __future__ import annotations

from pathlib import Path

import passed
import pytest


@pytest.mark.parametrize("changed", ["tests/test_a.py", "source/a.txt", "source/new.txt"])
def test_a_change_brings_tests_back(changed: str, tmp_path: Path) -> None:
    for name in ("tests/test_a.py", "tests/test_b.py", "source/a.txt", "other.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("once\n")
    table = tmp_path / "tests/passed.txt"
    table.write_text("# about\n- tests/test_a.py source/*\n- tests/test_b.py other.txt\n")
    assert passed.unchanged(tmp_path) == set()
    passed.record(tmp_path, {tmp_path / "tests/test_a.py", tmp_path / "tests/test_other.py"})
    assert table.read_text().splitlines()[::2] == ["# about", "- tests/test_b.py other.txt"]
    (tmp_path / "other.txt").write_text("changed\n")
    assert passed.unchanged(tmp_path) == {tmp_path / "tests/test_a.py"}
    (tmp_path / changed).write_text("changed\n")
    assert passed.unchanged(tmp_path) == set()
