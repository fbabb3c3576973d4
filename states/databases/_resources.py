# SPDX-License-Identifier: Apache-2.0
"""What there is now in servers of MariaDB, MySQL and PostgreSQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from modules import file
from modules.databases import mysql, postgres
from modules.databases.mysql import Login, MysqlServer
from modules.databases.postgres import PostgresServer
from runner.api import Resource

ROLE = "databases"
AFTER = {
    "mysql_grants": ("mysql_user",),
    "mysql_user": ("mysql_database",),
    "postgres_database": ("postgres_user", "postgres_tablespace"),
    "postgres_extension": ("postgres_schema",),
    "postgres_privileges": ("postgres_extension",),
    "postgres_schema": ("postgres_database",),
    "postgres_tablespace": ("postgres_user",),
    "postgres_user": ("postgres_group",),
}
_MYSQL = MysqlServer()
_OF_MYSQL = ("information_schema", "mysql", "performance_schema", "sys")
_ACCOUNTS = """
root mysql mariadb.sys mysql.sys mysql.session mysql.infoschema debian-sys-maint
""".split()
_POSTGRES = PostgresServer()
_DATABASES = ("postgres", "template0", "template1")


# ---------------------------------------------------------------- MariaDB and MySQL


def _accounts() -> Iterator[tuple[str, str, bool]]:
    """The accounts: user, host, and whether each installation has them."""
    for row in mysql.accounts(_MYSQL):
        if row["User"] and row["Host"]:  # a role of MariaDB has no host
            yield row["User"], row["Host"], row["User"] in _ACCOUNTS


def mysql_database_resources(name: str | None) -> Iterator[Resource]:
    """Databases with their character sets and collations."""
    for database, about in sorted(mysql.databases(_MYSQL).items()):
        if name in (None, database):
            arguments = {key: about[key] for key in ("character_set", "collate")}
            shipped = database in _OF_MYSQL
            yield Resource("mysql_database.present", database, arguments, shipped=shipped)


_GRANT = re.compile(r"GRANT (?P<rights>.*?) ON (?P<level>.*?) TO [`'].*", re.DOTALL)


def mysql_grants_resources(name: str | None) -> Iterator[Resource]:
    """The rights of accounts, by user."""
    for user, host, shipped in _accounts():
        if name not in (None, user):
            continue
        for line in mysql.grant_lines(_MYSQL, user, host):
            match = _GRANT.fullmatch(line)
            if match and match["rights"] not in ("USAGE", "PROXY"):
                level = match["level"]
                arguments: dict[str, Any] = {
                    "grant": match["rights"].lower(),
                    "database": level,
                    "user": user,
                }
                arguments |= {"host": host} if host != "localhost" else {}
                arguments |= {"grant_option": True} if "WITH GRANT OPTION" in line else {}
                arguments["escape"] = False
                state = f"{user}@{host} on {level}"
                yield Resource("mysql_grants.present", state, arguments, shipped=shipped)


def mysql_user_resources(name: str | None) -> Iterator[Resource]:
    """Accounts that log in without a password; those with one only as a remark."""
    for user, host, shipped in _accounts():
        account, mariadb = mysql.find_account(_MYSQL, user, host)
        if name not in (None, user) or account is None:
            continue
        arguments: dict[str, Any] = {"host": host} if host != "localhost" else {}
        arguments["allow_passwordless"] = True
        if Login(unix_socket=True).agrees(account.methods, mariadb):
            arguments["unix_socket"] = True
        elif not Login().agrees(account.methods, mariadb):
            note = f"{user}@{host} has a password: `mysql_user.present`, with `password` from the"
            yield Resource("", user, note=f"{note} pillar, manages it", shipped=shipped)
            continue
        yield Resource("mysql_user.present", user, arguments, shipped=shipped)


# ---------------------------------------------------------------- PostgreSQL


def _databases() -> Iterator[tuple[str, PostgresServer]]:
    """The databases that can be looked into, with the connection to each."""
    rows = _POSTGRES.select("SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1")
    for row in rows:
        if row["datname"] not in _DATABASES[1:]:
            yield row["datname"], _POSTGRES.within(row["datname"])


def _roles(login: bool) -> Iterator[tuple[str, dict[str, object], bool]]:
    """The roles that may log in, or not, with their arguments, and whether they have a password."""
    for name, role in postgres.roles(_POSTGRES).items():
        if role["login"] is not login or name == "postgres" or name.startswith("pg_"):
            continue
        flags = ("superuser", "createdb", "createroles", "replication")
        arguments: dict[str, object] = {flag: True for flag in flags if role[flag]}
        arguments |= {} if role["inherit"] else {"inherit": False}
        arguments |= {"groups": role["groups"]} if role["groups"] else {}
        if login and role["valid_until"]:
            arguments["valid_until"] = role["valid_until"]
        yield name, arguments, bool(role["password"])


def postgres_database_resources(name: str | None) -> Iterator[Resource]:
    """Databases with their owners, encodings and locales."""
    for database, about in sorted(postgres.databases(_POSTGRES).items()):
        if name in (None, database):
            arguments = {
                "owner": about["Owner"],
                "encoding": about["Encoding"],
                "lc_collate": about["Collate"],
                "lc_ctype": about["Ctype"],
                "template": "template0",
            }
            if about["Tablespace"] != "pg_default":
                arguments["tablespace"] = about["Tablespace"]
            shipped = database in _DATABASES
            yield Resource("postgres_database.present", database, arguments, shipped=shipped)


_EXTENSIONS = """
SELECT extname AS name, nspname AS schema FROM pg_extension
JOIN pg_namespace n ON n.oid = extnamespace ORDER BY 1
"""


def postgres_extension_resources(name: str | None) -> Iterator[Resource]:
    """The extensions of each database, with the schema that they are in."""
    for database, server in _databases():
        for row in server.select(_EXTENSIONS):
            if name in (None, row["name"]):
                arguments = {"maintenance_db": database, "schema": row["schema"]}
                shipped = row["name"] == "plpgsql"
                yield Resource(
                    "postgres_extension.present", row["name"], arguments, shipped=shipped
                )


def postgres_group_resources(name: str | None) -> Iterator[Resource]:
    """Groups with what they may."""
    for group, arguments, _ in _roles(login=False):
        if name in (None, group):
            yield Resource("postgres_group.present", group, arguments)


# what somebody granted: not the owner's own rights, nor those that everybody has from the start
_RIGHTS = """
SELECT kind, thing, schema, r.rolname AS role, a.is_grantable AS passed_on,
    array_agg(a.privilege_type ORDER BY 1) AS rights
