# SPDX-License-Identifier: Apache-2.0
"""Grains of the RedHat, Suse, Arch, Alpine, Gentoo and Void families: os_families.json has the
os-release files of their releases, and what a real Salt 3008.3 makes of them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runner.language.grains import system
from runner.language.grains.system import osgrains

FAMILIES: dict[str, Any] = json.loads(Path(__file__).with_name("os_families.json").read_text())


@pytest.mark.parametrize("name", FAMILIES)
def test_grains_are_salts(name: str) -> None:
    text = "\n".join(FAMILIES[name]["os_release"])
    assert json.loads(json.dumps(osgrains(text))) == FAMILIES[name]["grains"]


@pytest.mark.parametrize(
    ("family", "osarch"),
    [("RedHat", "i686"), ("Suse", "i686"), ("Arch", os.uname().machine), ("Alpine", None)],
)
def test_rpm_says_what_packages_are_built_for(
    family: str, osarch: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rpm").write_text('#!/bin/sh\n[ "$*" = "--eval %{_host_cpu}" ] && echo i686\n')
    (tmp_path / "rpm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    wanted = osarch or os.uname().machine
    assert system.architecture({"os_family": family}) == {"osarch": wanted}
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert system.architecture({"os_family": family}) == {"osarch": os.uname().machine}
