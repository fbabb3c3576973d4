"""The command `history`: what earlier runs did."""

from __future__ import annotations

import shutil
import sys
from typing import Annotated, Any

from runner.cli.option_spec import argument, option
from runner.cli.options import READING, Common, options_of, with_common, write_value
from runner.model.errors import UsageError


@with_common(READING)
def history(
    *,
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[show RUN | diff RUN RUN]",
            help="RUN: its number, or `last`.",
            complete=(("show", "diff"), "runs"),
        ),
    ] = None,
    limit: Annotated[
        int, option("--limit", "-n", metavar="N", help="How many runs to list.", show_default=True)
    ] = 20,
    common: Common,
) -> int:
    """List the runs of this machine, show one, or compare two. Dry runs and undos are marked.

    Example: runner history show last
    """
    from runner.output import history as printed
    from runner.queries import show

    words = words or []
    shapes = {(): 0, ("show",): 1, ("diff",): 2}
    if shapes.get(tuple(words[:1])) != len(words[1:]):
        raise UsageError("runner history, runner history show RUN, or runner history diff RUN RUN")
    runs: Any = show.past(options_of(common), words, limit)
    if common.for_people:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        print(printed.text(runs, words[0] if words else "list", width), end="")
    else:
        write_value(common, runs)
    return 0
