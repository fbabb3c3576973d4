"""The command `resource`: what is there now, as SLS."""

from __future__ import annotations

import sys
from typing import Annotated

from runner.cli.option_spec import argument, option
from runner.cli.options import READING, Common, options_of, with_common, write_value
from runner.redaction import HIDDEN


@with_common(READING)
def resource(
    *,
    state: Annotated[
        str,
        argument(
            metavar="STATE",
            help="file, user, group, pkg, service, cron, mount, ...",
            complete=("modules",),
        ),
    ],
    names: Annotated[
        list[str] | None, argument(metavar="[NAME...]", help="Their names (default: all).")
    ] = None,
    show_secrets: Annotated[
        bool, option("--show-secrets", help="Do not replace secrets by **********.")
    ] = False,
    common: Common,
) -> int:
    """Print what this machine has now as SLS, ready to be managed.

    Passwords are left out, the pillar's secrets hidden.

    Example: runner resource user deploy > states/deploy.sls
    """
    from runner.queries import inventory, show

    resources = show.resource(options_of(common), state, names or (), show_secrets)
    if not common.quiet and HIDDEN in str(resources):
        print(
            f"secrets of the pillar are shown as {HIDDEN}: write the pillar's keys there",
            file=sys.stderr,
        )
    if common.for_people:
        print(inventory.text(resources), end="")
        if not resources and not common.quiet:
            print(f"there is no {state}", file=sys.stderr)
    else:
        write_value(common, inventory.by_id(resources))
    return 0
