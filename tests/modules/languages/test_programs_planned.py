# SPDX-License-Identifier: Apache-2.0
"""Programs of cargo, pipx and uv that a dry run plans are there for the states that follow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from command import Machine

CHAIN = """
first: {MODULE.installed: [name: tool, version: 1.0.0]}
again: {MODULE.installed: [name: tool]}
other: {MODULE.installed: [name: other]}
another version: {MODULE.installed: [name: other, version: 1.0.0]}
gone: {MODULE.removed: [name: tool]}
twice: {MODULE.removed: [name: tool]}
"""
NEWEST = """
first: {MODULE.installed: [name: tool, version: 1.0.0]}
newer: {MODULE.installed: [name: tool, upgrade: true]}
other: {MODULE.installed: [name: other]}
newest: {MODULE.installed: [name: other, upgrade: true]}
gone: {MODULE.removed: [name: Tool]}
"""
BUILT = """
first: {cargo.installed: [name: tool, root: ROOT, features: [a]]}
elsewhere: {cargo.removed: [name: tool]}
new: {cargo.installed: [name: other, features: [a]]}
same: {cargo.installed: [name: other, features: a]}
otherwise: {cargo.installed: [name: other, features: [b]]}
"""


@pytest.fixture
def tools(machine: Machine, tmp_path: Path) -> Machine:
    """A machine with programs that install nothing."""
    (tmp_path / "bin").mkdir()
    for program in ("pipx", "uv", "cargo"):
        (tmp_path / "bin" / program).write_text("#!/bin/sh\nexit 0\n")
        (tmp_path / "bin" / program).chmod(0o755)
    machine.environment |= {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
        "CARGO_HOME": str(tmp_path / "cargo"),
    }
    return machine


def told(machine: Machine, text: str) -> dict[str, tuple[bool | None, Any]]:
    machine.write(a=text)
    found = machine.results("sls", "a", "--test")
    return {name: (each["result"], each["changes"]) for name, each in found.items()}


@pytest.mark.parametrize("module", ["pipx", "uv_tool", "cargo"])
def test_a_planned_program_is_there_and_goes(tools: Machine, module: str) -> None:
    results = told(tools, CHAIN.replace("MODULE", module))
    assert results["first"] == (None, {"tool": {"old": "", "new": "1.0.0"}})
    assert results["again"] == (True, {})
    assert results["other"] == (None, {"other": {"old": "", "new": "installed"}})
    assert results["another version"] == (None, {}), "nobody knows which one comes"
    assert results["gone"] == (None, {"tool": {"old": "1.0.0", "new": ""}})
    assert results["twice"] == (True, {})


@pytest.mark.parametrize("module", ["pipx", "uv_tool"])
def test_what_is_newest_is_not_known_of_what_is_planned(tools: Machine, module: str) -> None:
    results = told(tools, NEWEST.replace("MODULE", module))
    assert results["newer"] == (None, {}), "what is newest is not known of what is not there"
    assert (results["other"][0], results["newest"]) == (None, (True, {}))
    assert results["gone"] == (None, {"Tool": {"old": "1.0.0", "new": ""}})


def test_what_cargo_builds_is_below_its_root(tools: Machine, tmp_path: Path) -> None:
    results = told(tools, BUILT.replace("ROOT", f"{tmp_path}/built"))
    assert results["elsewhere"] == (True, {})
    assert results["new"][1] == {"other": {"old": "", "new": "installed"}}
    assert results["same"] == (True, {})
    assert results["otherwise"] == (None, {"other": {"old": "installed", "new": "installed"}})
