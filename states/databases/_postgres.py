# SPDX-License-Identifier: Apache-2.0
"""The base of the states of PostgreSQL: arguments, order, execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import PostgresServer
from runner.api import CommandFailed, Plan, Planned, StateFailed

UNCHANGED: dict[str, Any] = {}


def carry_out(
    server: PostgresServer, plan: Plan, done: str, failed: str, *statements: str
) -> Planned:
    """Plan, carry the statements out, and tell what the server says where it refuses."""
    yield plan
    try:
        server.execute(*statements)
    except CommandFailed as failure:
        raise StateFailed(f"{failed}: {failure.message}", changes=UNCHANGED) from None
    return done


def drop(server: PostgresServer, kind: str, name: str, what: str | None = None) -> Planned:
    """The state of an object that has to go. kind: Database, User, ...; what: as DROP names it."""
    plan = Plan({name: "Absent"}, f"{kind} {name} is set to be removed")
    return (
        yield from carry_out(
            server,
            plan,
            f"{kind} {name} has been removed",
            f"{kind} {name} failed to be removed",
            f"DROP {what or f'{kind.upper()} {postgres.name(name)}'}",
        )
    )


def after_server(*more: tuple[str, str | None]) -> Iterator[tuple[str, str]]:
    """The states that all of these come after: the server, and what they name."""
    yield "pkg", "postgresql"
    yield "service", "postgresql"
    for state, name in more:
        if name:
            yield state, name
