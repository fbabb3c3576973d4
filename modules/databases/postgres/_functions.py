# SPDX-License-Identifier: Apache-2.0
"""Salt's postgres functions beside those of reading roles and databases. Connection: as with
psql_query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules.databases.postgres._roles import roles, stored
from modules.databases.postgres._server import AskedServer, PostgresServer, change, literal, name
from runner.api import changer, for_states

FLAGS = {
    "createdb": "CREATEDB",
    "createroles": "CREATEROLE",
    "inherit": "INHERIT",
    "login": "LOGIN",
}
FLAGS |= {"superuser": "SUPERUSER", "replication": "REPLICATION"}


@for_states
def server_of(
    user: str | None = None,
    host: str | None = None,
    port: int | str | None = None,
    maintenance_db: str | None = None,
    password: str | None = None,
    runas: str | None = None,
) -> PostgresServer:
    """The server of a call, with the names that Salt's functions have for it."""
    return AskedServer(runas, maintenance_db, user, password, host, port)


def _split(options: Mapping[str, Any]) -> tuple[dict[str, Any], PostgresServer]:
    """The settings of a role, and the connection."""
    own = (*FLAGS, "rolepassword", "encrypted", "valid_until", "groups")
    settings = {key: value for key, value in options.items() if key in own}
    return settings, server_of(**{key: value for key, value in options.items() if key not in own})


def _role(username: str, settings: Mapping[str, Any], verb: str) -> list[str]:
    words = [
        word if settings[flag] else f"NO{word}"
        for flag, word in FLAGS.items()
        if settings.get(flag) is not None
    ]
    if (password := settings.get("rolepassword")) is not None:
        words.append(
            f"PASSWORD {literal(stored(username, password, settings.get('encrypted', False)))}"
        )
    if until := settings.get("valid_until"):
        words.append(f"VALID UNTIL {literal(until)}")
    groups = settings.get("groups") or ()
    names = groups.split(",") if isinstance(groups, str) else groups
    first = f"{verb} ROLE {name(username)}" + (f" WITH {' '.join(words)}" if words else "")
    return [
        *([first] if words or verb == "CREATE" else ()),
        *(f"GRANT {name(group.strip())} TO {name(username)}" for group in names),
    ]


@changer(touches=[])
def user_create(username: str, **options: Any) -> bool:
    """Make a role; False when there is one of this name. Options: createdb, createroles, inherit,
    login, superuser, replication, rolepassword, encrypted, valid_until, groups, and the
    connection as with psql_query.

    runner call postgres.user_create app rolepassword=secret login=true
    """
    settings, server = _split(options)
    if username in roles(server, username, passwords=False):
        return False
    change(server, tuple(_role(username, {"login": True, **settings}, "CREATE")))
    return True


@changer(touches=[])
def user_update(username: str, **options: Any) -> bool:
    """Change a role; False when there is none of this name. Options as those of user_create."""
    settings, server = _split(options)
    if username not in roles(server, username, passwords=False):
        return False
    change(server, tuple(_role(username, settings, "ALTER")))
    return True


@changer(touches=[])
def group_create(groupname: str, **options: Any) -> bool:
    """Make a role without login; False when there is one. Options as those of user_create."""
    settings, server = _split(options)
    if groupname in roles(server, groupname, passwords=False):
        return False
    change(server, tuple(_role(groupname, {"login": False, **settings}, "CREATE")))
    return True


@changer(touches=[])
def user_remove(username: str, **connection: Any) -> bool:
    """Remove a role; False when there is none. Connection as with psql_query."""
    server = server_of(**connection)
    if username not in roles(server, username, passwords=False):
        return False
    change(server, (f"DROP ROLE {name(username)}",))
    return True


