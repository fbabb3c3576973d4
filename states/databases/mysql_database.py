# SPDX-License-Identifier: Apache-2.0
"""Databases of MariaDB and MySQL."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import Connection, DatabaseName, MysqlServer
from runner.api import CommandFailed, Line, Planned, StateFailed
from runner.api.kinds import Kind, Property, comes_after
from states.databases import _mysql
from states.databases._mysql import REASON, SERVER
from states.databases._wording import CREATED, REMOVED, UPDATED

DECIDES = {"present": "character_set collate"}
TOLD_APART_BY = _mysql.TOLD_APART_BY

DATABASE = Kind(
    "database {name}",
    CREATED._replace(
        pending="{Title} is not present and needs to be created",
        provides={"mysql_database": "{name}"},
    ),
    UPDATED._replace(
        pending="Database {differences} needs to be updated",
        done="{Title} has been updated: {differences}",
    ),
    REMOVED._replace(
        pending="{Title} is present and needs to be removed", failed="Unable to remove {title}"
    ),
    REASON,
)


def present(
    name: DatabaseName,
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
    """
    now = mysql.databases(server, name).get(name)
    it = f"DATABASE {mysql.name(name)}"
    words = f" CHARACTER SET {mysql.literal(character_set)}" if character_set else ""
    words += (collation := f" COLLATE {mysql.literal(collate)}" if collate else "")
    if character_set and (now is None or _plain(now["character_set"]) != _plain(character_set)):
        look = f"SELECT CONVERT('' USING {mysql.literal(character_set)}){collation}"
        with _explained(f"Failed to {'create' if now is None else 'update'} database {name}"):
            server.look(look)
    settings = [("character_set", character_set), ("collate", collate)]
    return DATABASE.present(
        now,
        lambda: server.execute(f"CREATE {it}{words}"),
        [_setting(key, value, (now or {}).get(key, "")) for key, value in settings if value],
        lambda _: server.execute(f"ALTER {it}{words}"),
        name=name,
    )


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Say what a look would have been for, as the failure of the change would."""
    try:
        yield
    except CommandFailed as failure:
        raise StateFailed(f"{what} ({failure.message})", missing=failure.missing) from None


def _setting(key: str, wanted: str, now: str) -> Property:
    return Property(
        key.replace("_", " ").upper(),
        wanted,
        lambda: wanted if _plain(now) == _plain(wanted) else now,
        change_to_s=lambda old, new: f"{key.replace('_', ' ')} {old} != {new}",
    )


def _plain(name: str) -> str:
    """A character set or collation under the name that a server of today has for it."""
    low = name.lower()
    return low.replace("utf8_", "utf8mb3_", 1) if low != "utf8" else "utf8mb3"


def absent(name: DatabaseName, server: Connection = MysqlServer()) -> Planned:
    """Make sure that there is no such database: what is in it is lost.

    name: The name of the database.

        old:
          mysql_database.absent: []
    """
    drop = f"DROP DATABASE {mysql.name(name)}"
    there = name in mysql.databases(server, name)
    return DATABASE.absent(there, lambda: server.execute(drop), name=name)


autorequire = comes_after("A database comes after the server.", *SERVER)
