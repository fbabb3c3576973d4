# SPDX-License-Identifier: Apache-2.0
"""How PostgreSQL's roles, databases, schemas, extensions, rights and the rest are tried: on a real
server.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import postgres_server as server
from laws import Scenario, as_typed, scenario

_NUMBERS = itertools.count()
MADE = (
    "CREATE ROLE {r}",
    "CREATE ROLE {r}_g",
    "CREATE SCHEMA {r}_s",
    "CREATE TABLE {r}_s.t (id serial)",
    "CREATE VIEW {r}_s.v AS SELECT 1 AS one",
    "CREATE FUNCTION {r}_s.f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION {r}_s.g(a int, b float = 1, out c int) LANGUAGE sql AS 'SELECT 1'",
    "CREATE PROCEDURE {r}_s.p(inout a int) LANGUAGE sql AS 'SELECT 1'",
)


@functools.cache
def _shared() -> str:
    """A database for all scenarios that need none of their own."""
    server.sql("CREATE DATABASE laws")
    server.sql("CREATE EXTENSION citext", database="laws")
    return "laws"


_PREPARED: set[str] = set()  # the roles of the scenarios that this server has seen


def _anew() -> None:
    """The server as it was at first."""
    named = "SELECT 'DROP {0} ' || quote_ident({1}) || '{2}' FROM {3} WHERE {1} !~ '^(pg_|{4})'"
    for kind in (
        ("DATABASE", "datname", " WITH (FORCE)", "pg_database", "postgres$|template"),
        ("TABLESPACE", "spcname", "", "pg_tablespace", "-"),
        ("OWNED BY", "rolname", " CASCADE", "pg_roles", "postgres$"),
        ("ROLE", "rolname", "", "pg_roles", "postgres$"),
    ):
        server.sql(*server.sql(named.format(*kind)).splitlines())
    _PREPARED.clear()
    _shared.cache_clear()


def _setup(names: dict[str, str], first: tuple[str, ...]) -> Callable[[Path], None]:
    """What prepares a scenario: on a server that has not seen it before."""

    def setup(_: Path) -> None:
        if names["r"] in _PREPARED:
            _anew()
        _PREPARED.add(names["r"])
        shared = _shared()
        if names["db"] != shared:
            server.sql(f"CREATE DATABASE {names['db']} TEMPLATE laws")
        server.sql(*(each.format(**names) for each in (*MADE, *first)), database=names["db"])

    return setup


def _named(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return value.replace("<db>", names["db"]).replace("<r>", names["r"])
    return [_named(each, names) for each in value] if isinstance(value, list) else value


def on(function: str, *first: str, **given: Any) -> Scenario:
    """first: statements before it. In arguments <db> and <r> are the scenario's own database and
    role.
    """
    function, typed = as_typed(function)
    number = next(_NUMBERS)
    own = function.startswith(("database.", "extension.")) or any(
        "DATABASE" in each for each in first
    )
    names = {"db": f"db{number}" if own else "laws", "r": f"r{number}"}
    usual = {"db_host": str(server.FOLDER), "db_port": server.PORT, "db_user": "postgres"}
    args = {key: _named(value, names) for key, value in {**usual, **given, **typed}.items()}
    return scenario(f"postgres_{function}", _setup(names, first), **args)


MAY = {
    "createdb": True,
    "createroles": True,
    "superuser": False,
    "replication": True,
    "inherit": False,
}
NEW = {"name": "<r>_new"}
R = {"name": "<r>"}
ON_DB = {**R, "object_name": "<db>", "object_type": "database"}
ON_TABLE = {
    **R,
    "object_name": "t",
    "object_type": "table",
    "prepend": "<r>_s",
    "maintenance_db": "<db>",
}
ALSO = {"maintenance_db": "postgres", "user": None, "db_password": "x"}
GRANTED = "GRANT CREATE ON DATABASE {db} TO {r}"
PASSWORD = "ALTER ROLE {r} PASSWORD 'one'"
MD5 = "SET password_encryption = 'md5'"
SPACE = f"{server.FOLDER}/space"
SCENARIOS = [
    on("user.present login=true password=one encrypted=md5 groups=<r>,<r>_g", **NEW, **MAY),
    on(
        "user.present password=one encrypted=scram-sha-256 valid_until='2031-05-06 07:08:09'",
        **NEW,
        **ALSO,
    ),
    on("user.present default_password=one groups=[<r>_g]", **NEW),
    on("user.present valid_until=infinity", **NEW),
    on("user.present", plans=False, **R),
    on("user.present createdb=true login=true valid_until=2031-05-06", **R),
    on("user.present password=one encrypted=true", **R),
    on("user.present password=one", PASSWORD, plans=False, **R),
    on("user.present password=", plans=False, **R),
    on("user.present password=", PASSWORD, **R),
    on("user.present password=one encrypted=true", MD5, PASSWORD, plans=False, **R),
    on("user.present password=two encrypted=false", PASSWORD, **R),
    on("user.present password=one refresh_password=true", PASSWORD, **R, converges=False),
    on("user.present groups=nobody_here", **NEW, fails='role "nobody_here" does not exist'),
    on("user.present", **{**NEW, "db_host": "/no/server"}, fails="Is the server running locally"),
    on("user.absent", **R, **ALSO),
    on("user.absent", plans=False, **NEW),
    on("user.absent", "ALTER DATABASE {db} OWNER TO {r}", **R, breaks="User r"),
    on(
        "group.present login=false password=one encrypted=true refresh_password=false",
        **NEW,
        **MAY,
        **ALSO,
    ),
    on("group.present groups=[<r>_g]", **R),
    on("group.absent", **R, **ALSO),
    on("group.absent", plans=False, **NEW),
    on("database.present name=<db>_new owner=<r> encoding=UTF8 template=template0", **ALSO),
    on(
        "database.present name=<db>_new lc_collate=C lc_ctype=C template=template0"
        " tablespace=pg_default"
    ),
    on("database.present name=<db> encoding=utf-8 lc_collate=C.utf8", plans=False),
    on("database.present name=<db> lc_collate=POSIX", fails="has Collate C.UTF-8, not POSIX"),
    on("database.present name=<db> owner=<r>"),
    on("database.present name=<db> owner=<r> owner_recurse=true"),
    on(
        "database.present name=<db>_new owner=nobody_here",
        fails='role "nobody_here" does not exist',
    ),
    on("database.absent name=<db>", **ALSO),
    on("database.absent name=<db>_new", plans=False),
    on("schema.present name=new dbname=<db> owner=<r> db_password=x user=null"),
    on("schema.present name=<r>_s dbname=<db> owner=<r>"),
    on("schema.present name=<r>_s dbname=<db>", plans=False),
    on("schema.present name=n dbname=<db> owner=nobody", fails='"nobody" does not exist'),
    on("tablespace.present name=n owner=nobody", directory=SPACE, fails="does not exist"),
    on("schema.present name=new dbname=nodb", fails='database "nodb" does not exist'),
    on(
        "schema.absent name=<r>_s dbname=<db> db_password=x user=null",
        "DROP SCHEMA {r}_s CASCADE; CREATE SCHEMA {r}_s",
    ),
    on("schema.absent name=<r>_s dbname=<db>", breaks="because other objects depend on it"),
    on("schema.absent name=<r>_none dbname=<db>", plans=False),
    on(
        "extension.present name=hstore schema=<r>_s maintenance_db=<db> user=null",
        ext_version="1.4",
    ),
    on(
        "extension.present name=citext maintenance_db=<db> if_not_exists=true db_password=x",
        plans=False,
    ),
    on("extension.present name=citext schema=<r>_s maintenance_db=<db>"),
    on(
        "extension.present name=nosuch maintenance_db=<db>",
        from_version="1",
        fails="Failed to install extension nosuch: the server has no files of it",
    ),
    on(
        "extension.absent name=citext maintenance_db=<db> if_exists=true restrict=true cascade=true"
    ),
    on("extension.absent name=hstore maintenance_db=<db> user=null db_password=x", plans=False),
    on("privileges.present privileges=[CREATE,TEMP] grant_option=true", **ON_DB, **ALSO),
    on("privileges.present privileges=create", GRANTED, plans=False, **ON_DB),
    on("privileges.present privileges=[CREATE] grant_option=true", GRANTED, **ON_DB),
    on(
        "privileges.present privileges=[ALL]",
        "ALTER DATABASE {db} OWNER TO {r}",
        plans=False,
        **ON_DB,
    ),
    on("privileges.present privileges=[USAGE]", **ON_DB, fails="Invalid privilege(s): USAGE"),
    on("privileges.present", **ON_DB, fails="privileges is missing or empty"),
    on(
        "privileges.present privileges=[ALL]",
        **{**ON_DB, "name": "nobody_here"},
        fails="does not exist",
    ),
    on(
        "privileges.present privileges=[ALL]",
        **{**ON_DB, "object_name": "nodb"},
        fails="There is no database nodb",
    ),
    on("privileges.present", **ON_TABLE, privileges=["SELECT,INSERT"]),
    on("privileges.present privileges=[ALL]", **{**ON_TABLE, "object_name": "ALL"}),
    on(
        "privileges.present privileges=[USAGE]",
        **{**ON_TABLE, "object_name": "ALL", "object_type": "sequence"},
    ),
    on(  # all that there are, which are none
        "privileges.present",
        plans=False,
        **{**ON_TABLE, "object_name": "ALL", "object_type": "sequence", "prepend": "public"},
        privileges=["USAGE"],
    ),
    on(
        "privileges.present privileges=[SELECT]",
        **{**ON_TABLE, "object_name": "ALL", "prepend": "noschema"},
        fails="There is no schema noschema",
    ),
    on(
        "privileges.present privileges=[EXECUTE]",
        **{**ON_TABLE, "name": "public", "object_type": "function", "object_name": "f(int)"},
        plans=False,
    ),
    on(
        "privileges.present privileges=[EXECUTE]",
        **{**ON_TABLE, "object_type": "function", "object_name": "g(IN a int, b float = 1)"},
    ),
    on(
        "privileges.present privileges=[EXECUTE]",
        **{**ON_TABLE, "object_type": "function", "object_name": "ALL"},
    ),
    on(
        "privileges.present privileges=[USAGE]",
        **{**ON_TABLE, "object_type": "schema", "object_name": "<r>_s"},
    ),
    on("privileges.present object_name=<r>_g object_type=group grant_option=true", **R),
    on(
        "privileges.present object_name=<r>_g object_type=group",
        "GRANT {r}_g TO {r}",
        plans=False,
        **R,
    ),
    on("privileges.absent privileges=[CREATE]", GRANTED, **ON_DB, **ALSO),
    on("privileges.absent privileges=[CREATE]", plans=False, **ON_DB),
    on("privileges.absent privileges=[ALL]", plans=False, **ON_TABLE),
    on("privileges.absent object_name=<r>_g object_type=group", "GRANT {r}_g TO {r}", **R),
    on("language.present name=plpgsql maintenance_db=<db> user=null db_password=x", plans=False),
    on(
        "language.present name=nosuch maintenance_db=<db>",
        breaks="Failed to install language nosuch",
    ),
    on("language.absent name=nosuch maintenance_db=<db> user=null db_password=x", plans=False),
    on(
        "tablespace.present name=<r>_t directory=/proc",
        breaks="Failed to create tablespace",
        **ALSO,
    ),
    on(
        "tablespace.present name=<r>_t directory=/no/such",
        fails='Failed to create tablespace <r>_t: directory "/no/such" does not exist',
        **ALSO,
    ),
    on("tablespace.present name=pg_default directory=/x", fails="not at the right location"),
    on("tablespace.present name=<r>_t options='{seq_page_cost: 2}' owner=<r>", directory=SPACE),
    on("tablespace.absent name=<r>_t", plans=False, **ALSO),
]
