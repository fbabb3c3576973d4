"""Large files, endless texts and odd bytes, as a user meets them: an error with its place, in bounds of memory.

bench/memory.py measures what each costs.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from command import Machine

MEBIBYTE = 1 << 20


def enlarged(path: Path, megabytes: int, text: str = "") -> None:
    path.write_text(text)
    os.truncate(path, megabytes * MEBIBYTE)


@pytest.mark.parametrize("name", ["states/a.sls", "states/top.sls", "pillar/top.sls", "states/m.jinja"])
def test_what_is_compiled_has_a_limit(name: str, machine: Machine) -> None:
    machine.write(a="{% import 'm.jinja' as m %}\nx:\n  test.nop: []\n")
    (machine.folder / "states/m.jinja").touch()
    enlarged(machine.folder / name, 17)
    words = ["highstate"] if name == "states/top.sls" else ["sls", "a"]
    done = machine(*words, code=1)
    assert f"{name} is larger than 16 MiB" in done.stderr
    assert "`sls_size_limit` (MiB) in the configuration allows more" in done.stderr


def test_the_limit_of_what_is_compiled_is_a_key(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n" + f"# {'x' * 1000}\n" * 1100)
    machine.config["sls_size_limit"] = 1
    assert "a.sls is larger than 1 MiB" in machine("sls", "a", code=1).stderr
    machine.config["sls_size_limit"] = 0
    machine("sls", "a")


def test_a_configuration_that_is_too_large(machine: Machine) -> None:
    (machine.folder / "runner.d").mkdir()
    enlarged(machine.folder / "runner.d/more.yaml", 17)
    machine.write(a="x:\n  test.nop: []\n")
    done = machine("sls", "a", code=1)
    assert "runner.d/more.yaml is larger than 16 MiB" in done.stderr


def test_the_history_keeps_no_large_texts(machine: Machine) -> None:
    machine.write(a="seq 200000:\n  cmd.run: []\n")
    answer = machine.results("sls", "a")
    assert len(next(iter(answer.values()))["changes"]["stdout"]) > MEBIBYTE
    kept = next(machine.folder.rglob("history.sqlite"))
    (changes,) = sqlite3.connect(kept).execute("SELECT changes FROM results").fetchone()
    assert len(changes) < 320_000
    assert json.loads(changes)["stdout"].endswith("more characters are not kept in the history]")