FROM (SELECT 'database' AS kind, datname::text AS thing, '' AS schema, datacl AS acl,
        datdba AS owner FROM pg_database WHERE datname = current_database()
    UNION ALL SELECT 'schema', nspname, '', nspacl, nspowner FROM pg_namespace
        WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    UNION ALL SELECT CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, relname, nspname,
        relacl, relowner FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND nspname !~ '^pg_'
            AND nspname <> 'information_schema') things,
    aclexplode(acl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE a.grantee <> owner GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 3, 2, 4, 5
"""


def postgres_privileges_resources(name: str | None) -> Iterator[Resource]:
    """The rights of roles on databases, schemas, tables and sequences that they do not own."""
    for database, server in _databases():
        for row in server.select(_RIGHTS):
            if name in (None, row["role"]):
                yield _granted(database, row)


def _granted(database: str, row: dict[str, Any]) -> Resource:
    arguments: dict[str, Any] = {
        "object_name": row["thing"],
        "object_type": row["kind"],
        "privileges": row["rights"],
        "maintenance_db": database,
    }
    arguments |= {"prepend": row["schema"]} if row["schema"] not in ("", "public") else {}
    arguments |= {"grant_option": True} if row["passed_on"] else {}
    return Resource("postgres_privileges.present", row["role"], arguments)


_SCHEMAS = """
SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner FROM pg_namespace n
WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.classid = 'pg_namespace'::regclass AND d.objid = n.oid AND d.deptype = 'e') ORDER BY 1
"""


def postgres_schema_resources(name: str | None) -> Iterator[Resource]:
    """The schemas of each database with their owners."""
    for database, server in _databases():
        for row in server.select(_SCHEMAS):
            if name in (None, row["name"]):
                shipped = row["name"] == "public" and row["owner"] in (
                    "postgres",
                    "pg_database_owner",
                )
                arguments = {"dbname": database, "owner": row["owner"]}
                yield Resource("postgres_schema.present", row["name"], arguments, shipped=shipped)


_TABLESPACES = """
SELECT spcname AS name, pg_get_userbyid(spcowner) AS owner, spcoptions AS options,
    pg_tablespace_location(oid) AS place FROM pg_tablespace WHERE spcname !~ '^pg_' ORDER BY 1
"""


def postgres_tablespace_resources(name: str | None) -> Iterator[Resource]:
    """Tablespaces with their directories, options and owners."""
    for row in _POSTGRES.select(_TABLESPACES):
        if name in (None, row["name"]):
            arguments = {"directory": row["place"], "owner": row["owner"]}
            if row["options"]:
                arguments["options"] = dict(option.split("=", 1) for option in row["options"])
            yield from _directory(row["place"])
            yield Resource("postgres_tablespace.present", row["name"], arguments)


def _directory(path: str) -> Iterator[Resource]:
    """The directory of a tablespace, which has to be there before; its files are the server's."""
    about = file.seen(path)
    if about:
        arguments = {"user": about.user, "group": about.group, "mode": about.mode}
        yield Resource("file.directory", path, arguments, files=(path,))


def postgres_user_resources(name: str | None) -> Iterator[Resource]:
    """Users with what they may; never their passwords."""
    for user, arguments, has_password in _roles(login=True):
        if name in (None, user):
            note = f"{user} has a password: `password`, from the pillar, sets it" * has_password
            yield Resource("postgres_user.present", user, arguments, note)
