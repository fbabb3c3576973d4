"""Commands about earlier runs: history, forget."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated, Any

from runner.cli.exit_codes import DONE, FAILED
from runner.cli.option_spec import argument, option
from runner.cli.options import READING, RUNNING, Common, options_of, with_common, write_value
from runner.model.errors import UsageError
from runner.output.text import safe


@with_common(READING)
def history(
    *,
    words: Annotated[
        list[str] | None,
        argument(metavar="[show RUN | diff RUN RUN]", help="RUN: its number, or `last`."),
    ] = None,
    limit: Annotated[
        int, option("--limit", "-n", metavar="N", help="How many runs to list.", show_default=True)
    ] = 20,
    common: Common,
) -> int:
    """List the runs of this machine, show one, or compare two. Dry runs and undos are marked.

    Example: runner history show last
    """
    from runner.output import history as past
    from runner.queries import show

    words = words or []
    shapes = {(): 0, ("show",): 1, ("diff",): 2}
    if shapes.get(tuple(words[:1])) != len(words[1:]):
        raise UsageError("runner history, runner history show RUN, or runner history diff RUN RUN")
    found: Any = show.past(options_of(common), words, limit)
    if common.out == "pretty":
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        print(past.text(found, words[0] if words else "list", width), end="")
    else:
        write_value(common, found)
    return 0


@with_common(READING)
def forget(
    *,
    words: Annotated[
        list[str] | None,
        argument(metavar="[ID...]", help="States (ID or name) whose pending reactions to forget."),
    ] = None,
    every: Annotated[bool, option("--all", help="Forget all of them.")] = False,
    common: Common,
) -> int:
    """Forget reactions that are pending since a run was killed or failed.

    `runner show pending` lists them. All others are done by the next run that has the state.

    Example: runner forget nginx
    """
    from runner.queries import show

    if bool(words) is every:
        raise UsageError(
            "name the states whose pending reactions to forget, or use --all",
            hint="`runner show pending` lists them",
        )
    forgotten = show.forget(options_of(common), None if every else list(words or ()))
    if common.out != "pretty":
        write_value(common, forgotten)
    elif not common.quiet:
        for reaction in forgotten:
            reactor, source = (reaction[key].replace("_|-", " ") for key in ("reactor", "source"))
            print(f"forgotten: {reaction['kind']} of {reactor} on {source}")
        print(f"{len(forgotten)} forgotten." if forgotten else "No reactions were pending.")
    return 0


@with_common(READING, RUNNING)
def undo(
    *,
    number: Annotated[
        str | None, argument(metavar="[RUN]", help="Its number; without: the last one.")
    ] = None,
    common: Common,
) -> int:
    """Restore the files, links, modes and owners of before a run.

    Packages and services stay as they are. A path that was changed since the run is left out, and
    reported.

    Example: runner undo 12 --test
    """
    from runner import pipeline
    from runner.output import undo as undone

    options = options_of(common)
    found, done, other = pipeline.undo(options, number)
    if common.out != "pretty":
        steps = [
            {"path": step.was.path, "what": str(step), "refused": step.refused or None}
            for step in found.steps
        ]
        write_value(
            common, {"run": found.run, "command": found.command, "done": done, "steps": steps}
        )
    else:
        print(
            "".join(f"{safe(line)}\n" for line in undone.lines(found, done, options.test, other)),
            end="",
        )
    return FAILED if found.refused else DONE
