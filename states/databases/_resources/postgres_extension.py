# SPDX-License-Identifier: Apache-2.0
"""Extensions of PostgreSQL's databases as they are."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.databases._resources._postgres import databases

ROLE = "databases"
AFTER = ("postgres_schema",)
EXTENSIONS = """
SELECT extname AS name, nspname AS schema FROM pg_extension
JOIN pg_namespace n ON n.oid = extnamespace ORDER BY 1
"""


def resources(name: str | None) -> Iterator[Resource]:
    """The extensions of each database, with the schema that they are in."""
    for database, server in databases():
        for row in server.select(EXTENSIONS):
            if name in (None, row["name"]):
                arguments = {"maintenance_db": database, "schema": row["schema"]}
                shipped = row["name"] == "plpgsql"
                yield Resource(
                    "postgres_extension.present", row["name"], arguments, shipped=shipped
                )
