# SPDX-License-Identifier: Apache-2.0
"""Schemas of PostgreSQL's databases."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from modules.databases.postgres import Login, PostgresServer, literal
from runner.api import Line, Name, NonEmptyLine, Plan, Planned
from states.databases._postgres import after_server, carry_out


def present(
    dbname: Line,
    name: NonEmptyLine,
    owner: Name | None = None,
    server: Login = PostgresServer(),
) -> Planned:
    """Make sure that a database has a schema.

    dbname: The database that it is in.
    name: The schema.
    owner: The role that it belongs to.

        reports:
          postgres_schema.present:
            - dbname: app
            - owner: app

    Behaviour: Salt 3008's postgres_schema.present; the owner is seen to.
    """
    server = server.within(dbname)
    current_owner = _owner(server, name)
    role = owner and postgres.name(owner)
    if current_owner is not None and owner in (None, current_owner):
        return f"Schema {name} already exists in database {dbname}"
    if current_owner is not None:
        plan = Plan(
            {name: {"owner": owner}},
            f"Schema {name} in database {dbname} is set to belong to {owner}",
        )
        done, failed = (
            f"Schema {name} in database {dbname} belongs to {owner}",
            f"Failed to change schema {name}",
        )
        return (
            yield from carry_out(
                server, plan, done, failed, f"ALTER SCHEMA {postgres.name(name)} OWNER TO {role}"
            )
        )
    plan = Plan({name: "Present"}, f"Schema {name} is set to be created in database {dbname}.")
    done, failed = (
        f"Schema {name} has been created in database {dbname}",
        f"Failed to create schema {name} in database {dbname}",
    )
    create = f"CREATE SCHEMA {postgres.name(name)}" + (f" AUTHORIZATION {role}" if role else "")
    return (yield from carry_out(server, plan, done, failed, create))


def absent(
    dbname: Line,
    name: NonEmptyLine,
    server: Login = PostgresServer(),
) -> Planned:
    """Make sure that a database does not have a schema.

    dbname: The database that it is in.
    name: The schema.

        reports:
          postgres_schema.absent:
            - dbname: app

    Behaviour: Salt 3008's postgres_schema.absent.
    """
    server = server.within(dbname)
    if _owner(server, name) is None:
        return f"Schema {name} is not present in database {dbname}, so it cannot be removed"
    plan = Plan({name: "Absent"}, f"Schema {name} is set to be removed from database {dbname}")
    done, failed = (
        f"Schema {name} has been removed from database {dbname}",
        f"Schema {name} failed to be removed",
    )
    return (yield from carry_out(server, plan, done, failed, f"DROP SCHEMA {postgres.name(name)}"))


def _owner(server: PostgresServer, name: str) -> str | None:
    query = (
        "SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname ="
        f" {literal(name)}"
    )
    rows = server.select(query)
    return str(rows[0]["owner"]) if rows else None


def autorequire(
    name: str, dbname: str | None = None, owner: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A schema comes after its database and its owner."""
    yield from after_server(("postgres_database", dbname), ("postgres_user", owner))
