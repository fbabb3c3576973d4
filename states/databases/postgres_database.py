# SPDX-License-Identifier: Apache-2.0
"""Databases of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from modules.databases.postgres import Connection, PostgresServer, literal
from runner.api import Line, Name, NonEmptyLine, Plan, Planned, StateFailed
from states.databases._postgres import after_server, carry_out, drop

# everything in a database that has an owner of its own, except what belongs to something else
OWNED = """
SELECT format('%s %I.%I', CASE relkind
        WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
        WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END,
    nspname, relname) AS thing, pg_get_userbyid(relowner) AS owner
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'p', 'S', 'v', 'm', 'f') AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
        AND d.deptype IN ('a', 'i', 'e')) AND {own}
UNION ALL
SELECT format('%s %s',
    CASE prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END,
    p.oid::regprocedure), pg_get_userbyid(proowner)
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AND {own}
UNION ALL
SELECT format('SCHEMA %I', nspname), pg_get_userbyid(nspowner) FROM pg_namespace n WHERE {own}
""".replace("{own}", "nspname !~ '^pg_' AND nspname <> 'information_schema'")


def present(
    name: NonEmptyLine,
    tablespace: Line | None = None,
    encoding: Line | None = None,
    lc_collate: Line | None = None,
    lc_ctype: Line | None = None,
    owner: Name | None = None,
    owner_recurse: bool = False,
    template: Line | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a database.

    name: The name of the database.
    tablespace: The tablespace that it lies in; changed where it differs.
    encoding: The encoding of a new database; one that has another fails.
    lc_collate: The order of texts in a new database; one that has another fails.
    lc_ctype: The kinds of characters in a new database; one that has others fails.
    owner: The role that it belongs to; changed where it differs.
    owner_recurse: Give all that is in it to the owner, too.
    template: The database that a new one is a copy of.

        app:
          postgres_database.present:
            - owner: app
            - encoding: UTF8
            - template: template0

    Behaviour: Salt 3008's postgres_database.present.
    """
    database = postgres.databases(server).get(name)
    role, place = owner and postgres.name(owner), tablespace and postgres.name(tablespace)
    if database is None:
        plan = Plan(
            {name: "Present"},
            f"Database {name} is set to be created",
            provides=[("postgres_database", name)],
        )
        options = [
            *([f"OWNER = {role}"] if role else []),
            *([f"TEMPLATE = {postgres.name(template)}"] if template else []),
            *([f"ENCODING = {literal(encoding)}"] if encoding else []),
            *([f"LC_COLLATE = {literal(lc_collate)}"] if lc_collate else []),
            *([f"LC_CTYPE = {literal(lc_ctype)}"] if lc_ctype else []),
            *([f"TABLESPACE = {place}"] if place else []),
        ]
        create = " ".join(
            [f"CREATE DATABASE {postgres.name(name)}", *(["WITH", *options] if options else [])]
        )
        done, failed = f"The database {name} has been created", f"Failed to create database {name}"
        return (yield from carry_out(server, plan, done, failed, create))
    fixed = {"Encoding": encoding, "Collate": lc_collate, "Ctype": lc_ctype}
    differing = {
        key: value for key, value in fixed.items() if value and not _same(database[key], value)
    }
    unfixable = [f"{key} {database[key]}, not {value}" for key, value in differing.items()]
    if unfixable:
        raise StateFailed(
            f"Database {name} has wrong parameters which couldn't be changed on fly. It has"
            f" {'; '.join(unfixable)}."
        )
    changed = [f"OWNER TO {role}"] if owner and database["Owner"] != owner else []
    changed += (
        [f"SET TABLESPACE {place}"] if tablespace and database["Tablespace"] != tablespace else []
    )
    inside = _foreign(server.within(name), owner) if owner and owner_recurse else []
    if not changed and not inside:
        return f"Database {name} is already present"
    outside = [f"ALTER DATABASE {postgres.name(name)} {action}" for action in changed]
    return (yield from _altered(server, name, outside, inside))


def _altered(server: PostgresServer, name: str, outside: list[str], inside: list[str]) -> Planned:
    yield Plan(
        {name: "Parameters changed"}, f"Database {name} exists, but parameters need to be changed"
    )
    try:
        server.execute(*outside)
        server.within(name).execute(*inside)
    except StateFailed as failure:
        raise StateFailed(
            f"Failed to change parameters for database {name}: {failure.message}"
        ) from None
    return f"Parameters for database {name} have been changed"


def _foreign(server: PostgresServer, owner: str) -> list[str]:
    """The statements that give all in a database to its owner."""
    rows = server.select(OWNED)
    return [
        f"ALTER {row['thing']} OWNER TO {postgres.name(owner)}"
        for row in rows
        if row["owner"] != owner
    ]


def _same(left: str, right: str) -> bool:
    """Return whether two names of an encoding or a locale are the same one: UTF8 and utf-8, C.UTF-8
    and C.utf8.
    """
    return left.lower().replace("-", "") == right.lower().replace("-", "")


def absent(
    name: NonEmptyLine,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is no such database.

    name: The name of the database.

        old:
          postgres_database.absent: []

    Behaviour: Salt 3008's postgres_database.absent.
    """
    if name not in postgres.databases(server):
        return f"Database {name} is not present, so it cannot be removed"
    return (yield from drop(server, "Database", name))


def autorequire(
    name: str,
    owner: str | None = None,
    tablespace: str | None = None,
    template: str | None = None,
    **_: object,
) -> Iterator[tuple[str, str]]:
    """A database comes after the server, its owner and its tablespace."""
    yield from after_server(
        ("postgres_user", owner),
        ("postgres_tablespace", tablespace),
        ("postgres_database", template),
    )
