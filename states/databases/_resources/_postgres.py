# SPDX-License-Identifier: Apache-2.0
"""What the modules of PostgreSQL's resources share."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from modules.databases.postgres import PostgresServer

SERVER = PostgresServer()
INITIAL = ("postgres", "template0", "template1")


def databases() -> Iterator[tuple[str, PostgresServer]]:
    """The databases that can be looked into, with the connection to each."""
    rows = SERVER.select("SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1")
    for row in rows:
        if row["datname"] not in INITIAL[1:]:
            yield row["datname"], SERVER.within(row["datname"])


def accounts(login: bool) -> Iterator[tuple[str, dict[str, object], bool]]:
    """The roles that may log in, or not, with their arguments, and whether they have a password."""
    for name, role in postgres.roles(SERVER).items():
        if role["login"] is not login or name == "postgres" or name.startswith("pg_"):
            continue
        flags = ("superuser", "createdb", "createroles", "replication")
        arguments: dict[str, object] = {flag: True for flag in flags if role[flag]}
        arguments |= {} if role["inherit"] else {"inherit": False}
        arguments |= {"groups": role["groups"]} if role["groups"] else {}
        if login and role["valid_until"]:
            arguments["valid_until"] = role["valid_until"]
        yield name, arguments, bool(role["password"])
