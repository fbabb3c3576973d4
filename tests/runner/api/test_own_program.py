# SPDX-License-Identifier: Apache-2.0
"""How this very runner is started again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import runner
from runner.api.own_program import MAIN, own_program, own_python
from runner.api.scheduled import systemd_word


def test_code_of_ours_has_the_modules_of_runner_and_of_python_by_their_names() -> None:
    code = "import random, runner; print(runner.ROOT, hasattr(random, 'Random'), sep='\\n')"
    python, *words = own_python(code)
    done = subprocess.run([python, "-S", *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [runner.ROOT, "True"]


def test_runner_is_started_by_its_path_where_it_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin/runner"
    program.parent.mkdir()
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("PATH", "/nowhere")
    assert own_program() == [str(program)]
    monkeypatch.setattr(sys, "argv", ["/usr/bin/salt-call"])
    assert own_program() == own_python(MAIN)
    monkeypatch.setenv("PATH", str(program.parent))
    assert own_program() == [str(program)]


def test_a_word_of_a_unit_stays_on_its_line() -> None:
    """What is in a name is no line of the unit."""
    assert systemd_word("a\nExecStartPost=b") == "a\\nExecStartPost=b"
    assert systemd_word("a\n b") == '"a\\n b"'
