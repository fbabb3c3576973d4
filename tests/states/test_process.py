# SPDX-License-Identifier: Apache-2.0
"""process.absent: a dry run, what goes on, and what ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from command import Machine
from starting import a_while, background


def test_what_goes_on_fails_and_what_ends_does_not(machine: Machine, tmp_path: Path) -> None:
    program = shutil.copy(shutil.which("sleep") or "", str(tmp_path / "process-absent"))

    def answer(*words: str, **arguments: Any) -> dict[str, Any]:
        given = [{"name": program}, *({key: value} for key, value in arguments.items())]
        machine.write(site=json.dumps({"x": {"process.absent": given}}))
        (result,) = machine.results("sls", "site", *words, code=None).values()
        return dict(result)

    assert answer()["comment"] == "No matching processes running"
    with background([program, a_while()]) as process:
        planned = answer("--test")
        assert planned["result"] is None and planned["comment"] == "1 processes will be killed"
        assert planned["changes"] == {"killed": [process.pid]}
        deaf = answer(signal="CONT", timeout=0)
        assert deaf["result"] is False and deaf["changes"] == {}
        assert f"still running after signal CONT: {process.pid}" in deaf["comment"]
        assert process.poll() is None
        ended = answer()
        assert ended["result"] is True and ended["comment"] == "Killed 1 processes"
        assert ended["changes"] == {"killed": [process.pid]}
        assert process.wait() == -15
    assert answer()["changes"] == {}
