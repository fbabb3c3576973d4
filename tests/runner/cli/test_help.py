# SPDX-License-Identifier: Apache-2.0
"""Every --help: a line that says what the command does, an example, within 80 columns."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from runner.cli.parsing.app import build
from runner.cli.parsing.option_spec import COMMANDS

GROUP: Any = typer.main.get_command(build())  # type: ignore[arg-type]


def text_of(command: Any, name: str) -> str:
    context = command.make_context(name, [], resilient_parsing=True, terminal_width=80)
    return str(command.get_help(context))


def test_the_list_of_commands_is_whole() -> None:
    text = text_of(GROUP, "runner")
    listed = text[text.index("Commands:") :]
    assert re.findall(r"^  (\w+)  ", listed, re.M) == list(COMMANDS)
    assert "..." not in listed, "a first sentence is too long"
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str) -> None:
    command = GROUP.commands[name]
    text = text_of(command, f"runner {name}")
    assert command.help.split("\n")[0].endswith((".", ":"))
    assert re.search(rf"^  Example: runner {name}\b", text, re.M)
    assert max(map(len, text.splitlines())) <= 80
    silent = [
        each.name
        for each in command.params
        if not getattr(each, "help", "") and not getattr(each, "hidden", False)
    ]
    assert not silent, "nothing is said of them"
