# SPDX-License-Identifier: Apache-2.0
"""Procedural languages in PostgreSQL's databases."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from modules.databases.postgres import Login, PostgresServer, literal
from runner.api import Line, NonEmptyLine, Plan, Planned
from states.databases._postgres import after_server, carry_out


def present(
    name: NonEmptyLine,
    maintenance_db: Line,
    server: Login = PostgresServer(),
) -> Planned:
    """Make sure that a language is installed in a database.

    name: The language.
    maintenance_db: The database that it is installed in.

        plperl:
          postgres_language.present:
            - maintenance_db: app

    Behaviour: Salt 3008's postgres_language.present.
    """
    server = server.within(maintenance_db)
    if _exists(server, name):
        return f"Language {name} is already installed"
    plan = Plan({name: "Present"}, f"Language {name} is set to be installed")
    done, failed = f"Language {name} has been installed", f"Failed to install language {name}"
    return (
        yield from carry_out(server, plan, done, failed, f"CREATE LANGUAGE {postgres.name(name)}")
    )


def absent(
    name: NonEmptyLine,
    maintenance_db: Line,
    server: Login = PostgresServer(),
) -> Planned:
    """Make sure that a language is not installed in a database.

    name: As of postgres_language.present.
    maintenance_db: The database that it is removed from.

        plperl:
          postgres_language.absent:
            - maintenance_db: app

    Behaviour: Salt 3008's postgres_language.absent.
    """
    server = server.within(maintenance_db)
    if not _exists(server, name):
        return f"Language {name} is not present so it cannot be removed"
    plan = Plan({name: "Absent"}, f"Language {name} is set to be removed")
    done, failed = f"Language {name} has been removed", f"Failed to remove language {name}"
    return (
        yield from carry_out(server, plan, done, failed, f"DROP LANGUAGE {postgres.name(name)}")
    )


def _exists(server: PostgresServer, name: str) -> bool:
    return bool(server.select(f"SELECT lanname FROM pg_language WHERE lanname = {literal(name)}"))


def autorequire(
    name: str, maintenance_db: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A language comes after its database."""
    yield from after_server(("postgres_database", maintenance_db))
