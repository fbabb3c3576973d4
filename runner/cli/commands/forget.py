# SPDX-License-Identifier: Apache-2.0
"""The command `forget`: drop pending reactions."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import write_value
from runner.cli.running.options import READING, ROOTED, Common, options_without_tree, with_common
from runner.model.errors import UsageError
from runner.tools.queries import show


@with_common(READING, ROOTED)
def forget(
    *,
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[ID...]",
            help="States (ID or name) whose pending reactions to forget.",
            complete=("ids",),
        ),
    ] = None,
    every: Annotated[bool, option("--all", help="Forget all of them.")] = False,
    common: Common,
) -> int:
    """Forget reactions pending since a run was killed or failed.

    `runner show pending` lists them. All others are done by the next run that has the state.

    Example: runner forget nginx
    """
    if bool(words) is every:
        raise UsageError(
            "name the states whose pending reactions to forget, or use --all",
            hint="`runner show pending` lists them",
        )
    forgotten = show.forget(options_without_tree(common), None if every else list(words or ()))
    if not common.for_people:
        write_value(common, forgotten)
    elif not common.quiet:
        for reaction in forgotten:
            reactor = reaction["reactor"].replace("_|-", " ")
            print(f"forgotten: {reaction['kind']} of {reactor} on {reaction['sources']}")
        print(f"{len(forgotten)} forgotten." if forgotten else "No reactions were pending.")
    return 0
