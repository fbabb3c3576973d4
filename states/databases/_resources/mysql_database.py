# SPDX-License-Identifier: Apache-2.0
"""Databases of MariaDB and MySQL as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import MysqlServer
from runner.api import Resource

ROLE = "databases"
INITIAL = ("information_schema", "mysql", "performance_schema", "sys")


def resources(name: str | None) -> Iterator[Resource]:
    """Databases with their character sets and collations."""
    for database, about in sorted(mysql.databases(MysqlServer()).items()):
        if name in (None, database):
            arguments = {key: about[key] for key in ("character_set", "collate")}
            shipped = database in INITIAL
            yield Resource("mysql_database.present", database, arguments, shipped=shipped)
