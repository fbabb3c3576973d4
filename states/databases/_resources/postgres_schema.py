# SPDX-License-Identifier: Apache-2.0
"""Schemas of PostgreSQL's databases as they are."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.databases._resources._postgres import databases

ROLE = "databases"
AFTER = ("postgres_database",)
SCHEMAS = """
SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner FROM pg_namespace n
WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e') ORDER BY 1
"""


def resources(name: str | None) -> Iterator[Resource]:
    """The schemas of each database with their owners."""
    for database, server in databases():
        for row in server.select(SCHEMAS):
            if name in (None, row["name"]):
                shipped = row["name"] == "public" and row["owner"] in (
                    "postgres",
                    "pg_database_owner",
                )
                arguments = {"dbname": database, "owner": row["owner"]}
                yield Resource("postgres_schema.present", row["name"], arguments, shipped=shipped)
