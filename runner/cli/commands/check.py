# SPDX-License-Identifier: Apache-2.0
"""The command `check`: all mistakes of the tree at once."""

from __future__ import annotations

import os
import sys

from runner.api import providers
from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import print_text, write
from runner.cli.running.options import READING, ROOTED, Common, loaded, text_of_file, with_common
from runner.cli.running.shown_run import notices
from runner.cli.running.streams import answer_alone
from runner.cli.running.values import mapping
from runner.model.errors import RunnerError
from runner.output import diagnostics, json_, text
from runner.output.formats import CHECK
from runner.tools import check as checking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@with_common(READING, ROOTED, answer=CHECK)
def check(
    *,
    names: Annotated[
        list[str] | None,
        argument(metavar="[NAME...]", help="SLS files (default: all).", complete=("sls",)),
    ] = None,
    lenient: Annotated[
        bool, option("--lenient", help="Unknown arguments and states are warnings.")
    ] = False,
    grains: Annotated[
        str | None, option("--grains", metavar="FILE", help="Grains of another machine, as YAML.")
    ] = None,
    common: Common,
) -> int:
    """Report all mistakes of the tree at once. Touches nothing but what templates execute.

    Example: runner check nginx
    """
    with answer_alone(common.for_people):
        problems = _checked(common, grains, list(names or ()), lenient)
    if common.for_people:
        diagnostics.show(problems, sys.stdout, text.wants_colour(sys.stdout, os.environ))
        if not common.quiet:
            print(_summary(problems))
    elif common.form.check:
        print_text(common.form.check(problems))
    else:
        write(common, json_.diagnostics(problems))
    return int(any(problem.severity == "error" for problem in problems))


def _summary(problems: list[Any]) -> str:
    problems = [problem for problem in problems if problem.severity != "info"]
    if not problems:
        return "No mistakes found."
    counts = [
        (kind, sum(problem.severity == kind for problem in problems))
        for kind in ("error", "warning")
    ]
    return (
        ", ".join(f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts if count)
        + "."
    )


def _checked(common: Common, grains: str | None, names: list[str], lenient: bool) -> list[Any]:
    """The mistakes of the configuration and of the tree."""
    try:
        more: dict[str, Any] = {"grains": _described(grains)} if grains else {}
        options, warnings = loaded(common, **more)
    except RunnerError as error:
        if error.source is None:  # the command line's own
            raise
        return list(error.diagnostics)
    if grains:
        described = {**options.raw, providers.DESCRIBED: frozenset(more["grains"])}
        options = options._replace(raw=described)
    return checking.check(options, names, lenient, warnings, [notices(options)])


def _described(path: str) -> dict[str, Any]:
    """The grains in a file."""
    option = f"--grains {path}"
    return mapping(text_of_file(path, option), option)
