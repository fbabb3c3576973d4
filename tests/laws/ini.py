# SPDX-License-Identifier: Apache-2.0
"""How ini files are tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laws import Scenario, scenario

TEXT = "; top\ntopkey = 1\n\n[a]\nx = 1\n# note\ny=2\nalone\n\n[b]\nz = 3\n"


def write(tmp: Path) -> None:
    (tmp / "f").write_text(TEXT)


def ini(function: str, sections: Any, **given: Any) -> Scenario:
    return scenario(f"ini.{function}", write, name="{tmp}/f", sections=sections, **given)


SCENARIOS = [
    ini("options_present", {"a": {"x": 2, "new": None}, "topkey": 5, "c": {"n": True}}),
    ini("options_present", {"a": {"x": 1, "y": 2}}, plans=False, encoding="utf-8"),
    ini("options_present", {"a": {"x": 2}}, strict=True, no_spaces=True),
    ini("options_present", {"a": {"x": 2}}, separator=":"),
    ini("options_absent", {"a": ["x"], "topkey": None}),
    ini("options_absent", {"a": ["nope"]}, plans=False, separator="=", encoding="utf-8"),
    ini("options_present", {"a": {"alone": None}}, plans=False),
    ini("options_present", {"a": {"alone": 1, "x": None}}),
    ini("options_absent", {"a": "alone"}),
    ini("sections_present", ["a", "c"], encoding="utf-8"),
    ini("sections_present", ["a"], plans=False),
    ini("sections_absent", ["a"]),
    ini("sections_absent", ["q"], plans=False, encoding="utf-8"),
]
