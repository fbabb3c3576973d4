# SPDX-License-Identifier: Apache-2.0
"""The command `why`: what brought a state into the run."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.options import READING, ROOTED, Common, options_of, with_common
from runner.cli.running.shown_run import notices
from runner.cli.running.streams import answer_alone
from runner.output import why as printed
from runner.tools.queries import explain


@with_common(READING, ROOTED)
def why(
    *,
    wanted: Annotated[
        str, argument(metavar="ID", help="An ID, a name, or `state: name`.", complete=("ids",))
    ],
    names: Annotated[
        list[str] | None,
        argument(
            metavar="[NAME...]", help="SLS files (default: the highstate).", complete=("sls",)
        ),
    ] = None,
    run_too: Annotated[
        bool, option("--run", help="Also what became of it in the last run.")
    ] = False,
    common: Common,
) -> int:
    """Explain why a state is in the run and why at this place.

    It names what brought the state in, where each argument comes from, and what depends on what.

    Example: runner why nginx --run
    """
    options = options_of(common)

    with answer_alone():
        states = explain.why(options, wanted, names or (), run_too, [notices(options)])
    if common.for_people:
        print(printed.text(states), end="")
    else:
        write_value(common, states)
    return 0
