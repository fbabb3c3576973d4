# SPDX-License-Identifier: Apache-2.0
"""A pillar, and arguments, that are handed over on standard input."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from command import Machine
from starting import PATIENCE

from runner.cli.running.exit_codes import FAILED, NOT_RUN
from runner.cli.running.values import mapping
from runner.model.handed_over_pillar import SECRETS, line


def fed(machine: Machine, stdin: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        machine.argv(*words),
        input=stdin,
        capture_output=True,
        text=True,
        env=machine.environment,
        timeout=PATIENCE,
    )


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)["local"]


PILLARS: list[dict[Any, Any]] = [
    {},
    {
        "a": {"b": [1, 0.5, -3, True, None, "", "x"]},
        "ü\u2028\x7f\ufeff\x00": "\U0001f600 \\ \" '\n",
    },
    {80: "http", None: 1, True: 2, 0.5: 3, "raw": b"\xff\x00", "inf": float("inf"), "n": "0644"},
]


@pytest.mark.parametrize("pillar", PILLARS)
def test_a_line_says_it_all(pillar: dict[Any, Any]) -> None:
    written = line(pillar)
    assert "\n" not in written
    assert mapping(written, "") == pillar


def test_json_of_others() -> None:
    assert mapping(json.dumps({"a": "\U0001f600"}), "") == {"a": "\U0001f600"}


def test_it_takes_the_place_of_the_pillar_of_the_tree(machine: Machine) -> None:
    """Neither its SLS files nor an external pillar, which would fail, are asked."""
    machine.config.update({"pillar": {"c": 1}, "ext_pillar": [{"cmd_json": "touch {}/x; false"}]})
    machine.write(pillar__top="base: {'*': [bad]}", pillar__bad="a: {{ none.x }}")
    words = ("show", "pillar", "--pillar-stdin", "--out", "json")
    assert answer(fed(machine, '{"b": 2}\n', *words)) == {"b": 2}
    assert answer(fed(machine, "{}\n", *words)) == {}
    assert answer(fed(machine, '{"b": 2}\n{"c": 3}', *words, "--pillar", "-")) == {"b": 2, "c": 3}
    wrong = fed(machine, "[1]\n", *words)
    assert (wrong.returncode, "expected a mapping" in wrong.stderr) == (NOT_RUN, True)


def test_secrets_of_it_are_hidden(machine: Machine) -> None:
    """Those that the one who made it knew, and those of `secret_keys`; templates see them."""
    machine.write(
        web="a:\n  test.configurable_test_state:\n    - result: False\n    - changes: False\n    -"
        " comment: <{{ pillar.code }}> <{{ pillar.db_password }}> {{ pillar.keys() | list }}"
        " {{ 'code' in opts.get('pillar', {}) or 'whole_pillar' in opts }}\n"
    )
    pillar = {"code": "sesame-open", "db_password": "correct-horse"}
    done = fed(
        machine, f"{line(pillar, ['sesame-open'])}\n", "sls", "web", "--pillar-stdin", "--out=json"
    )
    assert done.returncode == FAILED
    (result,) = answer(done).values()
    shown = "<**********> <**********> ['code', 'db_password'] False"
    (machine.folder / "read").write_text("correct-horse")
    words = ("call", "file.read", str(machine.folder / "read"), "--pillar-stdin")
    assert fed(machine, f"{line(pillar)}\n", *words).stdout == "**********\n"
    (machine.folder / "read").unlink()
    assert result["comment"] == shown
    assert SECRETS not in done.stdout + done.stderr
    for file in machine.folder.rglob("*"):
        assert not file.is_file() or not any(
            secret.encode() in file.read_bytes() for secret in pillar.values()
        ), file


def test_arguments_on_stdin(machine: Machine) -> None:
    """They follow the pillar; JSON has types that a command line has not."""
    file = machine.folder / "file"
    values = {"name": str(file), "contents": ["{{ x }}", "'a': [b"], "mode": "0600"}
    words = ("single", "file.managed", "-", "--out", "json")
    done = fed(machine, f"{{}}\n{json.dumps(values)}\n", *words, "--pillar-stdin")
    assert done.returncode == 0, done.stderr
    assert file.read_text() == "{{ x }}\n'a': [b\n"
    assert (
        answer(fed(machine, '["a:b", "none"]', "call", "pillar.get", "-", "--out=json")) == "none"
    )
    named = fed(machine, '{"key": "id"}', "call", "config.get", "-", "--out=json")
    assert answer(named) == "m1"
    wrong = fed(machine, "3", "call", "config.get", "-")
    assert (wrong.returncode, "a mapping or a list" in wrong.stderr) == (NOT_RUN, True)
