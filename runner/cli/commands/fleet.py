# SPDX-License-Identifier: Apache-2.0
"""The command `fleet`: many machines, through ansible-core."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import fleet_driving
from runner.cli.running.options import Common, some_of, with_common
from runner.output.formats import RUN
from runner.tools.fleet import ACTIONS, FORKS

OPTIONS = some_of("config out log_level log_file verbose color quiet test")


@with_common(OPTIONS, answer=RUN)
def fleet(
    *,
    action: Annotated[
        str, argument(metavar="highstate|sls|call|export", help="What to do.", complete=(ACTIONS,))
    ],
    words: Annotated[
        list[str] | None,
        argument(
            metavar="[TARGET] [NAME|FUN] [ARG...]",
            help="A target as Salt has them; then SLS files, or a function.",
        ),
    ] = None,
    inventory: Annotated[
        list[str] | None,
        option("--inventory", "-i", metavar="FILE", help="Ansible's inventory, or a Salt roster."),
    ] = None,
    forks: Annotated[
        int | None, option("--forks", metavar="N", help=f"Machines at once (default {FORKS}).")
    ] = None,
    serial: Annotated[
        str | None,
        option("--serial", metavar="N|N%", help="Machines in a batch; the next begins after it."),
    ] = None,
    limit: Annotated[
        str | None, option("--limit", metavar="PATTERN", help="Only these hosts, as Ansible's.")
    ] = None,
    max_fail: Annotated[
        int | None,
        option("--max-fail", metavar="N", help="Begin no batch after N machines failed."),
    ] = None,
    refresh: Annotated[
        bool, option("--refresh", help="Ask for grains that earlier runs have seen, too.")
    ] = False,
    common: Common,
) -> int:
    """Bring many machines to their state, or ask them something.

    It plays Ansible playbooks with the collection runner.runner; `export ansible` prints them,
    `export salt DIR` writes what a Salt master needs. The target comes first: '*', 'web*',
    'G@os:Debian and not db1'.

    The exit code is 2 where a machine failed or cannot be reached.

    Example: runner fleet highstate 'web*' --test -i hosts.ini
    """
    return fleet_driving.driven(
        action, words or (), inventory or (), forks, serial, limit, max_fail, refresh, common
    )
