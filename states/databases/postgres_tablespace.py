# SPDX-License-Identifier: Apache-2.0
"""Tablespaces of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import Connection, PostgresServer, literal
from runner.api import AbsolutePath, Line, Name, NonEmptyLine, Plan, Planned, StateFailed
from states.databases._postgres import after_server, carry_out, drop


def present(
    name: NonEmptyLine,
    directory: AbsolutePath,
    options: dict[Line, Any] | None = None,
    owner: Name | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a tablespace.

    name: The name of the tablespace.
    directory: The folder, which has to be there, empty, and the server's own.
    options: Settings of the tablespace, such as random_page_cost.
    owner: The role that it belongs to.

        fast:
          postgres_tablespace.present:
            - directory: /srv/fast
            - options:
                random_page_cost: 1.1

    Behaviour: Salt 3008's postgres_tablespace.present.
    """
    tablespace = _tablespace(server, name)
    wanted = {key: str(value) for key, value in (options or {}).items()}
    if tablespace is None:
        plan = Plan(
            {name: "Present"},
            f"Tablespace {name} is set to be created",
            provides=[("postgres_tablespace", name)],
        )
        create = f"CREATE TABLESPACE {postgres.name(name)}" + (
            f" OWNER {postgres.name(owner)}" if owner else ""
        )
        create += f" LOCATION {literal(directory)}" + (
            f" WITH ({_listed(wanted)})" if wanted else ""
        )
        done, failed = (
            f"The tablespace {name} has been created",
            f"Failed to create tablespace {name}",
        )
        return (yield from carry_out(server, plan, done, failed, create))
    if tablespace["place"] != directory.rstrip("/"):
        raise StateFailed(
            f"Tablespace {name} is not at the right location. This is unfixable without dropping"
            f" and recreating the tablespace. It is at {tablespace['place']}."
        )
    changes: dict[str, Any] = {"owner": owner} if owner and tablespace["owner"] != owner else {}
    present_options = dict(option.split("=", 1) for option in tablespace["options"] or ())
    if any(present_options.get(key) != value for key, value in wanted.items()):
        changes["options"] = options
    if not changes:
        return f"Tablespace {name} is already present"
    pending = "options to be altered" if "options" in changes else "owner to be altered"
    statements = [f"OWNER TO {postgres.name(owner)}"] if owner and "owner" in changes else []
    statements += [f"SET ({_listed(wanted)})"] if "options" in changes else []
    done = f"Tablespace {name} {'opts' if 'options' in changes else 'owner'} changed"
    return (
        yield from carry_out(
            server,
            Plan({name: changes}, f"Tablespace {name} {pending}"),
            done,
            f"Failed to change tablespace {name}",
            *(f"ALTER TABLESPACE {postgres.name(name)} {action}" for action in statements),
        )
    )


def absent(
    name: NonEmptyLine,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is no such tablespace.

    name: The name of the tablespace.

        fast:
          postgres_tablespace.absent: []

    Behaviour: Salt 3008's postgres_tablespace.absent.
    """
    if _tablespace(server, name) is None:
        return f"Tablespace {name} is not present, so it cannot be removed"
    return (yield from drop(server, "Tablespace", name))


def _listed(options: dict[str, str]) -> str:
    return ", ".join(f"{postgres.name(key)} = {literal(value)}" for key, value in options.items())


def _tablespace(server: PostgresServer, name: str) -> dict[str, Any] | None:
    rows = server.select(
        "SELECT pg_get_userbyid(spcowner) AS owner, pg_tablespace_location(oid) AS place,"
        f" spcoptions AS options FROM pg_tablespace WHERE spcname = {literal(name)}"
    )
    return rows[0] if rows else None


def autorequire(
    name: str, directory: str | None = None, owner: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A tablespace comes after its folder and its owner."""
    yield from after_server(("file", directory), ("postgres_user", owner))
