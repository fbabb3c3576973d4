"""The command `undo`: the files of before a run."""

from __future__ import annotations

from typing import Annotated

from runner.cli.exit_codes import DONE, FAILED
from runner.cli.option_spec import argument
from runner.cli.options import (
    READING,
    RUNNING,
    Common,
    notices,
    options_of,
    with_common,
    write_value,
)
from runner.output.text import safe


@with_common(READING, RUNNING)
def undo(
    *,
    number: Annotated[
        str | None,
        argument(metavar="[RUN]", help="Its number (default: the last one).", complete=("runs",)),
    ] = None,
    common: Common,
) -> int:
    """Restore the files, links, modes and owners from before a run.

    Packages and services stay as they are. A path that was changed since the run is left out, and
    reported.

    Example: runner undo 12 --test
    """
    from runner import pipeline
    from runner.output import undo as printed

    options = options_of(common)
    plan, done, other = pipeline.undo(options, number, [notices(options)])
    if not common.for_people:
        steps = [
            {"path": step.was.path, "what": str(step), "refused": step.refused or None}
            for step in plan.steps
        ]
        write_value(
            common, {"run": plan.run, "command": plan.command, "done": done, "steps": steps}
        )
    else:
        print(
            "".join(f"{safe(line)}\n" for line in printed.lines(plan, done, options.test, other)),
            end="",
        )
    return FAILED if plan.refused else DONE
