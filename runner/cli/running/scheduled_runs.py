# SPDX-License-Identifier: Apache-2.0
"""Runs that the schedule started, and whether they may go on."""

from __future__ import annotations

import os
import pwd
import sys
from contextlib import suppress
from functools import cache

from runner.cli.running import answers, metrics
from runner.history.disabled import disabled
from runner.model.diagnostics import Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.cli.running.options import Common
    from runner.history.disabled import Disabled


def ends_at_once(common: Common, options: Any) -> bool:
    """Return whether this run was started by the schedule while a person has disabled that, and
    say so. A run by hand is warned, and goes on.
    """
    stopped = disabled(options.state_dir)
    if stopped is None:
        return False
    if not common.scheduled:
        _warn(str(stopped))
        return False
    metrics.note_disabled(options)
    if not (common.for_people or common.form.data is None):
        answers.write(common, {"local": {}, "disabled": stopped.as_data()})
    if not common.quiet or _stderr_is_the_journal():
        print(f"runner: not run: {stopped}", file=sys.stderr)
    return True


@cache
def _warn(message: str) -> None:
    """Say it once: `runner pull` may run two trees."""
    answers.show_problems([Diagnostic(message, None, None, "disabled", "warning")])


def as_answer(value: Any, stopped: Disabled | None) -> dict[str, Any]:
    """An answer as JSON has it, with what disables scheduled runs beside it."""
    return {"local": value} | ({"disabled": stopped.as_data()} if stopped else {})


def whoever() -> str:
    """The name of the person who called: the one behind sudo or doas, too."""
    uid = os.getuid()
    own = str(uid)
    with suppress(KeyError):
        own = pwd.getpwuid(uid).pw_name
    behind = os.environ.get("SUDO_USER") or os.environ.get("DOAS_USER")
    return f"{behind} as {own}" if behind and behind != own and uid == 0 else own


def _stderr_is_the_journal() -> bool:
    """Return whether systemd reads stderr: nobody gets a mail of what is printed."""
    with suppress(OSError):
        at = os.fstat(sys.stderr.fileno())
        return os.environ.get("JOURNAL_STREAM") == f"{at.st_dev}:{at.st_ino}"
    return False
