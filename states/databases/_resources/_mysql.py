# SPDX-License-Identifier: Apache-2.0
"""What the modules of MariaDB's and MySQL's resources share."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import MysqlServer

SERVER = MysqlServer()
INITIAL = ("root", "mysql", "mariadb.sys", "mysql.sys", "mysql.session", "mysql.infoschema")
OF_DEBIAN = "debian-sys-maint"


def accounts() -> Iterator[tuple[str, str, bool]]:
    """The accounts: user, host, and whether each installation has them."""
    for row in mysql.accounts(SERVER):
        if row["User"] and row["Host"]:  # a role of MariaDB has no host
            yield row["User"], row["Host"], row["User"] in (*INITIAL, OF_DEBIAN)
