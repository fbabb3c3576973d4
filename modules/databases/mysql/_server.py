# SPDX-License-Identifier: Apache-2.0
"""Talking to a MariaDB or MySQL server, with its client program."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from html import unescape
from typing import Annotated, Any

from modules import cmd, file
from modules._texts.lines import one_line
from modules.databases._new_server import CONNECT_SECONDS, is_local, is_new
from modules.databases._words import longer_than
from runner.api import (
    AbsolutePath,
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
)

Row = dict[str, str | None]
# our own statements quote by doubling alone; the client is told so as well as the server
QUOTING = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')"


class MysqlServer(Record):
    """The connection: which server, and as whom.

    What the configuration does not have either is the client's own default: the local socket, and
    the name of the user who runs it.

    host: The server; without it mysql.host of the configuration.
    port: The port of the server; without it mysql.port of the configuration.
    user: The account to log in with; without it mysql.user of the configuration.
    password: The password of connection_user; without it mysql.pass of the configuration.
    db: The database to connect to; without it mysql.db of the configuration.
    unix_socket: The socket of the server; without it mysql.unix_socket of the configuration.
    default_file: The option file that the client reads; without it mysql.default_file of the
      configuration.
    default_group: The group of the option file; without it mysql.default_group of the
      configuration.
    charset: The character set of the connection; without it mysql.charset of the configuration.
    """

    host: Line | None = None
    port: int | Line | None = None
    user: Line | None = None
    password: Secret[Line] | None = None
    db: Line | None = None
    unix_socket: Line | None = None
    default_file: AbsolutePath | None = None
    default_group: Line | None = None
    charset: Name | None = None

    def within(self, database: str) -> MysqlServer:
        """The same server, with another database in use."""
        return self._replace(db=database)

    def select(self, query: str) -> list[Row]:
        """The rows that a look answers with. Raises CommandFailed with what the server says."""
        return [row for rows in self.look(query) for row in rows]

    def look(self, *queries: str) -> list[list[Row]]:
        """The rows of each of several looks."""
        if is_local(self.host or option("host")) and is_new(PROGRAMS, DATA):
            return [[] for _ in queries]
        text = "".join(f"{query};\n" for query in queries)
        return [[dict(row) for row in rows] for rows in parse(_client(self, text, QUOTING))]

    def execute(self, *statements: str) -> None:
        """Carry out statements, one after the other (only while changing)."""
        change(self, statements)


PROGRAMS = ("/usr/sbin/mariadbd", "/usr/sbin/mysqld", "/usr/libexec/m*d", "/usr/bin/mariadbd")
DATA = ("/var/lib/mysql/mysql",)
# by the names that Salt's states and functions have for it
FIELDS = {
    "connection_host": "host",
    "connection_port": "port",
    "connection_user": "user",
    "connection_pass": "password",
    "connection_db": "db",
    "connection_unix_socket": "unix_socket",
    "connection_default_file": "default_file",
    "connection_default_group": "default_group",
    "connection_charset": "charset",
}
Connection = Annotated[MysqlServer, Group(FIELDS)]
DatabaseName = Annotated[NonEmptyLine, Check(longer_than(64))]


class TolerantServer(MysqlServer):
    """A server as functions for templates ask it: one that cannot be reached has nothing, as with
    Salt. Else the tree of a machine that is yet to get its server could not be compiled.
    """

    def look(self, *queries: str) -> list[list[Row]]:
        try:
            return super().look(*queries)
        except CommandFailed as failure:
            if failure.missing:
                here.warn(failure.message)
                return [[] for _ in queries]
            raise


@changer(touches=[])
def change(server: MysqlServer, statements: tuple[str, ...]) -> None:
    """Carry out statements. Raises CommandFailed with what the server says."""
    _client(server, "".join(f"{statement};\n" for statement in statements), QUOTING)


@changer(touches=[])
def run_script(server: MysqlServer, text: str) -> list[list[list[tuple[str, str | None]]]]:
    """The rows of each result of statements that somebody wrote, in the server's own SQL mode."""
    return parse(_client(server, text, None))


def option(name: str) -> Any:
    """A setting of the configuration for the server: mysql.host, mysql.user, ..."""
    return here.opts.get(f"mysql.{name}")


def parse(xml: str) -> list[list[list[tuple[str, str | None]]]]:
    """The results in the client's XML: rows of columns and values.

    A value may have characters that XML does not allow, so this is no XML parser: the client
    escapes the four characters that matter.
    """
    return [
        [
            [(unescape(field[1]), _value(field[2])) for field in _FIELD.finditer(row)]
            for row in _ROW.findall(body)
        ]
        for body in _RESULT.findall(xml)
    ]


