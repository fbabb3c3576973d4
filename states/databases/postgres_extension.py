# SPDX-License-Identifier: Apache-2.0
"""Extensions in PostgreSQL's databases."""

from __future__ import annotations

from functools import partial

from modules.databases import postgres
from modules.databases.postgres import Connection, PostgresServer, literal
from runner.api import Line, NonEmptyLine, Planned, StateFailed
from runner.api.kinds import Kind, Property, comes_after
from states.databases._postgres import REMOVED, SERVER, Entity
from states.databases._wording import making

DECIDES = {"present": "schema ext_version"}
TOLD_APART_BY = "maintenance_db db_host db_port"

EXTENSION = Kind(
    "extension {name}",
    making("install", "installed", "Installed"),
    making("upgrade", "upgraded", "Upgraded"),
    REMOVED,
)
FOUND = """
SELECT extversion AS version, nspname AS schema FROM pg_extension
JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = {}
"""
AVAILABLE = "SELECT 1 FROM pg_available_extensions WHERE name = {}"
NEW = {"plpgsql": {"version": "1.0", "schema": "pg_catalog"}}


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
    """
    it = Entity(server, "EXTENSION", name)
    create = partial(
        it._replace(kind="EXTENSION IF NOT EXISTS").create,
        schema and f"SCHEMA {postgres.quoted(schema)}",
        ext_version and f"VERSION {literal(ext_version)}",
        from_version and f"FROM {literal(from_version)}",
    )
    properties = [
        Property("version", ext_version, set=lambda new: f"UPDATE TO {literal(new)}"),
        Property("schema", schema, set=lambda new: f"SET SCHEMA {postgres.quoted(new)}"),
    ]
    there = it.row(FOUND, NEW)
    if there is None:
        _require_files(server, name)
    return EXTENSION.present(there, create, properties, it.alter, name=name)


def _require_files(server: PostgresServer, name: str) -> None:
    """Raise StateFailed for an extension that the server has no files of. What a pending state
    brings it does not see.
    """
    if not server.select(AVAILABLE.format(literal(name)), [{"new": True}]):
        raise StateFailed(
            f"Failed to install extension {name}: the server has no files of it; a package brings"
            " them, which is to be installed first",
            missing=("planned", name),
        )


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
    """
    it = Entity(server, "EXTENSION", name)
    drop = partial(it.drop, cascade and "CASCADE")
    return EXTENSION.absent(it.row(FOUND, NEW), drop, name=name)


autorequire = comes_after(
    "An extension comes after its database and its schema.",
    ("pkg", "postgresql-contrib"),
    *SERVER,
    maintenance_db="postgres_database",
    schema="postgres_schema",
)
