# SPDX-License-Identifier: Apache-2.0
"""The command `undo`: what was there before a run."""

from __future__ import annotations

import os

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.exit_codes import DONE, FAILED
from runner.cli.running.options import (
    READING,
    ROOTED,
    RUNNING,
    Common,
    options_of,
    options_without_tree,
    with_common,
)
from runner.cli.running.shown_run import notices
from runner.output import undo as printed
from runner.output.text import on_one_line, safe
from runner.pipeline import undoing


@with_common(READING, ROOTED, RUNNING)
def undo(
    *,
    number: Annotated[
        str | None,
        argument(metavar="[RUN]", help="Its number (default: the last one).", complete=("runs",)),
    ] = None,
    path: Annotated[
        str | None,
        option("--path", metavar="PATH", help="Restore only this path, and what is below it."),
    ] = None,
    strict: Annotated[
        bool, option("--strict", help="Restore nothing if something would be left out.")
    ] = False,
    react: Annotated[
        bool, option("--react", help="Let the states react that watch what is restored.")
    ] = False,
    common: Common,
) -> int:
    """Restore what was there before a run.

    Files, users, groups, crontabs, services, packages, mounts and more are restored. What was
    changed since the run is left out, and reported. What cannot be restored is named before: --test
    shows what would be done.

    Example: runner undo 12 --test
    """
    options = options_of(common) if react else options_without_tree(common)
    where = os.path.abspath(path) if path else ""
    undone = undoing.undo(
        options, number, [notices(options)], path=where, strict=strict, react=react
    )
    if not common.for_people:
        write_value(common, printed.value(undone))
    else:
        lines = printed.lines(undone, dry=options.test, react=react)
        print("".join(f"{safe(on_one_line(line))}\n" for line in lines), end="")
    return FAILED if undone.is_partial else DONE
