# SPDX-License-Identifier: Apache-2.0
"""The command `sls`: the SLS files that are named."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

from runner.cli.parsing import usage
from runner.cli.parsing.option_spec import Annotated, argument
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
    words,
)
from runner.cli.running.shown_run import finish
from runner.model.errors import UsageError
from runner.output.formats import MACHINE_RUN
from runner.pipeline import stages


@with_common(READING, ROOTED, BUILDING, CHANGING, PLANNING, ASKING, SCHEDULED, answer=MACHINE_RUN)
def sls(
    *,
    names: Annotated[
        list[str],
        argument(
            metavar="NAME[,NAME...]",
            help="SLS files, as `include` names them.",
            complete=("sls-list",),
        ),
    ],
    common: Common,
) -> int:
    """Apply some SLS files to this machine.

    Example: runner sls nginx,users --test
    """
    options = options_of(common, running=True)
    wanted = words(names)
    if not wanted:
        raise UsageError("no SLS file is named", hint="runner sls NAME")
    for word in wanted:
        if "=" in word:
            _no_option(word)
    if common.plan or common.sign_key or common.ask:
        return planning.carried_out(common, options, "sls", wanted)
    with stepping.steps(common) if common.step else nullcontext() as confirm:
        return finish(common, options, partial(stages.sls, options, wanted, confirm=confirm))


def _no_option(word: str) -> None:
    if hint := usage.as_option(word):
        raise UsageError(f"{word!r} is not an SLS file", hint=hint)
