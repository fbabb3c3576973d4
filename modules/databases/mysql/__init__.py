# SPDX-License-Identifier: Apache-2.0
"""MariaDB and MySQL: what the mysql_* states look at and change, and Salt's functions for
templates.
"""

from __future__ import annotations

from typing import Any

from modules.databases.mysql._functions import (
    alter_db,
    db_create,
    db_exists,
    db_get,
    db_list,
    db_remove,
    db_tables,
    executed,
    file_query,
    grant_add,
    grant_exists,
    grant_revoke,
    query,
    script_text,
    status,
    tls_wanted,
    user_chpass,
    user_create,
    user_exists,
    user_grants,
    user_info,
    user_list,
    user_remove,
    version,
)
from modules.databases.mysql._grants import NOTHING, Level, Rights, granting, held, level, revoking
from modules.databases.mysql._grants import lines as grant_lines
from modules.databases.mysql._grants import rights as read_rights
from modules.databases.mysql._server import (
    SERVICES,
    Connection,
    MysqlServer,
    account,
    literal,
    name,
    run_script,
)
from modules.databases.mysql._users import (
    ChosenLogin,
    Login,
    accounts,
    alteration,
    creation,
    hash_problem,
    native_hash,
    requirement,
)
from modules.databases.mysql._users import find as find_account


def quote_identifier(identifier: str, for_grants: bool = False) -> str:
    """A name, quoted for a statement. for_grants: % and _ are no wildcards.

    {{ salt['mysql.quote_identifier']('my`db') }}
    """
    quoted = name(identifier)
    return quoted.replace("_", "\\_").replace("%", "\\%") if for_grants else quoted


def databases(server: MysqlServer, wanted: str | None = None) -> dict[str, dict[str, Any]]:
    """The databases by name, with character set and collation. wanted: this one only."""
    where = f" WHERE SCHEMA_NAME = {literal(wanted)}" if wanted is not None else ""
    rows = server.select(
        "SELECT SCHEMA_NAME AS name, DEFAULT_CHARACTER_SET_NAME AS character_set,"
        f" DEFAULT_COLLATION_NAME AS `collate` FROM information_schema.SCHEMATA{where}"
    )
    return {str(row["name"]): row for row in rows if wanted is None or row["name"] == wanted}
