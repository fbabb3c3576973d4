# SPDX-License-Identifier: Apache-2.0
"""Zones of the time."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine

ZONES = Path("/usr/share/zoneinfo")


@pytest.mark.skipif(not (ZONES / "Europe/Berlin").is_file(), reason=f"{ZONES} has no zones")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("europe/berlin", "Europe/Berlin"),
        ("EUROPE/BERLIN", "Europe/Berlin"),
        ("Europe/Berlim", "Europe/Berlin"),
        ("America/New York", "America/New_York"),
        ("utc", "UTC"),
        ("Mars/Base", ""),
    ],
)
def test_a_zone_that_does_not_exist_names_the_one_that_was_meant(
    machine: Machine, said: str, meant: str
) -> None:
    comment = machine("single", "timezone.system", f"name={said}", "--test", code=2).stdout
    assert f'Can\'t find a local timezone "{said}"' in comment
    assert ("did you mean" in comment) is bool(meant)
    assert f"did you mean '{meant}'?" * bool(meant) in comment
