# SPDX-License-Identifier: Apache-2.0
"""The command `call`: one execution function."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import scheduled_runs, state_functions
from runner.cli.running.answers import write_value
from runner.cli.running.exit_codes import DONE, FAILED
from runner.cli.running.options import (
    CHANGING,
    READING,
    ROOTED,
    SCHEDULED,
    Common,
    options_of,
    with_common,
)
from runner.cli.running.shown_run import notices
from runner.cli.running.streams import answer_alone
from runner.cli.running.values import given_arguments
from runner.model.events import ChangerCalled
from runner.pipeline import calling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.model.events import Event

OWN = {
    "test": Annotated[bool, option("--test", help="Change nothing.")],
    "detailed_exitcodes": CHANGING["detailed_exitcodes"],
}


@with_common(READING, ROOTED, OWN, SCHEDULED)
def call(
    *,
    function: Annotated[
        str, argument(metavar="MODULE.FUN", help="An execution function.", complete=("functions",))
    ],
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[value ...] [key=value ...]",
            help="YAML; [lists] in brackets; - reads JSON from stdin.",
            complete=("function-arguments",),
        ),
    ] = None,
    common: Common,
) -> int:
    """Call one execution function and print what it returns.

    The exit code is 2 where a command that it ran failed.

    Example: runner call pkg.version nginx
    """
    positional, named = given_arguments(words or ())
    if function.startswith("state."):
        code = state_functions.dispatch(common, function, positional, named)
        if code is not None:
            return code
    with answer_alone(common.for_people):
        options = options_of(common)
        if common.scheduled and scheduled_runs.ends_at_once(common, options):
            return DONE
        changers: list[Event] = []
        listeners = [notices(options), lambda event: _note_changer(event, changers)]
        value, failed = calling.call(options, function, positional, named, listeners)
    write_value(common, value)
    if common.detailed_exitcodes:
        return 2 * bool(changers) + 4 * bool(failed)
    return FAILED if failed else 0


def _note_changer(event: Event, changers: list[Event]) -> None:
    if isinstance(event, ChangerCalled):
        changers.append(event)
