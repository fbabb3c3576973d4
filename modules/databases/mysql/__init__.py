# SPDX-License-Identifier: Apache-2.0
"""MariaDB and MySQL: what the mysql_* states look at and change, and Salt's functions for
templates.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

from modules import _paths
from modules.databases.mysql._grants import (
    NOTHING,
    Level,
    Rights,
    database_of,
    granting,
    held,
    level,
    misplaced,
    revoking,
    rights_problem,
)
from modules.databases.mysql._grants import lines as grant_lines
from modules.databases.mysql._grants import rights as read_rights
from modules.databases.mysql._server import (
    SERVICES,
    Connection,
    DatabaseName,
    MysqlServer,
    TolerantServer,
    account,
    literal,
    name,
    run_script,
)
from modules.databases.mysql._users import (
    ChosenLogin,
    Host,
    Login,
    accounts,
    alteration,
    creation,
    hash_problem,
    native_hash,
    requirement,
)
from modules.databases.mysql._users import find as find_account
from runner.api import CommandFailed, Group, StateFailed, changer, here

ASKED = TolerantServer()
_NAMES = {field.removeprefix("allow_"): field for field in Login._fields}
AskedLogin = Annotated[Login, Group(_NAMES)]


@changer(touches=[])
def query(database: str, query: str, server: Connection = ASKED) -> dict[str, Any]:
    """Run a query in a database: columns, rows and their number; of a change, the rows affected.

    runner call mysql.query app 'SELECT id, name FROM users LIMIT 3'
    """
    return executed(server.within(database), query)


@changer(touches=[])
def file_query(database: str, file_name: str, server: Connection = ASKED) -> dict[str, Any]:
    """Run the statements of a file (salt:// too) in a database. The answer is that of mysql.query.

    runner call mysql.file_query app salt://db/schema.sql
    """
    return executed(server.within(database), script_text(file_name, here.saltenv))


def script_text(path: str, saltenv: str) -> str:
    """The statements of a file. Raises CommandFailed where there is none."""
    local = _paths.fetched(path, saltenv)
    if local is None:
        raise CommandFailed(f"There is no file {path}", missing=("file", path))
    return _paths.read_text(local)


def executed(server: MysqlServer, text: str) -> dict[str, Any]:
    """The answer of statements, of the last one that has rows: as Salt's mysql.query gives it."""
    begin = time.monotonic()
    statement = text.rstrip().rstrip(";")
    # the count belongs to the connection, so it is asked for in the same one
    results = run_script(server, f"{statement}\n;\nSELECT ROW_COUNT() AS rows_affected;\n")
    taken = time.monotonic() - begin
    answer: dict[str, Any] = {"query time": {"human": _human(taken), "raw": f"{taken:.5f}"}}
    if len(results) > 1:
        rows = results[-2]
        columns = [column for column, _ in rows[0]] if rows else []
        answer |= {"rows returned": len(rows), "columns": columns}
        return answer | {"results": [[value for _, value in row] for row in rows]}
    return answer | {"rows affected": max(0, int(results[-1][0][0][1] or 0))}


def _human(seconds: float) -> str:
    return f"{seconds:.2f}s" if seconds > 1 else f"{seconds * 1000:.1f}ms"


def status(server: Connection = ASKED) -> dict[str, str | None]:
    """The server's counters, by name (SHOW STATUS)."""
    rows = server.select("SHOW STATUS")
    return {str(row["Variable_name"]): row["Value"] for row in rows}


def version(server: Connection = ASKED) -> str:
    """The server's version; empty when it does not answer.

    {{ salt['mysql.version']() }}
    """
    rows = server.select("SELECT VERSION() AS v")
    return str(rows[0]["v"]) if rows else ""


# ---------------------------------------------------------------- databases


def db_list(server: Connection = ASKED) -> list[str]:
    """The names of the databases.

    {{ salt['mysql.db_list'](connection_user='root') }}
    """
    rows = server.select("SHOW DATABASES")
    return [str(value) for row in rows for value in row.values()]


def db_exists(name: str, server: Connection = ASKED) -> bool:
    """Return whether there is a database.

    {{ salt['mysql.db_exists']('app') }}
    """
    return name in db_list(server)


def db_get(name: str, server: Connection = ASKED) -> dict[str, Any]:
    """The character set and the collation of a database; empty when there is none."""
    rows = server.select(
        "SELECT SCHEMA_NAME AS n, DEFAULT_CHARACTER_SET_NAME AS c, DEFAULT_COLLATION_NAME AS o"
        f" FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {literal(name)}"
    )
    own = [row for row in rows if row["n"] == name]
    return {"character_set": own[0]["c"], "collate": own[0]["o"]} if own else {}


def db_tables(name: str, server: Connection = ASKED) -> list[str]:
    """The tables of a database; none when there is no such database."""
    rows = server.select(
        "SELECT TABLE_NAME AS t FROM information_schema.TABLES WHERE TABLE_SCHEMA ="
        f" {literal(name)}"
    )
    return [str(row["t"]) for row in rows]


def _settings(character_set: str | None, collate: str | None) -> str:
    words = f" CHARACTER SET {literal(character_set)}" if character_set else ""
    return words + (f" COLLATE {literal(collate)}" if collate else "")


@changer(touches=[])
def db_create(
    name: str,
    character_set: str | None = None,
    collate: str | None = None,
    server: Connection = ASKED,
) -> bool:
    """Make a database; False when there is one of this name.

    runner call mysql.db_create app character_set=utf8mb4
    """
    if db_exists(name, server):
        return False
    words = _settings(character_set, collate)
    server.execute(f"CREATE DATABASE {_quoted(name)}{words}")
    return True


@changer(touches=[])
def alter_db(
    name: str,
    character_set: str | None = None,
    collate: str | None = None,
    server: Connection = ASKED,
) -> bool:
    """Change the character set or the collation of a database, or of all that there are: name *."""
    words = _settings(character_set, collate)
    own = ("information_schema", "performance_schema", "mysql", "sys")
    names = (
        [database for database in db_list(server) if database not in own] if name == "*" else [name]
    )
    statements = tuple(f"ALTER DATABASE {_quoted(database)}{words}" for database in names)
    server.execute(*statements)
    return True


@changer(touches=[])
def db_remove(name: str, server: Connection = ASKED) -> bool:
    """Remove a database with all that is in it; False when there is none of this name."""
    if not db_exists(name, server):
        return False
    server.execute(f"DROP DATABASE {_quoted(name)}")
    return True


_quoted = name


# ---------------------------------------------------------------- accounts


def user_list(server: Connection = ASKED) -> list[dict[str, str]]:
    """The accounts: User and Host."""
    return accounts(server)


def user_exists(
    user: str,
    host: str = "localhost",
    login: AskedLogin = Login(),
    server: Connection = ASKED,
) -> bool:
    """Return whether there is an account; where one of them is given, whether it has this password
    or hash, needs none (passwordless), or is that of the system's user (unix_socket).

    {{ salt['mysql.user_exists']('app', 'localhost') }}
    """
    there, mariadb = find_account(server, user, host)
    if there is None or (
        login.passwordless and not (login.allow_passwordless or login.unix_socket)
    ):
        return there is not None
    return login.agrees(there.methods, mariadb)


def user_info(
    user: str, host: str = "localhost", server: Connection = ASKED
) -> dict[str, Any] | bool:
    """Return what the table of users says of an account; False when there is none."""
    rows = server.select(
        f"SELECT * FROM mysql.user WHERE User = {literal(user)} AND Host = {literal(host)}"
    )
    return next((dict(row) for row in rows if row["User"] == user), False)


@changer(touches=[])
def user_create(
    user: str,
    host: str = "localhost",
    login: ChosenLogin = Login(),
    server: Connection = ASKED,
) -> bool:
    """Make an account; False when there is one of this name and host.

    runner call mysql.user_create app localhost password=secret
    """
    login.refuse_passwordless()
    there, mariadb = find_account(server, user, host)
    if there is not None:
        return False
    server.execute(creation(user, host, login, mariadb))
    return True


@changer(touches=[])
def user_chpass(
    user: str,
    host: str = "localhost",
    login: ChosenLogin = Login(),
    server: Connection = ASKED,
) -> bool:
    """Change how an account logs in; False when there is none of this name and host."""
    login.refuse_passwordless()
    there, _ = find_account(server, user, host)
    if there is None:
        return False
    server.execute(alteration(there, login))
    return True


@changer(touches=[])
def user_remove(user: str, host: str = "localhost", server: Connection = ASKED) -> bool:
    """Remove an account; False when there is none of this name and host."""
    if find_account(server, user, host)[0] is None:
        return False
    server.execute(f"DROP USER {account(user, host)}")
    return True


# ---------------------------------------------------------------- rights


def user_grants(user: str, host: str = "localhost", server: Connection = ASKED) -> list[str] | bool:
    """Return what SHOW GRANTS says of an account, without its password; False without one."""
    if find_account(server, user, host)[0] is None:
        return False
    return [line.partition(" IDENTIFIED ")[0] for line in grant_lines(server, user, host)]


def grant_exists(
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    server: Connection = ASKED,
) -> bool:
    """Return whether an account has rights on a database or a table.

    {{ salt['mysql.grant_exists']('SELECT,INSERT', 'app.*', 'app', 'localhost') }}
    """
    wanted, on = read_rights(grant), level(database, escape)
    if find_account(server, user, host)[0] is None:
        return False
    own = held(grant_lines(server, user, host), on)
    granted = all(own.has(right, columns) for right, columns in wanted.names.items())
    return granted and (own.grant or not (grant_option or wanted.grant))


@changer(touches=[])
def grant_add(
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    ssl_option: Any = False,
    server: Connection = ASKED,
) -> bool:
    """Give an account rights on a database or a table.

    runner call mysql.grant_add 'SELECT,INSERT' 'app.*' app localhost
    """
    read = read_rights(grant)
    wanted = Rights(read.names, read.grant or grant_option)
    tls = tls_wanted(ssl_option)
    more = (requirement(user, host, tls),) if tls else ()
    first = granting(user, host, level(database, escape), wanted)
    server.execute(first, *more)
    return True


@changer(touches=[])
def grant_revoke(
    grant: str,
    database: str,
    user: str,
    host: str = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    server: Connection = ASKED,
) -> bool:
    """Take rights on a database or a table from an account."""
    read = read_rights(grant)
    unwanted = Rights(read.names, read.grant or grant_option)
    statements = revoking(user, host, level(database, escape), unwanted)
    server.execute(*statements)
    return True


def tls_wanted(option: Any) -> dict[str, str]:
    """Return what ssl_option asks of connections: SSL, X509, or SUBJECT, ISSUER and CIPHER with
    values.

    Raises StateFailed for what is none of these.
    """
    given = option if isinstance(option, list) else [option] if option else []
    words: dict[str, Any] = {}
    for part in given:
        pairs: Any = part.items() if isinstance(part, dict) else [(part, True)]
        words |= {str(key).upper(): value for key, value in pairs if value is not False}
    plain = {word for word in words if word in ("SSL", "X509")}
    if words.keys() - plain - {"SUBJECT", "ISSUER", "CIPHER"} or (plain and len(words) > 1):
        raise StateFailed(
            "ssl_option: expected SSL, X509, or a list of SUBJECT, ISSUER and CIPHER with values"
        )
    return {word: "" if word in plain else str(value) for word, value in words.items()}


def quote_identifier(identifier: str, for_grants: bool = False) -> str:
    """A name, quoted for a statement. for_grants: % and _ are no wildcards.

    {{ salt['mysql.quote_identifier']('my`db') }}
    """
    quoted = name(identifier)
    return quoted.replace("_", "\\_").replace("%", "\\%") if for_grants else quoted


def databases(server: MysqlServer, wanted: str | None = None) -> dict[str, dict[str, Any]]:
    """The databases by name, with character set and collation. wanted: this one only."""
    where = f" WHERE SCHEMA_NAME = {literal(wanted)}" if wanted is not None else ""
    rows = server.select(
        "SELECT SCHEMA_NAME AS name, DEFAULT_CHARACTER_SET_NAME AS character_set,"
        f" DEFAULT_COLLATION_NAME AS `collate` FROM information_schema.SCHEMATA{where}"
    )
    return {str(row["name"]): row for row in rows if wanted is None or row["name"] == wanted}
