# SPDX-License-Identifier: Apache-2.0
"""Rights on objects of PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Sequence

from modules.databases._words import unknown_right
from modules.databases.postgres._server import PostgresServer, literal, name
from runner.api import StateFailed, for_states

KINDS = ("table", "sequence", "schema", "tablespace", "language", "database", "group", "function")
RIGHTS = {
    "table": ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"),
    "sequence": ("USAGE", "SELECT", "UPDATE"),
    "schema": ("CREATE", "USAGE"),
    "tablespace": ("CREATE",),
    "language": ("USAGE",),
    "database": ("CREATE", "CONNECT", "TEMPORARY"),
    "function": ("EXECUTE",),
    "group": (),
}
NEWER = {"table": ("MAINTAIN",)}  # since 17, which ALL of an older one does not mean
SHORT = {"TEMP": "TEMPORARY", "ALL PRIVILEGES": "ALL"}
# kind: (table, what identifies the object, access list, owner, letter of acldefault)
_PLACES = {
    "table": ("pg_class", "oid = to_regclass({text})", "relacl", "relowner", "r"),
    "sequence": ("pg_class", "oid = to_regclass({text})", "relacl", "relowner", "s"),
    "schema": ("pg_namespace", "nspname = {text}", "nspacl", "nspowner", "n"),
    "tablespace": ("pg_tablespace", "spcname = {text}", "spcacl", "spcowner", "t"),
    "language": ("pg_language", "lanname = {text}", "lanacl", "lanowner", "l"),
    "database": ("pg_database", "datname = {text}", "datacl", "datdba", "d"),
    "function": ("pg_proc", "oid = to_regprocedure({text})", "proacl", "proowner", "f"),
}
# what ALL means: (the column of the schema, which of them)
_EVERY = {
    "table": ("relnamespace", "relkind IN ('r', 'v', 'm', 'f', 'p')"),
    "sequence": ("relnamespace", "relkind = 'S'"),
    "function": ("pronamespace", "to_json(pg_proc)->>'prokind' IS DISTINCT FROM 'p'"),  # since 11
}
# with what types of several words begin: any other first word of several is the argument's name
_TYPE_WORDS = ("bit", "char", "character", "double", "interval", "national", "time", "timestamp")


@for_states
def problem(text: str) -> str | None:
    """What is wrong with rights that somebody wrote, whatever they are on."""
    known = {"ALL", *SHORT, *(right for kind in RIGHTS for right in _known(kind))}
    words = [word.strip().upper() for word in text.split(",")]
    return next((unknown_right(word, known) for word in words if word not in known), None)


def wanted(kind: str, rights: Sequence[str] | None) -> list[str]:
    """The rights as the server names them. Raises StateFailed for those that such an object does
    not have.
    """
    names = [right.strip().upper() for text in rights or () for right in text.split(",")]
    rights_wanted = [SHORT.get(right, right) for right in names]
    unknown = [right for right in rights_wanted if right not in (*_known(kind), "ALL")]
    if unknown:
        raise StateFailed(
            f"Invalid privilege(s): {','.join(unknown)} provided for object {kind};"
            f" there are {', '.join(_known(kind))} and ALL"
        )
    return list(RIGHTS[kind]) if "ALL" in rights_wanted else rights_wanted


def _known(kind: str) -> tuple[str, ...]:
    return (*RIGHTS[kind], *NEWER.get(kind, ()))


def target(kind: str, thing: str, schema: str) -> str:
    """The object as GRANT names it. schema: of tables, sequences and functions."""
    if _means_all(kind, thing):
        return f"ALL {kind.upper()}S IN SCHEMA {name(schema)}"
    if kind == "function":
        return f"FUNCTION {_catalogue_name(kind, thing, schema)}"
    return (
        f"{kind.upper()} {f'{name(schema)}.' if kind in ('table', 'sequence') else ''}{name(thing)}"
    )


def _means_all(kind: str, thing: str) -> bool:
    return thing.upper() == "ALL" and kind in _EVERY


def grantee(role: str) -> str:
    """A role as GRANT names it."""
    return "PUBLIC" if role.lower() == "public" else name(role)


def member(server: PostgresServer, role: str, group: str) -> bool | None:
    """Return whether a role is a member of a group; True where it may pass this on, False where
    not, None when it is none.
    """
    rows = server.select(
        "SELECT m.admin_option AS passes_on FROM pg_auth_members m JOIN pg_roles g ON g.oid ="
        f" m.roleid JOIN pg_roles u ON u.oid = m.member WHERE g.rolname = {literal(group)} AND"
        f" u.rolname = {literal(role)}"
    )
    return bool(rows[0]["passes_on"]) if rows else None


def held(
    server: PostgresServer, role: str, kind: str, thing: str, schema: str
) -> list[dict[str, bool]]:
    """For each object that is meant, the rights that a role has on it; True for one that it may
    pass on.

    The owner has all of them. Raises StateFailed when there is no such object.
    """
    table, match, acl, owner, letter = _PLACES[kind]
    every = _means_all(kind, thing)
    if every:
        column, which = _EVERY[kind]
        where = f"{column} = to_regnamespace({literal(name(schema))}) AND {which}"
    else:
        where = match.format(text=literal(_catalogue_name(kind, thing, schema)))
    to = (
        "0"
        if role.lower() == "public"
        else f"(SELECT oid FROM pg_roles WHERE rolname = {literal(role)})"
    )
    rows = server.select(
        f"SELECT pg_get_userbyid({owner}) AS owner, (SELECT json_object_agg(privilege_type,"
        " is_grantable) FROM (SELECT privilege_type, bool_or(is_grantable) AS is_grantable FROM"
        f" aclexplode(coalesce({acl}, acldefault('{letter}', {owner}))) WHERE grantee = {to} GROUP"
        f" BY 1) r) AS rights FROM {table} WHERE {where}"
    )
    if not rows and every:  # there may be none yet
        kind, thing = "schema", schema
        if server.select(f"SELECT 1 FROM pg_namespace WHERE nspname = {literal(schema)}"):
            return []
    if not rows:
        raise StateFailed(f"There is no {kind} {thing}", missing=(f"postgres_{kind}", thing))
    return [
        dict.fromkeys(_known(kind), True) if row["owner"] == role else row["rights"] or {}
        for row in rows
    ]


def _catalogue_name(kind: str, thing: str, schema: str) -> str:
    """The name that identifies an object in a catalogue: tables and functions are looked up by
    their quoted name.
    """
    if kind in ("table", "sequence"):
        return f"{name(schema)}.{name(thing)}"
    if kind == "function":
        called, _, arguments = thing.removesuffix(")").partition("(")
        types = [_type(word) for word in re.split(r",(?![^(]*\))", arguments)]
        return f"{name(schema)}.{name(called)}({', '.join(filter(None, types))})"
    return thing


def _type(argument: str) -> str:
    """The type of an argument as a declaration has it, which may give it a mode, a name and a
    default; empty for what is only returned.
    """
    text = re.split(r"\s(?:default\s|=|:=)", argument.strip(), maxsplit=1, flags=re.IGNORECASE)[0]
    words = text.split()
    mode = words[0].lower() if len(words) > 1 else ""
    if mode in ("in", "inout", "variadic", "out"):
        words = words[1:] if mode != "out" else []
    named = len(words) > 1 and words[0].lower() not in _TYPE_WORDS and words[1][0] not in "(["
    return " ".join(words[named:])
