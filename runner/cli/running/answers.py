# SPDX-License-Identifier: Apache-2.0
"""What a command prints: its answer in the form that was asked for, its errors, warnings."""

from __future__ import annotations

import os
import sys

from runner.cli.running.exit_codes import LOCKED, NOT_RUN, stopped
from runner.model.diagnostics import bug
from runner.model.errors import CompileError, RunnerError
from runner.output import diagnostics, salt_words
from runner.output import text as output_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from runner.cli.running.options import Common
    from runner.model.diagnostics import Diagnostic


def failed(common: Common, caught: Exception | KeyboardInterrupt) -> int:
    """Return the exit code of a command that ended with an error. It goes to stdout as Salt's JSON,
    or as JUnit's XML, where that was asked for, else it is raised again: the edge tells it.
    """
    if isinstance(caught, KeyboardInterrupt):  # the command-line parser would not say a word
        return stopped(caught)
    error = _worded(common, caught)
    if common.quiet and common.scheduled and getattr(error, "code", "") == "locked":
        return LOCKED  # metrics count it; cron would send a mail of each
    if common.form.errors is None or isinstance(error, BrokenPipeError):
        if error is caught:
            raise error
        raise error from None
    problems = error.diagnostics if isinstance(error, RunnerError) else (bug(error),)
    print_text(common.form.errors(problems, common.indent))
    if not isinstance(error, RunnerError):
        raise error
    if not isinstance(error, CompileError):
        print(f"runner: {error.message}", file=sys.stderr)
    return LOCKED if error.code == "locked" else NOT_RUN


def _worded(common: Common, error: Exception) -> Exception:
    """An error in the words of the program that was called."""
    if not (common.more.get("as_salt") and isinstance(error, CompileError)):
        return error
    return CompileError(salt_words.worded(error.diagnostics))


def show_problems(problems: Iterable[Diagnostic]) -> None:
    """Print diagnostics to stderr."""
    diagnostics.show(problems, sys.stderr, output_text.wants_colour(sys.stderr, os.environ))


def write(common: Common, data: Any) -> None:
    """Print an answer to stdout in the form that was asked for."""
    assert common.form.data is not None, "of the forms of a command, all have words for data"
    print_text(common.form.data(data, common.indent))


def print_text(text: str) -> None:
    if sys.stdout.isatty():  # a program gets the text as it is
        text = output_text.safe(text, sys.stdout)
    print(text, end="")


def write_value(common: Common, value: Any) -> None:
    """Print what `show` and `call` found."""
    bare = common.for_people and not common.more.get("as_salt")
    write(common, value if bare else {"local": value})
