# SPDX-License-Identifier: Apache-2.0
"""The command `pull`: fetch the tree, verify it, and bring the machine to it."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, option
from runner.cli.running.options import SCHEDULED, Common, some_of, with_common
from runner.cli.running.pulling import pulled
from runner.output.formats import MACHINE_RUN

OF_A_PULL = (
    some_of(
        "config pillar id saltenv pillarenv cachedir out log_level log_file"
        " verbose color quiet test wait timeout pillar_stdin splay events detailed_exitcodes"
    )
    | SCHEDULED
)


@with_common(OF_A_PULL, answer=MACHINE_RUN)
def pull(
    *,
    allow_rollback: Annotated[
        bool,
        option("--allow-rollback", help="Take a tree that is older than the one applied last."),
    ] = False,
    common: Common,
) -> int:
    """Fetch the tree of this machine, verify it, and apply it.

    `tree` of the configuration says where it comes from and who has to have signed it. Only a tree
    that compiles takes the place of the present one; otherwise that is reported, the present one is
    applied, and the exit code is 4. Without network the present one is applied. With --test the new
    tree is planned, and the present one stays.

    Example: runner pull --test
    """
    return pulled(common, allow_rollback)
