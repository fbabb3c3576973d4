# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL: what the postgres_* states look at and change, and Salt's functions for templates."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Annotated, Any

from modules import _paths, cmd, file
from modules._machine.processes import missing, needs
from modules._texts.lines import join_lines, one_line, plain_name
from modules.databases.postgres._rights import KINDS, grantee, held, member, target, wanted
from modules.databases.postgres._rights import problem as rights_problem
from modules.databases.postgres._roles import FLAGS, Role, matches, moment, roles, split
from modules.databases.postgres._server import (
    Asked,
    AskedServer,
    AskedWithin,
    Connection,
    Identifier,
    Login,
    PostgresServer,
    literal,
    option,
)
from modules.databases.postgres._server import name as quoted
from runner.api import CommandFailed, Group, StateFailed, changer, here

TOOLS = "postgresql-common"


def cluster_list() -> dict[str, dict[str, str]]:
    """Debian's clusters, by `version/name`: port, status, user, datadir, log. Raises StateFailed
    when pg_lsclusters fails.

    {{ salt['postgres.cluster_list']() }}
    """
    needs("pg_lsclusters", TOOLS)
    done = cmd.probe(["pg_lsclusters", "--no-header"]).or_fail("pg_lsclusters")
    clusters = {}
    for words in (line.split() for line in done.stdout.splitlines()):
        if len(words) > 5:
            keys = ("port", "status", "user", "datadir", "log")
            clusters[f"{words[0]}/{words[1]}"] = dict(zip(keys, words[2:], strict=False))
    return clusters


def cluster_exists(version: str, name: str = "main") -> bool:
    """Return whether there is a cluster.

    {{ salt['postgres.cluster_exists']('15', 'main') }}
    """
    return f"{version}/{name}" in cluster_list()


def server_exists(version: str) -> bool:
    """Return whether Debian's server of this version is installed.

    {{ salt['postgres.server_exists']('15') }}
    """
    return file.is_file(f"/usr/lib/postgresql/{version}/bin/initdb")


@changer
def cluster_create(
    version: str, name: str, options: Sequence[str], initdb: Sequence[str] = ()
) -> bool:
    """Make a cluster. options: for pg_createcluster; initdb: for that program."""
    more = ["--", *initdb] if initdb else []
    return _run(["pg_createcluster", *options, *_name_words(version, name), *more])


@changer
def cluster_remove(version: str, name: str) -> bool:
    """Stop a cluster and remove it with all of its databases."""
    return _run(["pg_dropcluster", "--stop", *_name_words(version, name)])


def _name_words(version: str, name: str) -> list[str]:
    return [plain_name(version, "the version"), plain_name(name, "the name of the cluster")]


def _run(argv: Sequence[str]) -> bool:
    cmd.execute(argv).or_fail()
    return True


def datadir_exists(name: str) -> bool:
    """Return whether a folder holds the databases of a server.

    {{ salt['postgres.datadir_exists']('/srv/pg') }}
    """
    return file.is_file(f"{name}/PG_VERSION")


def initdb() -> str:
    """The path of initdb: on PATH, in the folder `postgres.bins_dir` of the configuration, or
    Debian's newest. Raises StateFailed when there is none.
    """
    folder = here.opts.get("postgres.bins_dir")
    if folder:
        return os.path.join(str(folder), "initdb")
    programs = sorted(_paths.glob("/usr/lib/postgresql/*/bin/initdb"), key=_version)
    path = cmd.which("initdb") or (programs[-1] if programs else None)
    if path is None:
        raise missing("initdb", "postgresql")
    return path


def _version(path: str) -> tuple[int, ...]:
    return tuple(int(part) for part in path.split("/")[4].split(".") if part.isdigit())


