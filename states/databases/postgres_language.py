# SPDX-License-Identifier: Apache-2.0
"""Procedural languages in PostgreSQL's databases."""

from __future__ import annotations

from modules.databases.postgres import Login, PostgresServer
from runner.api import Line, NonEmptyLine, Planned
from runner.api.kinds import Kind, comes_after
from states.databases._postgres import REMOVED, SERVER, Entity
from states.databases._wording import making

LANGUAGE = Kind(
    "language {name}",
    making("install", "installed", "Present")._replace(
        already="{Title} is already installed",
        done="{Title} has been installed",
        provides={"postgres_language": "{name}"},
    ),
    removed=REMOVED._replace(
        already="{Title} is not present so it cannot be removed", failed="Failed to remove {title}"
    ),
)
FOUND = "SELECT lanname FROM pg_language WHERE lanname = {}"
NEW = {name: {"lanname": name} for name in ("internal", "c", "sql", "plpgsql")}


def present(name: NonEmptyLine, maintenance_db: Line, server: Login = PostgresServer()) -> Planned:
    """Make sure that a language is installed in a database.

    name: The language.
    maintenance_db: The database that it is installed in.

        plperl:
          postgres_language.present:
            - maintenance_db: app
    """
    it = Entity(server.within(maintenance_db), "LANGUAGE", name)
    return LANGUAGE.present(it.row(FOUND, NEW), it.create, name=name)


def absent(name: NonEmptyLine, maintenance_db: Line, server: Login = PostgresServer()) -> Planned:
    """Make sure that a language is not installed in a database.

    name: As of postgres_language.present.
    maintenance_db: The database that it is removed from.

        plperl:
          postgres_language.absent:
            - maintenance_db: app
    """
    it = Entity(server.within(maintenance_db), "LANGUAGE", name)
    return LANGUAGE.absent(it.row(FOUND, NEW), it.drop, name=name)


autorequire = comes_after(
    "A language comes after its database.", *SERVER, maintenance_db="postgres_database"
)
