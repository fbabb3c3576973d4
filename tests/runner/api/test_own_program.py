# SPDX-License-Identifier: Apache-2.0
"""How this very runner is started again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import runner
from runner.api.own_program import MAIN, own_program, own_python
from runner.api.scheduled import cron_command, systemd_word
from runner.model.errors import RunnerError


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


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("a\nExecStartPost=b", r"a\x0aExecStartPost=b"),
        ("a\n b", r'"a\x0a b"'),
        ("a\rExecStartPost=b", r"a\x0dExecStartPost=b"),
        ("a\x85b", '"a\x85b"'),
        (";", '";"'),
        (";a", ";a"),
        ("", '""'),
        ("\\n%h$H", r"\\n%%h$$H"),
    ],
)
def test_a_word_of_a_unit_is_one_word_of_its_line(word: str, written: str) -> None:
    """What is in a name is no line of the unit, and no command of its own."""
    assert systemd_word(word) == written


def test_a_command_of_cron_is_one_line() -> None:
    assert cron_command(["a b", "100%"]) == "'a b' 100\\%"
    with pytest.raises(RunnerError, match="line end"):
        cron_command(["a", "b\n* * * * * root evil"])
