# SPDX-License-Identifier: Apache-2.0
"""Rights on PostgreSQL's databases, schemas and tables as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.api import Resource
from states.databases._resources._postgres import databases

ROLE = "databases"
AFTER = ("postgres_extension",)
# what somebody granted: not the owner's own rights, nor those that everybody has from the start
RIGHTS = """
SELECT kind, thing, schema, r.rolname AS role, a.is_grantable AS passed_on,
    array_agg(a.privilege_type ORDER BY 1) AS rights
FROM (SELECT 'database' AS kind, datname::text AS thing, '' AS schema, datacl AS acl,
        datdba AS owner FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT 'schema', nspname, '', nspacl, nspowner FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    UNION ALL SELECT CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, relname, nspname,
        relacl, relowner FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND nspname !~ '^pg_'
            AND nspname <> 'information_schema') things,
    aclexplode(acl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE a.grantee <> owner GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 3, 2, 4, 5
"""


def resources(name: str | None) -> Iterator[Resource]:
    """The rights of roles on databases, schemas, tables and sequences that they do not own."""
    for database, server in databases():
        for row in server.select(RIGHTS):
            if name in (None, row["role"]):
                yield _granted(database, row)


def _granted(database: str, row: dict[str, Any]) -> Resource:
    arguments: dict[str, Any] = {
        "object_name": row["thing"],
        "object_type": row["kind"],
        "privileges": row["rights"],
        "maintenance_db": database,
    }
    arguments |= {"prepend": row["schema"]} if row["schema"] not in ("", "public") else {}
    arguments |= {"grant_option": True} if row["passed_on"] else {}
    return Resource("postgres_privileges.present", row["role"], arguments)
