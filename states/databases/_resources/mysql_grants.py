# SPDX-License-Identifier: Apache-2.0
"""Rights of the accounts of MariaDB and MySQL as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from modules.databases import mysql
from runner.api import Resource
from states.databases._resources._mysql import SERVER, accounts

ROLE = "databases"
AFTER = ("mysql_user",)
_GRANT = re.compile(r"GRANT (?P<rights>.*?) ON (?P<level>.*?) TO [`'].*", re.DOTALL)


def resources(name: str | None) -> Iterator[Resource]:
    """The rights of accounts, by user."""
    for user, host, shipped in accounts():
        if name not in (None, user):
            continue
        for line in mysql.grant_lines(SERVER, user, host):
            match = _GRANT.fullmatch(line)
            if match and match["rights"] not in ("USAGE", "PROXY"):
                level = match["level"]
                arguments: dict[str, Any] = {
                    "grant": match["rights"].lower(),
                    "database": level,
                    "user": user,
                }
                arguments |= {"host": host} if host != "localhost" else {}
                arguments |= {"grant_option": True} if "WITH GRANT OPTION" in line else {}
                arguments["escape"] = False
                state = f"{user}@{host} on {level}"
                yield Resource("mysql_grants.present", state, arguments, shipped=shipped)