@changer
def datadir_init(
    name: str, options: Sequence[str], runas: str | None, password: str | None
) -> bool:
    """Make the databases of a new server in a folder. Raises CommandFailed when initdb fails.
    options: for initdb. runas: whose they are.
    """
    words = [initdb(), f"--pgdata={name}", *options]
    # the pipe belongs to whom initdb runs as: no file, and no argument, shows the password
    line = (
        shlex.join(words)
        if password is None
        else f"cat | {shlex.join([*words, '--pwfile=/dev/stdin'])}"
    )
    done = cmd.execute_shell(
        line,
        runas=runas,
        cwd="/",
        shell="/bin/sh",
        stdin=join_lines([one_line(password or "", "the password")]),
    )
    if done.retcode:
        raise CommandFailed(done.error_text)
    return True


ASKED = AskedServer()
# as Salt's functions have a role
_OF_ROLES = {key: key for key in (*FLAGS, "encrypted", "valid_until", "groups")}
GivenRole = Annotated[Role, Group({**_OF_ROLES, "rolepassword": "password"})]
PLAIN = Role(encrypted=False)


def _statements(verb: str, name: str, role: Role, login: bool | None = None) -> tuple[str, ...]:
    """login: of a role for which nothing is said."""
    role = role._replace(login=login) if role.login is None else role
    given = {key: value for key, value in role._asdict().items() if value is not None}
    return tuple(role.statements(verb, name, given))


@changer(touches=[])
def user_create(username: str, server: Asked = ASKED, role: GivenRole = PLAIN) -> bool:
    """Make a role; False when there is one of this name.

    runner call postgres.user_create app rolepassword=secret login=true
    """
    if username in roles(server, username, passwords=False):
        return False
    server.execute(*_statements("CREATE", username, role, True))
    return True


@changer(touches=[])
def user_update(username: str, server: Asked = ASKED, role: GivenRole = PLAIN) -> bool:
    """Change a role; False when there is none of this name."""
    if username not in roles(server, username, passwords=False):
        return False
    server.execute(*_statements("ALTER", username, role))
    return True


@changer(touches=[])
def group_create(groupname: str, server: Asked = ASKED, role: GivenRole = PLAIN) -> bool:
    """Make a role without login; False when there is one."""
    if groupname in roles(server, groupname, passwords=False):
        return False
    server.execute(*_statements("CREATE", groupname, role, False))
    return True


@changer(touches=[])
def user_remove(username: str, server: Asked = ASKED) -> bool:
    """Remove a role; False when there is none."""
    if username not in roles(server, username, passwords=False):
        return False
    server.execute(f"DROP ROLE {quoted(username)}")
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
    server: Asked = ASKED,
) -> bool:
    """Make a database."""
    settings = {
        "OWNER": quoted(owner) if owner else "",
        "TEMPLATE": quoted(template) if template else "",
    }
    settings |= {
        "TABLESPACE": quoted(tablespace) if tablespace else "",
        "ENCODING": literal(encoding) if encoding else "",
    }
    settings |= {
        "LC_COLLATE": literal(lc_collate) if lc_collate else "",
        "LC_CTYPE": literal(lc_ctype) if lc_ctype else "",
    }
    words = "".join(f" {word} = {value}" for word, value in settings.items() if value)
    server.execute(f"CREATE DATABASE {quoted(database)}{words}")
    return True


@changer(touches=[])
def db_remove(database: str, server: Asked = ASKED) -> bool:
    """Remove a database."""
    server.execute(f"DROP DATABASE {quoted(database)}")
    return True


# ---------------------------------------------------------------- looks


def role_get(
    role: str, return_password: bool = False, server: Asked = ASKED
) -> dict[str, Any] | None:
    """The rights of a role; None when there is none. return_password: with the stored password."""
    return roles(server, role, passwords=return_password).get(role)


