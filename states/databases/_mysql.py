# SPDX-License-Identifier: Apache-2.0
"""The base of the states of MariaDB and MySQL: order, execution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.databases import mysql
from modules.databases.mysql import MysqlServer
from runner.api import CommandFailed, Plan, Planned, StateFailed

UNCHANGED: dict[str, Any] = {}


def carry_out(server: MysqlServer, plan: Plan, done: str, failed: str, *statements: str) -> Planned:
    """Plan, carry the statements out, and report what the server says where it refuses."""
    yield plan
    try:
        server.execute(*statements)
    except CommandFailed as failure:
        raise StateFailed(f"{failed} ({failure.message})", changes=UNCHANGED) from None
    return done


def after_server(*more: tuple[str, str | None]) -> Iterator[tuple[str, str]]:
    """The states that all of these come after: the server, and what they name."""
    for name in mysql.SERVICES:
        yield "service", name
    for name in ("mariadb-server", "mysql-server"):
        yield "pkg", name
    for state, wanted in more:
        if wanted:
            yield state, wanted
