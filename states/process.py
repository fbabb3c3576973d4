# SPDX-License-Identifier: Apache-2.0
"""Processes that are no services."""

from __future__ import annotations

from modules import ps
from runner.api import Done, Duration, Name, NonEmptyLine, Plan, Planned, StateFailed


def absent(
    name: NonEmptyLine,
    user: Name | None = None,
    signal: Name | int = "TERM",
    timeout: Duration[float] = 5,
) -> Planned:
    """Make sure that no process runs that has a text in its command line.

    name: The text. runner itself, and what called it, do not count.
    user: Only processes of this user.
    signal: What is sent to them: a name, or a number.
    timeout: How many seconds they have to end; what runs then fails the state.

        /opt/old/agent:
          process.absent:
            - user: www-data

    A program that a service starts again ends by service.dead.
    """
    running = ps.others(name, user, full=True)
    ps.check_signal(signal, running)
    if not running:
        return "No matching processes running"
    yield Plan({"killed": running}, f"{len(running)} processes will be killed")
    killed = (ps.pkill(name, user, signal, full=True) or {}).get("killed", [])
    left = ps.left_of(name, user, timeout)
    ended = sorted({*killed} - {*left})
    if left:
        numbers = ", ".join(map(str, left))
        raise StateFailed(
            f"still running after signal {signal}: {numbers}; `signal: KILL` cannot be ignored",
            {"killed": ended} if ended else {},
        )
    return Done(f"Killed {len(killed)} processes", {"killed": killed})
