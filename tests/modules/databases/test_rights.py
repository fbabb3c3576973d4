# SPDX-License-Identifier: Apache-2.0
"""Rights of databases by each of the names that servers have for them."""

from __future__ import annotations

import pytest

from modules.databases import mysql, postgres


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("replication client", "REPLICATION CLIENT"),  # MySQL has no other name for it
        ("BINLOG MONITOR", "REPLICATION CLIENT"),
        ("REPLICA MONITOR", "SLAVE MONITOR"),
        ("select (a, b), BACKUP_ADMIN", "SELECT (`a`, `b`), BACKUP_ADMIN"),
        ("all, grant option", "ALL PRIVILEGES"),
    ],
)
def test_a_right_of_mysql_is_granted_by_a_name_that_the_server_knows(
    text: str, statement: str
) -> None:
    assert mysql.rights_problem(text) is None
    assert mysql.read_rights(text).text == statement


def test_one_that_is_there_by_its_other_name_is_held() -> None:
    everything = mysql.level("*.*")
    lines = ["GRANT BINLOG MONITOR, SLAVE MONITOR ON *.* TO `zoe`@`localhost`"]
    wanted = mysql.read_rights("REPLICATION CLIENT, REPLICA MONITOR")
    assert mysql.held(lines, everything).names == wanted.names


def test_rights_of_postgresql() -> None:
    assert postgres.rights_problem("select, MAINTAIN, all privileges, temp") is None
    assert postgres.wanted("table", ["maintain"]) == ["MAINTAIN"]
    assert postgres.wanted("database", ["ALL PRIVILEGES"]) == postgres.wanted("database", ["ALL"])
    assert "MAINTAIN" not in postgres.wanted("table", ["ALL"]), "servers before 17 have none"