@changer(touches=[])
def db_create(
    database: str,
    tablespace: str | None = None,
    encoding: str | None = None,
    lc_collate: str | None = None,
    lc_ctype: str | None = None,
    owner: str | None = None,
    template: str | None = None,
    **connection: Any,
) -> bool:
    """Make a database. Connection as with psql_query."""
    settings = {
        "OWNER": name(owner) if owner else "",
        "TEMPLATE": name(template) if template else "",
    }
    settings |= {
        "TABLESPACE": name(tablespace) if tablespace else "",
        "ENCODING": literal(encoding) if encoding else "",
    }
    settings |= {
        "LC_COLLATE": literal(lc_collate) if lc_collate else "",
        "LC_CTYPE": literal(lc_ctype) if lc_ctype else "",
    }
    words = "".join(f" {word} = {value}" for word, value in settings.items() if value)
    change(server_of(**connection), (f"CREATE DATABASE {name(database)}{words}",))
    return True


@changer(touches=[])
def db_remove(database: str, **connection: Any) -> bool:
    """Remove a database. Connection as with psql_query."""
    change(server_of(**connection), (f"DROP DATABASE {name(database)}",))
    return True


# ---------------------------------------------------------------- looks


def role_get(role: str, return_password: bool = False, **connection: Any) -> dict[str, Any] | None:
    """The rights of a role; None when there is none. return_password: with the stored password."""
    return roles(server_of(**connection), role, passwords=return_password).get(role)


def schema_list(dbname: str, **connection: Any) -> dict[str, dict[str, Any]]:
    """The schemas of a database with their owners. Connection as with psql_query."""
    rows = (
        server_of(**connection)
        .within(dbname)
        .select(
            "SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner, nspacl::text AS acl FROM"
            " pg_namespace"
        )
    )
    return {row["name"]: {"owner": row["owner"], "acl": row["acl"] or ""} for row in rows}


def schema_exists(dbname: str, name: str, **connection: Any) -> bool:
    """Return whether a database has a schema. Connection as with psql_query."""
    return name in schema_list(dbname, **connection)


def schema_get(dbname: str, name: str, **connection: Any) -> dict[str, Any] | None:
    """The owner of a schema; None when there is none. Connection as with psql_query."""
    return schema_list(dbname, **connection).get(name)


def tablespace_list(**connection: Any) -> dict[str, dict[str, Any]]:
    """The tablespaces with owner and folder. Connection as with psql_query."""
    rows = server_of(**connection).select(
        'SELECT spcname AS "Name", pg_get_userbyid(spcowner) AS "Owner", spcacl::text AS "ACL", '
        'spcoptions::text AS "Opts", pg_tablespace_location(oid) AS "Location" FROM pg_tablespace'
    )
    return {row.pop("Name"): row for row in rows}


def tablespace_exists(name: str, **connection: Any) -> bool:
    """Return whether there is a tablespace. Connection as with psql_query."""
    return name in tablespace_list(**connection)


def language_list(maintenance_db: str, **connection: Any) -> dict[str, str]:
    """The languages of a database. Connection as with psql_query."""
    rows = server_of(maintenance_db=maintenance_db, **connection).select(
        'SELECT lanname AS "Name" FROM pg_language'
    )
    return {row["Name"]: row["Name"] for row in rows}


def language_exists(name: str, maintenance_db: str, **connection: Any) -> bool:
    """Return whether a database has a language. Connection as with psql_query."""
    return name in language_list(maintenance_db, **connection)


def available_extensions(**connection: Any) -> dict[str, dict[str, Any]]:
    """The extensions that can be installed into a database (maintenance_db). Connection as with
    psql_query.
    """
    rows = server_of(**connection).select("SELECT * FROM pg_available_extensions")
    return {row["name"]: row for row in rows}


def installed_extensions(**connection: Any) -> dict[str, dict[str, Any]]:
    """The extensions of a database (maintenance_db). Connection as with psql_query."""
    rows = server_of(**connection).select(
        "SELECT extname, nspname AS schema_name, extversion, extrelocatable::text, extowner::text "
        "FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    )
    return {row["extname"]: row for row in rows}


def is_installed_extension(name: str, **connection: Any) -> bool:
    """Return whether a database (maintenance_db) has an extension. Connection as with
    psql_query.
    """
    return name in installed_extensions(**connection)


def is_available_extension(name: str, **connection: Any) -> bool:
    """Return whether an extension can be installed. Connection as with psql_query."""
    return name in available_extensions(**connection)
