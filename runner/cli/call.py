"""The command `call`: one execution function."""

from __future__ import annotations

from typing import Annotated

from runner.cli.option_spec import argument, option
from runner.cli.options import READING, Common, notices, options_of, with_common, write_value
from runner.cli.streams import answer_alone
from runner.cli.values import arguments_of

TEST = {"test": Annotated[bool, option("--test", help="Change nothing.")]}


@with_common(READING, TEST)
def call(
    *,
    function: Annotated[
        str,
        argument(metavar="MODULE.FUN", help="An execution function.", complete=("functions",)),
    ],
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[value ...] [key=value ...]",
            help="YAML; [lists] in brackets.",
            complete=("function-arguments",),
        ),
    ] = None,
    common: Common,
) -> int:
    """Call one execution function and print what it returns.

    The exit code is 2 where a command that it ran failed.

    Example: runner call pkg.version nginx
    """
    from runner import pipeline
    from runner.cli.exit_codes import FAILED

    positional, named = arguments_of(words or ())
    if function.startswith("state."):
        from runner.cli.state_functions import dispatch

        code = dispatch(common, function, positional, named)
        if code is not None:
            return code
    with answer_alone(common.for_people):
        options = options_of(common)
        value, failed = pipeline.call(options, function, positional, named, [notices(options)])
    write_value(common, value)
    return FAILED if failed else 0
