# SPDX-License-Identifier: Apache-2.0
"""States whose programs run as the user that they name."""

from __future__ import annotations

from modules import cmd
from runner.api import Plan


def dry_run_check(plan: Plan, name: str, user: str | None = None, **arguments: object) -> None:
    """Raise StateFailed where the caller may not run a program as that user."""
    cmd.refuse_surroundings(None, user, None, None)
