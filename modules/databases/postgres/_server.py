# SPDX-License-Identifier: Apache-2.0
"""Talking to a PostgreSQL server, with psql."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Annotated, Any

from modules import _paths, cmd
from modules.databases._new_server import CONNECT_SECONDS, is_local, is_new
from modules.databases._words import longer_than
from runner.api import (
    Check,
    CommandFailed,
    Group,
    Line,
    Name,
    NonEmptyLine,
    Record,
    Secret,
    changer,
    here,
    promised,
)


class PostgresServer(Record):
    """The connection: which server, and as whom.

    runas: The user of the system as whom psql runs (postgres).
    database: The database to connect to.
    user: The role to log in as.
    password: The password of db_user.
    host: The server, or the folder of its socket.
    port: The port of the server.
    """

    runas: Name | None = None
    database: Line | None = None
    user: Name | None = None
    password: Secret[Line] | None = None
    host: Line | None = None
    port: int | Line | None = None

    def within(self, database: str) -> PostgresServer:
        """The same server, connected to another database."""
        return self._replace(database=database)

    def select(self, query: str, new: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
        """The rows that a query answers with. Raises CommandFailed with what psql says.

        new: those of a server that is yet to come.
        """
        if self._is_new():
            return [*new]
        text = f"SELECT coalesce(json_agg(found), '[]') FROM ({query}) found;"
        try:
            return list(json.loads(_psql(self, text) or "[]"))
        except CommandFailed as failure:
            databases = [it for kind, it in failure.missing if kind == "postgres_database"]
            if not any(promised("postgres_database", it) for it in databases):
                raise
            return self.within(_template_of(databases[0])).select(query)

    def is_local(self) -> bool:
        """Return whether it runs on this machine."""
        return is_local(self.host or option("host"))

    def _is_new(self) -> bool:
        return self.is_local() and is_new(PROGRAMS, DATA)

    def execute(self, *statements: str) -> None:
        """Carry out statements, all or none of them where the server can (only while changing)."""
        change(self, statements)


TIMEOUT = "PGCONNECT_TIMEOUT"
PROGRAMS = ("/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres", "/usr/bin/postgres")
DATA = (
    "/var/lib/postgresql/*/*/PG_VERSION",
    "/var/lib/pgsql/data/PG_VERSION",
    "/var/lib/pgsql/*/data/PG_VERSION",
    "/var/lib/postgres/data/PG_VERSION",
)
_LOGIN = {"db_password": "password", "db_host": "host", "db_port": "port", "db_user": "user"}
# as states have it, and those that say the database themselves
Connection = Annotated[
    PostgresServer, Group({"user": "runas", "maintenance_db": "database", **_LOGIN})
]
Login = Annotated[PostgresServer, Group({"user": "runas", **_LOGIN})]
# the server cuts what is longer off, and the next run would look for the whole
Identifier = Annotated[NonEmptyLine, Check(longer_than(63, "bytes"))]
# as Salt's functions have it
_NAMES = ("user", "host", "port", "maintenance_db", "password", "runas")
_ASKED = {name: name for name in _NAMES} | {"maintenance_db": "database"}
Asked = Annotated[PostgresServer, Group(_ASKED)]
AskedWithin = Annotated[
    PostgresServer, Group({key: _ASKED[key] for key in _NAMES if key != "maintenance_db"})
]


def _template_of(database: str) -> str:
    """The database that a planned one is to be a copy of."""
    for chunk in here.chunks:
        if (chunk.function, chunk.name) == ("postgres_database.present", database):
            template = str(chunk.args.get("template") or TEMPLATE)
            if template not in ("template0", database):  # nobody connects to template0
                return template
    return TEMPLATE


TEMPLATE = "template1"


class AskedServer(PostgresServer):
    """A server as functions for templates ask it: one that cannot be reached, or a database that is
    not there (yet), has nothing, as with Salt. Else the tree of a machine that is yet to get its
    server could not be compiled.
    """

    def select(self, query: str, new: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
        try:
            return super().select(query, new)
        except CommandFailed as failure:
            if any(kind in ("service", "postgres_database") for kind, _ in failure.missing):
                return []
            raise


@changer(touches=[])
def change(server: PostgresServer, statements: tuple[str, ...]) -> None:
    """Carry out statements. Raises StateFailed with what the server says."""
    _psql(server, "\n".join(f"{statement};" for statement in statements))


def option(name: str) -> Any:
    """A setting of the configuration for the server: postgres.host, postgres.user, ..."""
    return here.opts.get(f"postgres.{name}")


def _psql(server: PostgresServer, text: str) -> str:
    host = server.host or option("host")
    argv = [
        _program(),
        "--no-align",
        "--tuples-only",
        "--no-readline",
        "--no-psqlrc",
        "--no-password",
        "--quiet",
    ]
    argv += ["--set=ON_ERROR_STOP=1"]
    port, name = server.port or option("port"), server.user or option("user")
    argv += [f"--host={host}"] if host else []
    argv += [f"--port={port}"] if port else []
    argv += [f"--username={name}"] if name else []
    argv += [f"--dbname={server.database or option('maintenance_db') or 'postgres'}", "--file=-"]
    runas = _runas(server, host)
    password = server.password or option("pass")
    env = {"PGPASSWORD": password, **cmd.LOCALE} if password else dict(cmd.LOCALE)
    env.setdefault(TIMEOUT, os.environ.get(TIMEOUT, str(CONNECT_SECONDS)))
    done = cmd.complete(argv, stdin=text, runas=runas, env=env, cwd="/", python_shell=False)
    if done.retcode:
        raise _failure(done.error_text)
    return done.stdout


def _program() -> str:
    folder = option("bins_dir")
    program = os.path.join(folder, "psql") if folder else cmd.which("psql")
    if not program or not _paths.exists(program):
        raise CommandFailed(
            "psql is not installed: PostgreSQL's client is needed", missing=("command", "psql")
        )
    return program


def _runas(server: PostgresServer, host: str | None) -> str | None:
    """A local server takes the user of the system at his word: postgres."""
    if server.runas or os.geteuid() != 0:
        return server.runas
    return "postgres" if is_local(host) else None


def _failure(output: str) -> CommandFailed:
    """The error of psql, without the names of our files; what is missing may be made by a state
    before this one.
    """
    missing = re.search(r'FATAL:  (database "(.*)" does not exist)', output)
    if missing:
        return CommandFailed(missing[1], missing=("postgres_database", missing[2]))
    _, mark, rest = output.partition("ERROR:  ")
    if mark:
        return CommandFailed(rest.strip())
    down = any(word in output for word in _UNREACHABLE)
    text = output.removeprefix("psql: ").removeprefix("error: ")
    return CommandFailed(text, missing=("service", "postgresql") if down else None)


_UNREACHABLE = (
    "Connection refused",
    "No such file or directory",
    "starting up",
    "could not translate host name",
    "No route to host",
    "Network is unreachable",
    "timeout expired",
)


def name(identifier: str) -> str:
    """An identifier, quoted."""
    return '"' + identifier.replace('"', '""').replace("\0", "") + '"'


def literal(value: object) -> str:
    """A text, quoted."""
    return "'" + str(value).replace("'", "''").replace("\0", "") + "'"
