# SPDX-License-Identifier: Apache-2.0
"""Rights of PostgreSQL's roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from modules.databases import postgres
from modules.databases.postgres import Connection, PostgresServer
from runner.api import Check, Line, NonEmptyLine, OneOrMany, Planned, StateFailed
from runner.api.claims import PART, Claim
from runner.api.kinds import Kind, Wording
from states.databases._postgres import FREED, SERVER, require_role

ObjectType = Literal[
    "table", "sequence", "schema", "tablespace", "language", "database", "group", "function"
]
Right = Annotated[
    Line,
    Check(postgres.rights_problem, "write rights as GRANT names them, with commas between several"),
]
PRIVILEGES = Kind(
    "the privilege(s): {shown}",
    Wording(
        "The requested privilege(s) are already set",
        "{Title} are set to be granted to {name}",
        "{Title} have been granted to {name}",
        "Failed to grant privilege(s): {shown} to {name}",
        {"{name}": "Present"},
    ),
    removed=Wording(
        "The requested privilege(s) are not set so cannot be revoked",
        "{Title} are set to be revoked from {name}",
        "{Title} have been revoked from {name}",
        "Failed to revoke privilege(s): {shown} from {name}",
        {"{name}": "Absent"},
        FREED,
    ),
)


def present(
    name: NonEmptyLine,
    object_name: Line,
    object_type: ObjectType,
    privileges: OneOrMany[Right] | None = None,
    grant_option: bool | None = None,
    prepend: Line = "public",
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that a role has rights on an object.

    name: The role, or public.
    object_name: The object; ALL for all tables, sequences or functions of a schema; a function with
      its arguments, at least their types.
    object_type: The kind of object; `group` makes the role a member.
    privileges: SELECT, CREATE, ALL, ... (not for group).
    grant_option: The role may pass them on.
    prepend: The schema of tables, sequences and functions.

        app may read:
          postgres_privileges.present:
            - name: app
            - object_name: ALL
            - object_type: table
            - privileges: [SELECT]
            - maintenance_db: app
    """
    rights = _rights(object_type, privileges)
    missing = _is_missing(
        server, name, object_type, object_name, prepend, rights, bool(grant_option)
    )
    shown = _shown(object_type, object_name, privileges)
    passing = f" WITH {'ADMIN' if object_type == 'group' else 'GRANT'} OPTION" * bool(grant_option)
    what = _statement_object(object_type, object_name, prepend, rights)
    statement = f"GRANT {what} TO {postgres.grantee(name)}{passing}"
    return PRIVILEGES.present(
        not missing, lambda: server.execute(statement), name=name, shown=shown
    )


def absent(
    name: NonEmptyLine,
    object_name: Line,
    object_type: ObjectType,
    privileges: OneOrMany[Right] | None = None,
    prepend: Line = "public",
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that a role does not have rights on an object.

    name, object_name, object_type, privileges, prepend: As of postgres_privileges.present.

        app may not create:
          postgres_privileges.absent:
            - name: app
            - object_name: app
            - object_type: database
            - privileges: [CREATE]
    """
    rights = _rights(object_type, privileges)
    there = _has_any(server, name, object_type, object_name, prepend, rights)
    shown = _shown(object_type, object_name, privileges)
    what = _statement_object(object_type, object_name, prepend, rights)
    statement = f"REVOKE {what} FROM {postgres.grantee(name)}"
    return PRIVILEGES.absent(there, lambda: server.execute(statement), name=name, shown=shown)


def _rights(kind: str, privileges: list[str] | None) -> list[str]:
    if kind != "group" and not privileges:
        raise StateFailed(f"privileges is missing or empty: say which rights on a {kind} are meant")
    return postgres.wanted(kind, privileges) if kind != "group" else []


def _shown(kind: str, thing: str, privileges: list[str] | None) -> str:
    return thing if kind == "group" else ",".join(privileges or ())


def _statement_object(kind: str, thing: str, schema: str, rights: list[str]) -> str:
    if kind == "group":
        return postgres.quoted(thing)
    return f"{', '.join(rights)} ON {postgres.target(kind, thing, schema)}"


def _is_missing(
    server: PostgresServer,
    role: str,
    kind: str,
    thing: str,
    schema: str,
    rights: list[str],
    passing: bool,
) -> bool:
    """Return whether a right, or the right to pass it on, is missing."""
    require_role(server, role)
    if kind == "group":
        require_role(server, thing)
        member = postgres.member(server, role, thing)
        return member is None or (passing and not member)
    objects = postgres.held(server, role, kind, thing, schema)
    return any(
        right not in held or (passing and not held[right]) for held in objects for right in rights
    )


def _has_any(
    server: PostgresServer, role: str, kind: str, thing: str, schema: str, rights: list[str]
) -> bool:
    require_role(server, role)
    if kind == "group":
        return postgres.member(server, role, thing) is not None
    return any(
        right in held
        for held in postgres.held(server, role, kind, thing, schema)
        for right in rights
    )


def owns(
    fun: str,
    name: str,
    object_name: str = "",
    object_type: str = "",
    privileges: list[str] | str | None = None,
    prepend: str = "public",
    maintenance_db: str = "",
    **more: object,
) -> Iterator[Claim]:
    """Rights on one object, which another state may take away."""
    where = [prepend, maintenance_db, *(str(more.get(key, "")) for key in ("db_host", "db_port"))]
    thing = " ".join(filter(None, [f"{name}: {object_type} {object_name}", *where]))
    own = ",".join([privileges] if isinstance(privileges, str) else privileges or ())

    def suits(text: str) -> bool:
        if object_type == "group":
            return False
        first, second = (set(postgres.wanted(object_type, [each])) for each in (text, own))
        return not first & second

    absent = fun == "absent"
    yield Claim(PART, thing, text=None if absent else own, removes=absent, suits=suits)


def autorequire(
    name: str, object_name: str = "", object_type: str = "", maintenance_db: str = "", **_: object
) -> Iterator[tuple[str, str]]:
    """Rights come after the role, the database and the object."""
    yield from SERVER
    yield "postgres_user", name
    yield "postgres_database", maintenance_db
    yield f"postgres_{object_type}", object_name
