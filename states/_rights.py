# SPDX-License-Identifier: Apache-2.0
"""States whose programs ask for rights that a plain user does not have: a dry run asks first."""

from __future__ import annotations

import os
from collections.abc import Callable

from modules import file
from runner.api import Plan, StateFailed


def refuse_plain_user(program: str) -> None:
    """Raise StateFailed for a caller for whom a program does not do its work: any but root."""
    if os.geteuid():
        why = f"{program} needs root, and this is user {os.geteuid()}"
        raise StateFailed(why, missing=("right", program))


def only_root(program: str) -> Callable[..., None]:
    """The `dry_run_check` of states whose program does its work for root only."""

    def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
        """Raise StateFailed where the program would refuse."""
        refuse_plain_user(program)

    return dry_run_check


def writing(*folders: str) -> Callable[..., None]:
    """The `dry_run_check` of states whose program writes in folders."""

    def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
        """Raise StateFailed where the caller may not write there."""
        for folder in folders:
            file.refuse_put(f"{folder}/{name.strip('/').replace('/', '-')}")

    return dry_run_check
