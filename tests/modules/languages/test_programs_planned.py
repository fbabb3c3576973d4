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


ANSWERS = {
    "flatpak": "case $1 in info) exit 1; esac",
    "snap": "case $1 in list) echo 'error: no matching snaps installed' >&2; exit 1; esac",
    "composer": "echo 'Package operations: 2 installs, 0 updates, 0 removals'",
    "npm": "case $1 in ls) echo {};; *) echo '{\"added\": 1}'; esac",
    "gem": "case $1 in install) echo 'of another gem'; esac",
}
NAMED = """
flatpak: {flatpak.installed: [name: tool, location: here]}
other: {flatpak.installed: [name: other, location: here]}
flatpak gone: {flatpak.uninstalled: [name: tool]}
flatpak twice: {flatpak.uninstalled: [name: tool]}
snap: {snap.installed: [name: tool, channel: latest/edge]}
switched: {snap.installed: [name: tool, channel: latest/stable]}
snap gone: {snap.removed: [name: tool]}
snap twice: {snap.removed: [name: tool]}
"""
OPEN = """
composer: {composer.installed: [name: APP]}
composer again: {composer.update: [name: APP/]}
npm: {npm.installed: [name: tool]}
npm again: {npm.removed: [name: tool]}
gem: {gem.installed: [name: tool]}
gem again: {gem.removed: [name: tool]}
"""


@pytest.fixture
def answering(tools: Machine, tmp_path: Path) -> Machine:
    """A machine with programs that say what they would do, in other words than is understood."""
    for program, text in ANSWERS.items():
        (tmp_path / "bin" / program).write_text(f"#!/bin/sh\n{text}\nexit 0\n")
        (tmp_path / "bin" / program).chmod(0o755)
    return tools


def test_planned_applications_are_there_and_go(answering: Machine) -> None:
    results = told(answering, NAMED)
    assert results["flatpak gone"] == (None, {"old": "tool", "new": None})
    for name in ("other", "switched", "snap gone"):
        assert results[name][0] is None
    assert results["switched"][1] == {"old": "latest/edge", "new": "latest/stable"}
    assert results["flatpak twice"] == results["snap twice"] == (True, {})


def test_what_a_tool_makes_that_does_not_say_it_is_open(answering: Machine, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    results = told(answering, OPEN.replace("APP", f"{tmp_path}/app"))
    for tool in ("composer", "npm", "gem"):
        assert results[tool][0] is None and results[tool][1], tool
        assert results[f"{tool} again"] == (None, {}), tool
