# SPDX-License-Identifier: Apache-2.0
"""The plug-in of pytest where there is no machine to be had; tests/machine/test_testing.py has the
rest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command import ROOT

CONFTEST = """
from runner.engine.rehearsal.sandbox import Sandbox, SandboxUnavailable

def start(self):
    raise SandboxUnavailable("no rehearsal here: the moon is full")

Sandbox.start = start
"""
IMPORTS = """
import json, pytest, sys
before = {*sys.modules}
import runner.testing.plugin
vars(runner.testing.plugin)
from runner.support.own_modules import NotYet
new = {*sys.modules} - before
print(json.dumps(sorted(name for name in new if type(sys.modules[name]) is not NotYet)))
"""


def test_pytests_of_others_pay_next_to_nothing() -> None:
    """It is registered, and imports nothing but what finds modules."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"runner.testing.plugin": "runner.testing.plugin"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    finder = ["runner.support", "runner.support.own_modules"]
    assert json.loads(done.stdout) == ["runner", *finder, "runner.testing.plugin"]


@pytest.mark.parametrize(
    ("words", "required", "summary"),
    [
        ([], "", "SKIPPED [1] test_a.py:1: no rehearsal here: the moon is full"),
        ([], "required", "ERROR test_a.py::test_a - Failed: a machine is required: no rehearsal"),
        (["-o", "runner_machine_scope=ever"], "", "runner_machine_scope: there is no 'ever'"),
    ],
)
def test_where_no_machine_is_possible(
    tmp_path: Path, words: list[str], required: str, summary: str
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text("def test_a(machine): raise AssertionError\n")
    command = [sys.executable, "-m", "pytest", "-p", "runner.testing.plugin", "-q", "-ra"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *words],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "RUNNER_MACHINE": required,
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
    )
    assert summary in done.stdout + done.stderr
    assert (done.returncode == 0) is summary.startswith("SKIPPED")
