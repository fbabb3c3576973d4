# SPDX-License-Identifier: Apache-2.0
"""Command lines that are read without typer mean what typer would make of them."""

from __future__ import annotations

import inspect
import random
import subprocess
from typing import Any

import pytest
import typer
from command import Machine

from runner.cli.parsing.app import typed
from runner.cli.parsing.option_spec import (
    COMMANDS,
    NotPlain,
    Option,
    command_named,
    parameters_of,
    read,
)


def _signature(name: str) -> inspect.Signature:
    return inspect.signature(command_named(name), eval_str=True)


def _by_typer(signature: inspect.Signature, words: list[str]) -> dict[str, Any] | None:
    """Return what typer calls a command with; None for a line that it refuses."""
    called: list[dict[str, Any]] = []

    def command(**given: Any) -> int:
        called.append(given)
        return 0

    command.__signature__ = signature  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(context_settings={"help_option_names": ["-h", "--help"]})(typed(command))
    try:
        app(args=words, standalone_mode=False)
    except Exception:
        return None
    return called[0] if called else None


def _lines(signature: inspect.Signature, count: int) -> list[list[str]]:
    """Lines of options and words, many of them right."""
    draw = random.Random(7)
    declared = [each.annotation for each in signature.parameters.values()]
    flags = [
        (flag, kind) for kind, said in declared if isinstance(said, Option) for flag in said.names
    ]
    words = [
        "a",
        "x=1",
        "5",
        "0.5",
        "-",
        "",
        "-1",
        "--",
        "--nope",
        "-zv",
        "--help",
        "ä b",
        "1_0",
        " 7 ",
        "nan",
        "a,b",
    ]
    values = ["a", "x=1", "5", "0.5", "-", "", "-1", "--test", "1_0", "nan", "{a: 1}"]
    found = []
    for _ in range(count):
        line = []
        for _ in range(draw.randrange(6)):
            if not flags or draw.random() < 0.4:
                line.append(draw.choice(words[:5] if draw.random() < 0.8 else words))
                continue
            flag, kind = draw.choice(flags)
            value = draw.choice(("5", "1.5") if draw.random() < 0.8 else values)
            if kind is bool:
                line.append(flag if draw.random() < 0.95 else f"{flag}={value}")
            else:
                line += draw.choice(([flag, value], [f"{flag}={value}"]))
        found.append(line)
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_plain_line_means_to_typer_what_it_means_here(name: str) -> None:
    signature = _signature(name)
    plain = 0
    for line in _lines(signature, 60):
        try:
            found = read(parameters_of(command_named(name)), line)
        except NotPlain:
            continue
        plain += 1
        assert repr(_by_typer(signature, line)) == repr(found), line
    assert plain > 5


def test_the_usual_lines_are_plain() -> None:
    for line in (
        "highstate --test",
        "highstate -q --config /etc/runner.yaml --wait=-1",
        "sls nginx,users --test --out json --pillar {a:1}",
        "single file.managed name=/etc/motd contents=Hello",
        "show lowstate --out=json",
        "call pkg.version nginx",
        "history show last -n 5",
        "check",
        "init",
        "completion candidates -- fish sls --test",
    ):
        name, *words = line.split()
        assert read(parameters_of(command_named(name)), words)


def test_a_plain_line_needs_no_typer(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    program = "import atexit, sys\nfrom runner.cli import main\n"
    program += "atexit.register(lambda: print('typer' in sys.modules, file=sys.stderr))\nmain()"
    for words, used in ((["sls", "a"], False), (["sls", "a", "--nope"], True)):
        argv = machine.argv(*words)
        done = subprocess.run([argv[0], "-c", program, *argv[3:]], capture_output=True, text=True)
        assert done.stderr.splitlines()[-1] == str(used)
