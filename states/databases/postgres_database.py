# SPDX-License-Identifier: Apache-2.0
"""Databases of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import Connection, Identifier, PostgresServer, literal
from runner.api import CommandFailed, Line, Name, Planned, StateFailed, here, promised
from runner.api.kinds import Kind, Property, comes_after
from states.databases._postgres import (
    REMOVED,
    SERVER,
    UPDATED,
    Entity,
    dropping,
    owned_by,
    require_owner,
)
from states.databases._wording import CREATED

DECIDES = {"present": "owner tablespace"}
TOLD_APART_BY = "db_host db_port"

dry_run_check = dropping("DATABASE")
DATABASE = Kind(
    "database {name}",
    CREATED._replace(provides={"postgres_database": "{name}"}),
    UPDATED._replace(
        pending="{Title} exists, but parameters need to be changed",
        done="Parameters for {title} have been changed",
        failed="Failed to change parameters for {title}",
        changes={"{name}": "Parameters changed"},
    ),
    REMOVED,
)
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
    name: Identifier,
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
    """
    it = Entity(server, "DATABASE", name)
    create = partial(
        it.create,
        owner and f"OWNER = {postgres.quoted(owner)}",
        template and f"TEMPLATE = {postgres.quoted(template)}",
        encoding and f"ENCODING = {literal(encoding)}",
        lc_collate and f"LC_COLLATE = {literal(lc_collate)}",
        lc_ctype and f"LC_CTYPE = {literal(lc_ctype)}",
        tablespace and f"TABLESPACE = {postgres.quoted(tablespace)}",
    )
    now = postgres.databases(server).get(name)
    require_owner(server, owner, (now or {}).get("Owner"))
    fixed = {"Encoding": encoding, "Collate": lc_collate, "Ctype": lc_ctype}
    unfixable = [
        f"{key} {now[key]}, not {value}"
        for key, value in fixed.items()
        if now and value and not _same(now[key], value)
    ]
    if unfixable:
        raise StateFailed(
            f"Database {name} has wrong parameters which couldn't be changed on fly. It has"
            f" {'; '.join(unfixable)}."
        )
    if now is None:
        _refuse_new(server, template, tablespace, encoding, [lc_collate, lc_ctype])
    inside = _foreign(server.within(name), owner) if now and owner and owner_recurse else []
    properties = [
        Property("Owner", owner, set=owned_by),
        Property(
            "Tablespace", tablespace, set=lambda new: f"SET TABLESPACE {postgres.quoted(new)}"
        ),
        Property("contents", "of the owner" if inside else None, lambda: ""),
    ]

    def alter(differences: Iterable[Property]) -> None:
        it.alter(each for each in differences if each.name != "contents")
        server.within(name).execute(*inside)

    return DATABASE.present(now, create, properties, alter, name=name)


def _refuse_new(
    server: PostgresServer,
    template: str | None,
    tablespace: str | None,
    encoding: str | None,
    locales: Iterable[str | None],
) -> None:
    """Raise StateFailed for what the server would make no new database with."""
    for kind, what, there in (
        ("database", template, "FROM pg_database WHERE datname = {}"),
        ("tablespace", tablespace, "FROM pg_tablespace WHERE spcname = {}"),
    ):
        if what and not promised(f"postgres_{kind}", what):
            answer = _asked(server, f"EXISTS (SELECT {there.format(literal(what))})")
            if answer is False:
                title = "template database" if kind == "database" else kind
                missing = (f"postgres_{kind}", what)
                raise StateFailed(f'{title} "{what}" does not exist', missing=missing)
    if encoding and _asked(server, f"pg_char_to_encoding({literal(encoding)})") == -1:
        raise StateFailed(f"{encoding} is not a valid encoding name")
    made = {chunk.name for chunk in here.chunks if chunk.function == "locale.present"}
    for locale in {locale for locale in locales if locale} - made:
        try:  # of this session alone, and of nothing in it
            _asked(server, f"set_config('lc_monetary', {literal(locale)}, true)")
        except CommandFailed as failure:
            if "lc_monetary" not in failure.message:
                raise
            raise StateFailed(
                f'invalid locale name: "{locale}"; locale.present generates it, and a server that'
                " runs already takes it after a restart"
            ) from None


def _asked(server: PostgresServer, expression: str) -> Any:
    """What an expression comes to; None on a server that is yet to come."""
    rows = server.select(f"SELECT {expression} AS answer")
    return rows[0]["answer"] if rows else None


def _foreign(server: PostgresServer, owner: str) -> list[str]:
    """The statements that give all in a database to its owner."""
    rows = server.select(OWNED)
    return [
        f"ALTER {row['thing']} OWNER TO {postgres.quoted(owner)}"
        for row in rows
        if row["owner"] != owner
    ]


def _same(left: str, right: str) -> bool:
    """Return whether two names of an encoding or a locale are the same one: UTF8 and utf-8, C.UTF-8
    and C.utf8.
    """
    return left.lower().replace("-", "") == right.lower().replace("-", "")


def absent(name: Identifier, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such database.

    name: The name of the database.

        old:
          postgres_database.absent: []
    """
    drop = Entity(server, "DATABASE", name).drop
    return DATABASE.absent(name in postgres.databases(server), drop, name=name)


autorequire = comes_after(
    "A database comes after the server, its owner and its tablespace.",
    *SERVER,
    owner="postgres_user",
    tablespace="postgres_tablespace",
    template="postgres_database",
)
