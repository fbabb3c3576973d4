# SPDX-License-Identifier: Apache-2.0
"""The base of the states of PostgreSQL: what is in a server, and order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import PostgresServer
from runner.api import Record, StateFailed, promised
from runner.api.kinds import Property


class Entity(Record):
    """What has a name in a server, by its kind in SQL. Statements make it, alter it and drop it,
    with those options that are given: all of a step or none.
    """

    server: PostgresServer
    kind: str
    name: str

    @property
    def sql(self) -> str:
        return f"{self.kind} {postgres.quoted(self.name)}"

    def row(self, query: str, new: Mapping[str, dict[str, Any]] = {}) -> dict[str, Any] | None:
        """What a query for its name answers. new: what each new database has, by its name."""
        brought = [new[self.name]] if self.name in new else []
        rows = self.server.select(query.format(postgres.literal(self.name)), brought)
        return rows[0] if rows else None

    def create(self, *options: object) -> None:
        self._execute("CREATE", options)

    def alter(self, differences: Iterable[Property]) -> None:
        self.server.execute(*(f"ALTER {self.sql} {each.set(each.target)}" for each in differences))

    def drop(self, *options: object) -> None:
        self._execute("DROP", options)

    def _execute(self, verb: str, options: Iterable[object]) -> None:
        self.server.execute(
            " ".join([f"{verb} {self.sql}", *(str(each) for each in options if each)])
        )


def require_role(server: PostgresServer, role: str) -> None:
    """Raise StateFailed for a role that is neither there nor planned."""
    missing = [("postgres_user", role), ("postgres_group", role)]
    if role.lower() == "public" or any(promised(*fact) for fact in missing):
        return
    if role not in postgres.roles(server, role, passwords=False):
        raise StateFailed(f'role "{role}" does not exist', missing=missing)


def require_owner(server: PostgresServer, owner: str | None, now: object) -> None:
    """Raise StateFailed where a thing cannot be given to its owner. now: who owns it."""
    if owner and owner != now:
        require_role(server, owner)


def owned_by(role: str) -> str:
    """How a statement gives a thing to a role."""
    return f"OWNER TO {postgres.quoted(role)}"


SERVER = (("pkg", "postgresql"), ("service", "postgresql"))  # what all of these come after
