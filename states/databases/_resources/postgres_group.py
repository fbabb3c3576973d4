# SPDX-License-Identifier: Apache-2.0
"""Groups of PostgreSQL as they are."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.databases._resources._postgres import accounts

ROLE = "databases"


def resources(name: str | None) -> Iterator[Resource]:
    """Groups with what they may."""
    for group, arguments, _ in accounts(login=False):
        if name in (None, group):
            yield Resource("postgres_group.present", group, arguments)
