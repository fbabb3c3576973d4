# SPDX-License-Identifier: Apache-2.0
"""The words for a command line that does not parse: what is wrong, and what was probably meant."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from runner.cli.parsing.option_spec import COMMANDS
from runner.model import other_tools

OPTIONS = (
    "pillar",
    "saltenv",
    "pillarenv",
    "test",
)  # what Salt takes as NAME=VALUE and runner as an option


def words(error: Any) -> list[str]:
    """The lines to print for an error of the command-line parser.

    >>> from types import SimpleNamespace
    >>> message = "Got unexpected extra argument(s) (test=True)"
    >>> words(SimpleNamespace(format_message=lambda: message))[1]
    '  hint: write it as an option, `--test`; `runner-salt-call` takes it as Salt does'
    """
    context = getattr(error, "ctx", None)
    message = getattr(error, "format_message", lambda: str(error))()
    if "NoArgsIsHelpError" in {kind.__name__ for kind in type(error).__mro__}:
        return [message]
    path = context.command_path if context else _command_path(sys.argv[1:])
    hint = _of_one_dash(message, context) or _hint(message, path)
    return [f"runner: {message}", *([f"  hint: {hint}"] if hint else []), f"Try '{path} --help'."]


def _command_path(words: Sequence[str]) -> str:
    """The command of a line, for an error that does not name it."""
    return " ".join(["runner", *(word for word in words[:1] if word in COMMANDS)])


def _of_one_dash(message: str, context: Any) -> str | None:
    """The hint for a long option behind one dash, which is read as several short ones."""
    if not context or not re.match(r"No such option: -\w(?!\w)", message):
        return None
    options = {option for each in context.command.params for option in each.opts}
    options |= {"--version"} if context.parent is None else set()
    for word in sys.argv[1:]:
        if word.startswith("-") and f"-{word.partition('=')[0]}" in options:
            return f"long options have two dashes: `-{word}`"
    return None


def _of_command(word: str) -> str:
    """The hint for what is no command, and like none."""
    if word in ("help", "version"):
        return f"write it as an option: `runner --{word}`"
    return f"an SLS file: `runner sls {word}`; a word of the manual: `runner doc {word}`"


def _hint(message: str, path: str) -> str | None:
    if other := re.match(r"No such option: (--[\w-]+)", message):
        if theirs := other_tools.option_word(other[1]):
            return theirs.text
    if path == "runner doc" and message.startswith("No such option"):
        return "a command line is searched for in quotes: `runner doc 'ln -s'`"
    if " " not in path and message.startswith("No such option"):
        return "options come after the command: `runner highstate --test`"
    if command := re.match(r"No such command '(state\.\w+)'", message):
        return (
            "`runner highstate` or `runner sls NAME`; as Salt: `runner-salt-call --local"
            f" {command[1]}`"
        )
    if re.match(r"No such command '\w+\.\w+'", message):
        return (
            "an execution function: `runner call MODULE.FUN`; a state: `runner single STATE.FUN"
            " key=value`"
        )
    if command := re.match(r"No such command '([\w./-]+)'\.$", message):
        return _of_command(command[1])
    if not (extra := re.match(r"Got unexpected extra argument.*\(([^ )]+)", message)):
        return None
    names = (
        f"SLS files are arguments of `sls`: `runner sls {extra[1]}`"
        if path.endswith(" highstate")
        else None
    )
    return as_option(extra[1]) or names


def as_option(word: str) -> str | None:
    """The hint for an option in Salt's form; None for any other word."""
    name = word.partition("=")[0]
    if "=" in word and name in OPTIONS:
        return f"write it as an option, `--{name}`; `runner-salt-call` takes it as Salt does"
    return None
