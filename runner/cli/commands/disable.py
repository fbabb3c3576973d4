# SPDX-License-Identifier: Apache-2.0
"""The command `disable`: no scheduled runs for a while."""

from __future__ import annotations

import datetime
import sys

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import installed_schedule, scheduling
from runner.cli.running.answers import show_problems, write_value
from runner.cli.running.metrics import note_disabled
from runner.cli.running.options import READING, Common, options_of, with_common
from runner.cli.running.scheduled_runs import whoever
from runner.history import disabled as stop
from runner.output.text import safe


@with_common(READING)
def disable(
    *,
    words: Annotated[list[str], argument(metavar="WHY", help="The reason, for everybody else.")],
    lasting: Annotated[
        str | None,
        option("--for", metavar="TIME", help="30s, 45m, 8h, 2d ...; else until `runner enable`."),
    ] = None,
    common: Common,
) -> int:
    """Stop the scheduled runs of this machine for a while.

    Runs started by hand go on, with a warning. `runner enable` ends it, `runner schedule status`
    and `runner history` show it. A second one replaces the first. It is about the runs of the user
    who says it: those of root, with sudo.

    Example: runner disable "the database is being moved" --for 8h
    """
    options = options_of(common)
    seconds = scheduling.seconds(lasting, "--for", least=1) if lasting else 0
    time = datetime.timedelta(seconds=seconds) if seconds else None
    current, replaced = stop.disable(options.state_dir, " ".join(words), whoever(), time)
    note_disabled(options)
    if not common.for_people:
        answer = {"disabled": current, "replaced": replaced}
        write_value(common, {key: one and one.as_data() for key, one in answer.items()})
    elif not common.quiet:
        lines = [f"Now: {current}", *([f"Before: {replaced}"] if replaced else [])]
        print(safe("\n".join(lines), sys.stdout))
    for schedule in map(installed_schedule.installed, (False, True)):
        show_problems(installed_schedule.disobedient(schedule, options.state_dir))
    return 0
