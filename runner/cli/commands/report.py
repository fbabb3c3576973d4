# SPDX-License-Identifier: Apache-2.0
"""The command `report`: the reports of runs that wait to be delivered."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument
from runner.cli.running.answers import write_value
from runner.cli.running.exit_codes import DONE, FAILED
from runner.cli.running.options import READING, Common, options_of, with_common
from runner.history.outbox import delivery, document, store
from runner.model.errors import UsageError, reason_of

ACTIONS = ("send", "list")


@with_common(READING)
def report(
    *,
    action: Annotated[
        str, argument(metavar="send|list", help="What to do with them.", complete=(ACTIONS,))
    ],
    common: Common,
) -> int:
    """Deliver the reports that wait, or list them.

    `report:` in the configuration says where to; each run tries by itself. `send` does not wait
    until the next try is due, and exits with 2 if not all were delivered.

    Example: runner report send
    """
    if action not in ACTIONS:
        raise UsageError(f"runner report {action}: there is no such action", hint="send or list")
    options = options_of(common)
    if options.report is None:
        hint = "write report: {to: ADDRESS} into it; docs/reports.md has the addresses"
        raise UsageError("the configuration does not say where reports go", hint=hint)
    return _send(common, options) if action == "send" else _list(common, options)


def _send(common: Common, options: Any) -> int:
    outcome = delivery.deliver(options.state_dir, options.report, ignore_delay=True)
    for note in outcome.notes:
        print(f"warning: {note}", file=sys.stderr)
    if outcome.problem:
        print(f"warning: {outcome.problem}", file=sys.stderr)
        if outcome.hint:
            print(f"  hint: {outcome.hint}", file=sys.stderr)
    if not common.for_people:
        write_value(common, {"sent": outcome.sent, "waiting": outcome.left})
    elif not common.quiet or outcome.left:
        print(f"{outcome.sent} delivered to {options.report.address}, {outcome.left} waiting.")
    return FAILED if outcome.left or outcome.notes else DONE


def _list(common: Common, options: Any) -> int:
    there, outbox = options.report, store.Outbox(options.state_dir)
    state, size = outbox.state(), outbox.size()
    waiting = [_row(outbox, name) for name in outbox.waiting()]
    rejected = [os.path.join(outbox.path, name) for name in outbox.rejected()]
    tried = state.destination == there.identity
    overview = {
        "to": there.address,
        "bytes": size,
        "last_delivered": _moment(state.delivered),
        "failed_tries": state.failures if tried else 0,
        "next_try": _moment(state.not_before if tried else 0),
        "last_error": state.error if tried else "",
        "dropped": state.dropped,
        "rejected": rejected,
    }
    if not common.for_people:
        write_value(common, {**overview, "waiting": waiting})
        return 0
    for row in waiting:
        test = " (dry run)" if row["test"] else ""
        print(f"{row['started']}  {row['outcome']:<16}  {row['command']}{test}")
    print(f"{len(waiting)} waiting for {there.address}, {size} bytes.")
    if tried and state.error:
        print(f"Failed {state.failures} times: {state.error}")
        print(f"The next run tries again from {overview['next_try']} on.")
    if rejected:
        print("Set aside:", *rejected, sep="\n  ")
    if state.dropped:
        print(f"{state.dropped} dropped, which the next report says.")
    return 0


def _row(outbox: Any, name: str) -> dict[str, Any]:
    """Return what is known of a report that waits."""
    keys = ("id", "run", "started", "command", "test", "outcome")
    try:
        made = document.parsed(outbox.read(name))
        return {key: made[key] for key in keys}
    except (document.BadReport, OSError) as error:
        return {
            **dict.fromkeys(keys),
            "started": name,
            "outcome": "damaged",
            "command": reason_of(error),
        }


def _moment(seconds: float) -> str | None:
    if not seconds:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds))
