# SPDX-License-Identifier: Apache-2.0
"""What keeps a machine from falling asleep while a run changes it."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, suppress

from runner.support import programs

PROGRAM = "/usr/bin/systemd-inhibit"
LOGIND = ("/run/systemd/system", "/run/systemd/seats")  # are there where logind runs


def keep(until: ExitStack) -> None:
    """Hold a lock of logind's, where there is a logind that grants it."""
    if not all(map(os.path.isdir, LOGIND)):
        return
    null, words = subprocess.DEVNULL, ["--what=sleep", "--mode=block", "--who=runner"]
    words += ["--why=A run changes this machine", "cat"]
    with suppress(OSError):  # the run goes on without
        # a run that is killed closes its end of the pipe: cat ends, and with it the lock
        program = programs.running(
            [PROGRAM, *words], stdin=subprocess.PIPE, stdout=null, stderr=null
        )
        until.enter_context(program)
