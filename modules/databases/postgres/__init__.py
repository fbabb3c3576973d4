# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: what the postgres_* states look at and change, and Salt's functions for templates."""

from __future__ import annotations

from typing import Any

from modules.databases.postgres._clusters import (
    cluster_create,
    cluster_exists,
    cluster_list,
    cluster_remove,
    datadir_exists,
    datadir_init,
    initdb,
    server_exists,
)
from modules.databases.postgres._functions import (
    ASKED,
    available_extensions,
    db_create,
    db_remove,
    group_create,
    installed_extensions,
    is_available_extension,
    is_installed_extension,
    language_exists,
    language_list,
    role_get,
    schema_exists,
    schema_get,
    schema_list,
    tablespace_exists,
    tablespace_list,
    user_create,
    user_remove,
    user_update,
)
from modules.databases.postgres._rights import KINDS, grantee, held, member, target, wanted
from modules.databases.postgres._roles import FLAGS, Role, matches, moment, roles, split
from modules.databases.postgres._server import (
    Asked,
    Connection,
    Login,
    PostgresServer,
    literal,
    option,
)
from modules.databases.postgres._server import name as quoted

NEEDS_PROGRAM = "psql"  # without it templates find no function of this module


def psql_query(query: str, server: Asked = ASKED) -> list[dict[str, Any]]:
    """The rows that a query answers with.

    {{ salt['postgres.psql_query']('SELECT datname FROM pg_database') }}
    """
    return server.select(query.strip().rstrip(";"))


def version(server: Asked = ASKED) -> str | None:
    """The server's version; None when it does not answer."""
    rows = server.select("SELECT current_setting('server_version') AS v")
    return str(rows[0]["v"].split()[0]) if rows else None


def db_list(server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The databases: owner, encoding, collation, tablespace."""
    return databases(server)


def db_exists(name: str, server: Asked = ASKED) -> bool:
    """Return whether there is a database.

    {{ salt['postgres.db_exists']('app') }}
    """
    return name in db_list(server)


def user_list(
    return_password: bool = False, server: Asked = ASKED
) -> dict[str, dict[str, Any]] | bool:
    """The roles with what they may; False when the server does not answer.

    return_password: with what the server keeps of passwords.
    """
    return roles(server, passwords=return_password) or False


def user_exists(name: str, server: Asked = ASKED) -> bool:
    """Return whether there is a role.

    {{ salt['postgres.user_exists']('app') }}
    """
    return name in roles(server, name, passwords=False)


group_exists = user_exists
group_remove = user_remove
group_update = user_update


def databases(server: PostgresServer) -> dict[str, dict[str, Any]]:
    """The databases by name."""
    rows = server.select(
        'SELECT datname AS "Name", pg_get_userbyid(datdba) AS "Owner",'
        ' pg_encoding_to_char(encoding) AS "Encoding", datcollate AS "Collate", datctype AS'
        ' "Ctype", spcname AS "Tablespace" FROM pg_database JOIN pg_tablespace ON pg_tablespace.oid'
        " = dattablespace"
    )
    return {row["Name"]: row for row in rows}
