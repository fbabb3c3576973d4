# SPDX-License-Identifier: Apache-2.0
"""The command `enable`: scheduled runs again."""

from __future__ import annotations

import sys

from runner.cli.running.answers import write_value
from runner.cli.running.metrics import note_disabled
from runner.cli.running.options import READING, Common, options_of, with_common
from runner.history import disabled as stop
from runner.output.text import safe


@with_common(READING)
def enable(*, common: Common) -> int:
    """Let scheduled runs start again, after `runner disable`.

    Example: runner enable
    """
    options = options_of(common)
    ended = stop.enable(options.state_dir)
    note_disabled(options)
    if not common.for_people:
        write_value(common, {"disabled": None, "ended": ended and ended.as_data()})
    elif not common.quiet:
        before = f"Before: {ended}" if ended else "They were not disabled."
        print(safe(f"Now: scheduled runs are enabled\n{before}", sys.stdout))
    return 0
