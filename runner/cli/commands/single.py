# SPDX-License-Identifier: Apache-2.0
"""The command `single`: one state."""

from __future__ import annotations

from functools import partial

from runner.cli.parsing import usage
from runner.cli.parsing.option_spec import Annotated, argument
from runner.cli.running import planning
from runner.cli.running.options import (
    BUILDING,
    CHANGING,
    PLANNING,
    READING,
    ROOTED,
    Common,
    options_of,
    with_common,
)
from runner.cli.running.shown_run import finish
from runner.cli.running.values import given_arguments
from runner.model.errors import UsageError
from runner.output.formats import MACHINE_RUN
from runner.pipeline import stages


@with_common(READING, ROOTED, BUILDING, CHANGING, PLANNING, answer=MACHINE_RUN)
def single(
    *,
    function: Annotated[
        str,
        argument(
            metavar="STATE.FUN", help="A state function, such as file.absent.", complete=("states",)
        ),
    ],
    words: Annotated[
        list[str],
        argument(
            metavar="key=value",
            help="Its arguments: YAML, [lists] in brackets; - reads JSON from stdin.",
            complete=("state-arguments",),
        ),
    ],
    common: Common,
) -> int:
    """Run one state without writing an SLS file.

    Example: runner single file.managed name=/etc/motd contents=Hello
    """
    positional, named = given_arguments(words)
    if positional and "name" not in named:
        named = {"name": positional.pop(0), **named}
    if positional:
        raise UsageError(f"{positional[0]!r} is not an argument", hint="write key=value")
    for word in sorted({"test", "pillar"} & named.keys()):  # nobody wants a run without them
        raise UsageError(f"{word!r} is not an argument", hint=usage.as_option(f"{word}="))
    options = options_of(common)
    if common.plan or common.sign_key:
        return planning.carried_out(common, options, "single", [function], named)
    return finish(common, options, partial(stages.single, options, function, named))
