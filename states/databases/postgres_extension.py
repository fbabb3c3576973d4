# SPDX-License-Identifier: Apache-2.0
"""Extensions in PostgreSQL's databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import Connection, PostgresServer, literal
from runner.api import Line, NonEmptyLine, Plan, Planned
from states.databases._postgres import after_server, carry_out


def present(
    name: NonEmptyLine,
    if_not_exists: bool | None = None,
    schema: Line | None = None,
    ext_version: Line | None = None,
    from_version: Line | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that an extension is installed in a database (maintenance_db).

    name: The extension.
    if_not_exists: Ignored; this is what is done.
    schema: The schema that its objects are in.
    ext_version: The version of the extension; without it the newest for a new one, and any for one
      that is there.
    from_version: The version before there were extensions (old servers).
    maintenance_db: The database that it is installed in.

        hstore:
          postgres_extension.present:
            - maintenance_db: app

    Behaviour: Salt 3008's postgres_extension.present.
    """
    extension = _installed(server, name)
    quoted = postgres.name(name)
    if extension is None:
        options = [f"SCHEMA {postgres.name(schema)}"] if schema else []
        options += [f"VERSION {literal(ext_version)}"] if ext_version else []
        options += [f"FROM {literal(from_version)}"] if from_version else []
        plan = Plan({name: "Installed"}, f"Extension {name} is set to be installed")
        create = " ".join(["CREATE EXTENSION IF NOT EXISTS", quoted, *options])
        done, failed = (
            f"The extension {name} has been installed",
            f"Failed to install extension {name}",
        )
        return (yield from carry_out(server, plan, done, failed, create))
    statements = []
    if ext_version and extension["version"] != ext_version:
        statements.append(f"ALTER EXTENSION {quoted} UPDATE TO {literal(ext_version)}")
    if schema and extension["schema"] != schema:
        statements.append(f"ALTER EXTENSION {quoted} SET SCHEMA {postgres.name(schema)}")
    if not statements:
        return f"Extension {name} is already present"
    plan = Plan({name: "Upgraded"}, f"Extension {name} is set to be upgraded")
    done, failed = f"The extension {name} has been upgraded", f"Failed to upgrade extension {name}"
    return (yield from carry_out(server, plan, done, failed, *statements))


def absent(
    name: NonEmptyLine,
    if_exists: bool | None = None,
    restrict: bool | None = None,
    cascade: bool | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that an extension is not installed in a database (maintenance_db).

    name: The extension.
    if_exists: Ignored; this is what is done.
    restrict: Ignored; without cascade nothing else goes.
    cascade: Remove what depends on it, too.
    maintenance_db: The database that it is removed from.

        hstore:
          postgres_extension.absent:
            - maintenance_db: app

    Behaviour: Salt 3008's postgres_extension.absent.
    """
    if _installed(server, name) is None:
        return f"Extension {name} is not present, so it cannot be removed"
    plan = Plan({name: "Absent"}, f"Extension {name} is set to be removed")
    done, failed = f"Extension {name} has been removed", f"Extension {name} failed to be removed"
    dropped = f"DROP EXTENSION {postgres.name(name)}{' CASCADE' if cascade else ''}"
    return (yield from carry_out(server, plan, done, failed, dropped))


def _installed(server: PostgresServer, name: str) -> dict[str, Any] | None:
    rows = server.select(
        "SELECT extversion AS version, nspname AS schema FROM pg_extension"
        f" JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = {literal(name)}"
    )
    return rows[0] if rows else None


def autorequire(
    name: str, maintenance_db: str | None = None, schema: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """An extension comes after its database and its schema."""
    yield "pkg", "postgresql-contrib"
    yield from after_server(("postgres_database", maintenance_db), ("postgres_schema", schema))
