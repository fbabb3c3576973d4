# SPDX-License-Identifier: Apache-2.0
"""Programs of pipx and uv that a dry run plans are there for the states that follow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Machine

CHAIN = """
first: {MODULE.installed: [name: tool, version: '1.0']}
again: {MODULE.installed: [name: tool]}
newer: {MODULE.installed: [name: tool, upgrade: true]}
other: {MODULE.installed: [name: other]}
newest: {MODULE.installed: [name: other, upgrade: true]}
gone: {MODULE.removed: [name: Tool]}
twice: {MODULE.removed: [name: tool]}
"""


@pytest.mark.parametrize(("module", "program"), [("pipx", "pipx"), ("uv_tool", "uv")])
def test_a_planned_program_is_there_and_goes(
    machine: Machine, tmp_path: Path, module: str, program: str
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / program).write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "bin" / program).chmod(0o755)
    machine.environment |= {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "UV_TOOL_DIR": str(tmp_path / "uv"),
    }
    machine.write(a=CHAIN.replace("MODULE", module))
    found = machine.results("sls", "a", "--test")
    told = {name: (each["result"], each["changes"]) for name, each in found.items()}
    assert told["first"] == (None, {"tool": {"old": "", "new": "1.0"}})
    assert told["again"] == (True, {})
    assert told["newer"] == (None, {}), "what is newest is not known of what is not there"
    assert (told["other"][0], told["newest"]) == (None, (True, {}))
    assert told["gone"] == (None, {"Tool": {"old": "1.0", "new": ""}})
    assert told["twice"] == (True, {})
