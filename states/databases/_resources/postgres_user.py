# SPDX-License-Identifier: Apache-2.0
"""Users of PostgreSQL as they are."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.databases._resources._postgres import accounts

ROLE = "databases"
AFTER = ("postgres_group",)


def resources(name: str | None) -> Iterator[Resource]:
    """Users with what they may; never their passwords."""
    for user, arguments, has_password in accounts(login=True):
        if name in (None, user):
            note = f"{user} has a password: `password`, from the pillar, sets it" * has_password
            yield Resource("postgres_user.present", user, arguments, note)