def schema_list(dbname: str, server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The schemas of a database with their owners."""
    rows = server.within(dbname).select(
        "SELECT nspname AS name, pg_get_userbyid(nspowner) AS owner, nspacl::text AS acl FROM"
        " pg_namespace"
    )
    return {row["name"]: {"owner": row["owner"], "acl": row["acl"] or ""} for row in rows}


def schema_exists(dbname: str, name: str, server: Asked = ASKED) -> bool:
    """Return whether a database has a schema."""
    return name in schema_list(dbname, server)


def schema_get(dbname: str, name: str, server: Asked = ASKED) -> dict[str, Any] | None:
    """The owner of a schema; None when there is none."""
    return schema_list(dbname, server).get(name)


def tablespace_list(server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The tablespaces with owner and folder."""
    rows = server.select(
        'SELECT spcname AS "Name", pg_get_userbyid(spcowner) AS "Owner", spcacl::text AS "ACL", '
        'spcoptions::text AS "Opts", pg_tablespace_location(oid) AS "Location" FROM pg_tablespace'
    )
    return {row.pop("Name"): row for row in rows}


def tablespace_exists(name: str, server: Asked = ASKED) -> bool:
    """Return whether there is a tablespace."""
    return name in tablespace_list(server)


def language_list(maintenance_db: str, server: AskedWithin = ASKED) -> dict[str, str]:
    """The languages of a database."""
    rows = server.within(maintenance_db).select('SELECT lanname AS "Name" FROM pg_language')
    return {row["Name"]: row["Name"] for row in rows}


def language_exists(name: str, maintenance_db: str, server: AskedWithin = ASKED) -> bool:
    """Return whether a database has a language."""
    return name in language_list(maintenance_db, server)


def available_extensions(server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The extensions that can be installed into a database (maintenance_db)."""
    rows = server.select("SELECT * FROM pg_available_extensions")
    return {row["name"]: row for row in rows}


def installed_extensions(server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The extensions of a database (maintenance_db)."""
    rows = server.select(
        "SELECT extname, nspname AS schema_name, extversion, extrelocatable::text, extowner::text "
        "FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
    )
    return {row["extname"]: row for row in rows}


def is_installed_extension(name: str, server: Asked = ASKED) -> bool:
    """Return whether a database (maintenance_db) has an extension."""
    return name in installed_extensions(server)


def is_available_extension(name: str, server: Asked = ASKED) -> bool:
    """Return whether an extension can be installed."""
    return name in available_extensions(server)


NEEDS_PROGRAM = "psql"  # without it templates find no function of this module


def psql_query(query: str, server: Asked = ASKED) -> list[dict[str, Any]]:
    """The rows that a query answers with.

    {{ salt['postgres.psql_query']('SELECT datname FROM pg_database') }}
    """
    return server.select(query.strip().rstrip(";"))


def version(server: Asked = ASKED) -> str | None:
    """The server's version; None when it does not answer."""
    rows = server.select("SELECT current_setting('server_version') AS v")
    return str(rows[0]["v"].split()[0]) if rows else None


def db_list(server: Asked = ASKED) -> dict[str, dict[str, Any]]:
    """The databases: owner, encoding, collation, tablespace."""
    return databases(server)


def db_exists(name: str, server: Asked = ASKED) -> bool:
    """Return whether there is a database.

    {{ salt['postgres.db_exists']('app') }}
    """
    return name in db_list(server)


def user_list(
    return_password: bool = False, server: Asked = ASKED
) -> dict[str, dict[str, Any]] | bool:
    """The roles with what they may; False when the server does not answer.

    return_password: with what the server keeps of passwords.
    """
    return roles(server, passwords=return_password) or False


def user_exists(name: str, server: Asked = ASKED) -> bool:
    """Return whether there is a role.

    {{ salt['postgres.user_exists']('app') }}
    """
    return name in roles(server, name, passwords=False)


group_exists = user_exists
group_remove = user_remove
group_update = user_update


def databases(server: PostgresServer) -> dict[str, dict[str, Any]]:
    """The databases by name."""
    rows = server.select(
        'SELECT datname AS "Name", pg_get_userbyid(datdba) AS "Owner",'
        ' pg_encoding_to_char(encoding) AS "Encoding", datcollate AS "Collate", datctype AS'
        ' "Ctype", spcname AS "Tablespace" FROM pg_database JOIN pg_tablespace ON pg_tablespace.oid'
        " = dattablespace"
    )
    return {row["Name"]: row for row in rows}
