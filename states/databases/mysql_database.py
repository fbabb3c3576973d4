# SPDX-License-Identifier: Apache-2.0
"""Databases of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import MysqlServer
from runner.api import AbsolutePath, Line, Name, NonEmptyLine, Plan, Planned, Secret
from states.databases._mysql import after_server, carry_out


def present(
    name: NonEmptyLine,
    character_set: Line | None = None,
    collate: Line | None = None,
    connection_host: Line | None = None,
    connection_port: int | Line | None = None,
    connection_user: Line | None = None,
    connection_pass: Secret[Line] | None = None,
    connection_db: Line | None = None,
    connection_unix_socket: Line | None = None,
    connection_default_file: AbsolutePath | None = None,
    connection_default_group: Line | None = None,
    connection_charset: Name | None = None,
) -> Planned:
    """Make sure that there is a database.

    name: The name of the database.
    character_set: The character set of tables that are made in it without one of their own; changed
      where it differs.
    collate: The collation of tables that are made in it without one of their own; changed where it
      differs.
    connection_host: The server; without it mysql.host of the configuration.
    connection_port: The port of the server; without it mysql.port of the configuration.
    connection_user: The account to log in with; without it mysql.user of the configuration.
    connection_pass: The password of connection_user; without it mysql.pass of the configuration.
    connection_db: The database to connect to; without it mysql.db of the configuration.
    connection_unix_socket: The socket of the server; without it mysql.unix_socket of the
      configuration.
    connection_default_file: The option file that the client reads; without it mysql.default_file of
      the configuration.
    connection_default_group: The group of the option file; without it mysql.default_group of the
      configuration.
    connection_charset: The character set of the connection; without it mysql.charset of the
      configuration.

        app:
          mysql_database.present:
            - character_set: utf8mb4

    Behaviour: Salt 3007's mysql_database.present.
    """
    server = MysqlServer(
        connection_host,
        connection_port,
        connection_user,
        connection_pass,
        connection_db,
        connection_unix_socket,
        connection_default_file,
        connection_default_group,
        connection_charset,
    )
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
    connection_host: Line | None = None,
    connection_port: int | Line | None = None,
    connection_user: Line | None = None,
    connection_pass: Secret[Line] | None = None,
    connection_db: Line | None = None,
    connection_unix_socket: Line | None = None,
    connection_default_file: AbsolutePath | None = None,
    connection_default_group: Line | None = None,
    connection_charset: Name | None = None,
) -> Planned:
    """Make sure that there is no such database: what is in it is lost.

    name: The name of the database.
    connection_host, connection_port, connection_user, connection_pass, connection_db,
      connection_unix_socket, connection_default_file, connection_default_group, connection_charset:
      As of mysql_database.present.

        old:
          mysql_database.absent: []

    Behaviour: Salt 3007's mysql_database.absent.
    """
    server = MysqlServer(
        connection_host,
        connection_port,
        connection_user,
        connection_pass,
        connection_db,
        connection_unix_socket,
        connection_default_file,
        connection_default_group,
        connection_charset,
    )
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