_RESULT = re.compile(r'<resultset statement="[^"]*"[^>]*>(.*?)</resultset>', re.DOTALL)
_ROW = re.compile(r"<row>(.*?)</row>", re.DOTALL)
_FIELD = re.compile(r'<field name="([^"]*)"(?: xsi:nil="true" />|>([^<]*)</field>)')


def _value(text: str | None) -> str | None:
    return None if text is None else unescape(text)


def _client(server: MysqlServer, text: str, first: str | None) -> str:
    program = _program()
    password = server.password if server.password is not None else option("pass")
    path = server.default_file or option("default_file")
    if path and not file.is_file(path):
        raise CommandFailed(f"There is no option file {path}", missing=("file", path))
    with contextlib.ExitStack() as stack:
        if path and password:
            path = stack.enter_context(_with_password(path, str(password)))
        argv = [program, *_options(server, path), "--batch", "--xml", "--binary-mode"]
        argv += [f"--init-command={first}"] if first else []
        # never on the command line, where every user of the machine could read it
        env = {**cmd.LOCALE, "MYSQL_PWD": str(password)} if password else dict(cmd.LOCALE)
        done = cmd.complete(argv, stdin=text, env=env, cwd="/", python_shell=False)
    if done.retcode:
        raise _failure(done.error_text, server)
    return done.stdout


def _options(server: MysqlServer, path: str | None) -> list[str]:
    """The words that say where and as whom; the first of them must be the option file."""
    words = [f"--defaults-file={path}"] if path else ["--no-defaults"]
    group = server.default_group or option("default_group")
    words += [f"--defaults-group-suffix={_suffix(group)}"] if path and group else []
    values = {
        "connect-timeout": CONNECT_SECONDS,
        "host": server.host or option("host"),
        "port": server.port or option("port"),
        "user": server.user or option("user"),
        "socket": server.unix_socket or option("unix_socket"),
        "database": server.db or option("db"),
        "default-character-set": server.charset
        or option("charset")
        or (None if path else "utf8mb4"),
    }
    return words + [f"--{name}={value}" for name, value in values.items() if value]


def _suffix(group: str) -> str:
    """The ending of a group's name: the client reads [client] and [mysql], and those with it."""
    for start in ("client", "mysql"):
        if group.startswith(start):
            return group.removeprefix(start)
    raise CommandFailed(
        f"The group {group} of an option file is not read: its name begins with client or mysql"
    )


@contextlib.contextmanager
def _with_password(path: str, password: str) -> Iterator[str]:
    """A private option file that has everything of another one, and this password: one in an option
    file is stronger than the environment. It lies in memory, so nothing of it can stay.
    """
    text = password.replace("\\", "\\\\").replace('"', '\\"')
    descriptor = os.memfd_create("options")
    try:
        os.fchmod(descriptor, 0o600)  # the client ignores a file that others may write
        os.write(
            descriptor,
            f'!include {one_line(path, "the path")}\n[client]\npassword="{text}"\n'.encode(),
        )
        yield f"/proc/{os.getpid()}/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _program() -> str:
    program = cmd.which("mariadb") or cmd.which("mysql")
    if not program:
        raise CommandFailed(
            "Neither mariadb nor mysql is installed: the client of the server is needed",
            missing=("command", "mysql"),
        )
    return program


def _failure(output: str, server: MysqlServer) -> CommandFailed:
    """The error of the client; what is missing may be made by a state before this one."""
    match = re.search(r"ERROR (\d+)(?: \(\w+\))?(?: at line \d+)?: (.*)", output, re.DOTALL)
    if not match:
        return CommandFailed(output)
    code, message = int(match[1]), f"MySQL Error {match[1]}: {match[2].strip()}"
    if code in _UNREACHABLE:
        return CommandFailed(message, missing=[("service", name) for name in SERVICES])
    if code in _DENIED:
        user = server.user or option("user") or os.environ.get("USER", "root")
        return CommandFailed(f"{message}: {LOGIN_HINT}", missing=("mysql_user", str(user)))
    if code == _NO_DATABASE:
        return CommandFailed(message, missing=("mysql_database", server.db or str(option("db"))))
    return CommandFailed(message)


LOGIN_HINT = (
    "connection_user and connection_pass say how to log in, or mysql.user and mysql.pass of the"
    " configuration"
)
SERVICES = ("mariadb", "mysql", "mysqld")
_UNREACHABLE = (2002, 2003, 2005, 2006, 2013)
_DENIED = (1045, 1698)
_NO_DATABASE = 1049


def name(identifier: str) -> str:
    """An identifier, quoted."""
    return "`" + identifier.replace("`", "``").replace("\0", "") + "`"


def literal(value: object) -> str:
    """A text, quoted for a session without escapes by backslash."""
    return "'" + str(value).replace("'", "''").replace("\0", "") + "'"


def account(user: str, host: str) -> str:
    """An account as statements name it."""
    return f"{literal(user)}@{literal(host)}"
