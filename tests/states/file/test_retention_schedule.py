# SPDX-License-Identifier: Apache-2.0
"""file.retention_schedule: which backups stay."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from harness import apply

from states.file.retention_schedule import retention_schedule

SIX_HOURS = 6 * 3600
THURSDAY = 1760000000  # 2025-10-09 08:53:20 UTC


@pytest.mark.parametrize(
    ("step", "retain", "kept"),
    [
        (SIX_HOURS, {"most_recent": 2}, [0, 1]),
        (SIX_HOURS, {"most_recent": "2"}, [0, 1]),
        (SIX_HOURS, {"first_of_day": 2}, [1, 5]),
        (SIX_HOURS, {"first_of_day": "all"}, [1, 5, 9]),
        (SIX_HOURS, {"first_of_hour": 3}, [0, 1, 2]),
        (86400, {"first_of_week": 1}, [3, 9]),
        (86400, {"first_of_month": 1, "most_recent": 1}, [0, 8]),
        (86400, {"first_of_year": 1}, [9]),
        (86400, {"most_recent": "all"}, list(range(10))),
    ],
)
def test_what_is_kept(tmp_path: Path, step: int, retain: dict[str, Any], kept: list[int]) -> None:
    for number in range(10):
        path = tmp_path / f"b{number}"
        path.touch()
        os.utime(path, (THURSDAY - number * step,) * 2)
    done = apply(retention_schedule, str(tmp_path), retain, timezone="UTC")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"b{number}" for number in kept]
    assert done.comment == f"{10 - len(kept)} backups were removed from {tmp_path}.\n"
    assert apply(retention_schedule, str(tmp_path), retain, timezone="UTC").changes == {}


def test_what_is_no_backup_stays(tmp_path: Path) -> None:
    for name in ("b-20250101", "b-20250102", "README"):
        (tmp_path / name).touch()
    done = apply(retention_schedule, str(tmp_path), {"most_recent": 1}, strptime_format="b-%Y%m%d")
    assert done.changes == {
        "retained": ["b-20250102"],
        "deleted": ["b-20250101"],
        "ignored": ["README", "..", "."],
    }
