# SPDX-License-Identifier: Apache-2.0
"""Databases of PostgreSQL as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from runner.api import Resource
from states.databases._resources._postgres import INITIAL, SERVER

ROLE = "databases"
AFTER = ("postgres_user", "postgres_tablespace")


def resources(name: str | None) -> Iterator[Resource]:
    """Databases with their owners, encodings and locales."""
    for database, about in sorted(postgres.databases(SERVER).items()):
        if name in (None, database):
            arguments = {
                "owner": about["Owner"],
                "encoding": about["Encoding"],
                "lc_collate": about["Collate"],
                "lc_ctype": about["Ctype"],
                "template": "template0",
            }
            if about["Tablespace"] != "pg_default":
                arguments["tablespace"] = about["Tablespace"]
            shipped = database in INITIAL
            yield Resource("postgres_database.present", database, arguments, shipped=shipped)
