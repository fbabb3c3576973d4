# SPDX-License-Identifier: Apache-2.0
"""The base of the states of MariaDB and MySQL: order, reasons."""

from __future__ import annotations

from modules.databases import mysql

# what all of these come after
SERVER = (
    *(("service", name) for name in mysql.SERVICES),
    ("pkg", "mariadb-server"),
    ("pkg", "mysql-server"),
)
# what says which server is meant
TOLD_APART_BY = (
    "connection_host connection_port connection_unix_socket connection_default_file"
    " connection_default_group"
)
REASON = " ({reason})"
