# SPDX-License-Identifier: Apache-2.0
"""file.tidied: what is not asked for chooses nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from harness import apply

from states.file.tidied import tidied

OLD_AND_LARGE, OLD, LARGE, NEITHER = "old large", "old", "large", "neither"


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        ({"age": 30}, {OLD, OLD_AND_LARGE}),
        ({"age": 30, "size": 0}, {OLD, OLD_AND_LARGE}),
        ({"size": "1k"}, {LARGE, OLD_AND_LARGE}),
        ({"age": 30, "size": "1k"}, {OLD, LARGE, OLD_AND_LARGE}),
        ({"age": 30, "size": "1k", "age_size_logical_operator": "and"}, {OLD_AND_LARGE}),
        ({"age": 30, "age_size_logical_operator": "AND"}, {OLD, OLD_AND_LARGE}),
        ({"age": 30, "size": "1k", "age_size_only": "size"}, {LARGE, OLD_AND_LARGE}),
        ({"matches": ["ne"]}, {NEITHER}),
        ({}, {OLD, LARGE, OLD_AND_LARGE, NEITHER}),
    ],
)
def test_each_criterion_chooses_alone(
    tmp_path: Path, asked: dict[str, Any], gone: set[str]
) -> None:
    for name in (OLD, LARGE, OLD_AND_LARGE, NEITHER):
        (tmp_path / name).write_text("x" * (2048 if "large" in name else 1))
        if "old" in name:
            os.utime(tmp_path / name, (1, 1))
    apply(tidied, name=str(tmp_path), time_comparison="mtime", **asked)
    assert {OLD, LARGE, OLD_AND_LARGE, NEITHER} - {*os.listdir(tmp_path)} == gone
