# SPDX-License-Identifier: Apache-2.0
"""The command `highstate`: everything that the top file gives this machine."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

from runner.cli.running import planning, stepping
from runner.cli.running.options import (
    ASKING,
    BUILDING,
    CHANGING,
    PLANNING,
    READING,
    ROOTED,
    SCHEDULED,
    Common,
    options_of,
    with_common,
)
from runner.cli.running.shown_run import finish
from runner.output.formats import MACHINE_RUN
from runner.pipeline import stages


@with_common(READING, ROOTED, BUILDING, CHANGING, PLANNING, ASKING, SCHEDULED, answer=MACHINE_RUN)
def highstate(*, common: Common) -> int:
    """Apply everything that the top file assigns to this machine.

    Example: runner highstate --test
    """
    options = options_of(common, running=True)
    if common.plan or common.sign_key or common.ask:
        return planning.carried_out(common, options, "highstate", ())
    with stepping.steps(common) if common.step else nullcontext() as confirm:
        return finish(common, options, partial(stages.highstate, options, confirm=confirm))
