# SPDX-License-Identifier: Apache-2.0
"""The command `prune`: remove what no state declares any more."""

from __future__ import annotations

from functools import partial

from runner.cli.running.options import CHANGING, READING, ROOTED, Common, options_of, with_common
from runner.cli.running.shown_run import finish
from runner.output.formats import MACHINE_RUN
from runner.pipeline import stages


@with_common(READING, ROOTED, CHANGING, answer=MACHINE_RUN)
def prune(*, common: Common) -> int:
    """Remove what no state declares any more.

    Earlier highstates made it; `runner orphans` lists it. What was changed since, belongs to a
    package or was there before runner first touched it is left. `runner undo` takes it back.

    Example: runner prune --test
    """
    options = options_of(common)
    return finish(common, options, partial(stages.prune, options))
