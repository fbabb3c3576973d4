# SPDX-License-Identifier: Apache-2.0
"""The command `orphans`: what no state declares any more."""

from __future__ import annotations

from runner.cli.running.answers import print_text, write_value
from runner.cli.running.options import READING, ROOTED, Common, options_of, with_common
from runner.cli.running.shown_run import notices
from runner.cli.running.streams import answer_alone
from runner.output import orphans as printed
from runner.output.formats import REMOVALS
from runner.pipeline import orphans as finding


@with_common(READING, ROOTED, answer=REMOVALS)
def orphans(*, common: Common) -> int:
    """List what no state declares any more.

    Earlier highstates made it. The list is an SLS file that removes it; `runner prune` does that.
    What was changed since, belongs to a package or was there before runner first touched it is
    never removed.

    Example: runner orphans --out sls
    """
    options = options_of(common)
    with answer_alone():
        found = finding.orphans(options, [notices(options)])
    if common.for_people or common.form.removals:
        print_text(printed.sls(found))
    else:
        write_value(common, printed.as_data(found))
    return 0
