# SPDX-License-Identifier: Apache-2.0
"""Accounts of MariaDB and MySQL as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.databases import mysql
from modules.databases.mysql import Login
from runner.api import Resource
from states.databases._resources._mysql import SERVER, accounts

ROLE = "databases"
AFTER = ("mysql_database",)


def resources(name: str | None) -> Iterator[Resource]:
    """Accounts that log in without a password; those with one only as a remark."""
    for user, host, shipped in accounts():
        account, mariadb = mysql.find_account(SERVER, user, host)
        if name not in (None, user) or account is None:
            continue
        arguments: dict[str, Any] = {"host": host} if host != "localhost" else {}
        arguments["allow_passwordless"] = True
        if Login(unix_socket=True).agrees(account.methods, mariadb):
            arguments["unix_socket"] = True
        elif not Login().agrees(account.methods, mariadb):
            note = f"{user}@{host} has a password: `mysql_user.present`, with `password` from the"
            yield Resource("", user, note=f"{note} pillar, manages it", shipped=shipped)
            continue
        yield Resource("mysql_user.present", user, arguments, shipped=shipped)
