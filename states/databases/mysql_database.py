# SPDX-License-Identifier: Apache-2.0
"""Databases of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import Connection, MysqlServer
from runner.api import Line, NonEmptyLine, Plan, Planned
from states.databases._mysql import after_server, carry_out


def present(
    name: NonEmptyLine,
    character_set: Line | None = None,
    collate: Line | None = None,
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that there is a database.

    name: The name of the database.
    character_set: The character set of tables that are made in it without one of their own; changed
      where it differs.
    collate: The collation of tables that are made in it without one of their own; changed where it
      differs.

        app:
          mysql_database.present:
            - character_set: utf8mb4

    Behaviour: Salt 3007's mysql_database.present.
    """
    database = mysql.databases(server, name).get(name)
    settings = {"CHARACTER SET": character_set, "COLLATE": collate}
    if database is None:
        plan = Plan(
            {name: "Present"},
            f"Database {name} is not present and needs to be created",
            provides=[("mysql_database", name)],
        )
        words = _words({word: value for word, value in settings.items() if value})
        return (
            yield from carry_out(
                server,
                plan,
                f"The database {name} has been created",
                f"Failed to create database {name}",
                f"CREATE DATABASE {mysql.name(name)}{words}",
            )
        )
    own = {"CHARACTER SET": database["character_set"], "COLLATE": database["collate"]}
    differing = {
        word: value
        for word, value in settings.items()
        if value and _plain(value) != _plain(own[word])
    }
    if not differing:
        return f"Database {name} is already present"
    shown = "; ".join(f"{word.lower()} {own[word]} != {value}" for word, value in differing.items())
    plan = Plan({name: differing}, f"Database {shown} needs to be updated")
    words = _words({word: value for word, value in settings.items() if value})
    return (
        yield from carry_out(
            server,
            plan,
            f"Database {name} has been updated: {shown}",
            f"Failed to update database {name}",
            f"ALTER DATABASE {mysql.name(name)}{words}",
        )
    )


def _words(settings: dict[str, str]) -> str:
    return "".join(f" {word} {mysql.literal(value)}" for word, value in settings.items())


def _plain(name: str) -> str:
    """A character set or collation under the name that a server of today has for it."""
    low = name.lower()
    return low.replace("utf8_", "utf8mb3_", 1) if low != "utf8" else "utf8mb3"


def absent(
    name: NonEmptyLine,
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that there is no such database: what is in it is lost.

    name: The name of the database.

        old:
          mysql_database.absent: []

    Behaviour: Salt 3007's mysql_database.absent.
    """
    if name not in mysql.databases(server, name):
        return f"Database {name} is not present, so it cannot be removed"
    plan = Plan({name: "Absent"}, f"Database {name} is present and needs to be removed")
    return (
        yield from carry_out(
            server,
            plan,
            f"Database {name} has been removed",
            f"Unable to remove database {name}",
            f"DROP DATABASE {mysql.name(name)}",
        )
    )


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """A database comes after the server."""
    yield from after_server()
