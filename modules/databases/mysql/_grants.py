# SPDX-License-Identifier: Apache-2.0
"""Rights of MariaDB and MySQL: what an account has, and the statements that change it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from modules.databases._words import unknown_right
from modules.databases.mysql._server import MysqlServer, account, name
from runner.api import Record, StateFailed, for_states

ALL = "ALL PRIVILEGES"
_IDENTIFIER = r"`(?:[^`]|``)*`|[^`.\s()]+"
_LEVEL = re.compile(
    rf"(?:(TABLE|FUNCTION|PROCEDURE)\s+)?(\*|{_IDENTIFIER})\.(\*|{_IDENTIFIER})", re.IGNORECASE
)
_KIND = re.compile(r"(?:(TABLE|FUNCTION|PROCEDURE)\s+)?(.*)", re.IGNORECASE)
_RIGHT = re.compile(r"([A-Za-z][A-Za-z _]*?)\s*(?:\(([^()]*)\))?")
_LINE = re.compile(r"GRANT (.*?) ON (.*?) TO [`'](?:.*)", re.DOTALL)
_NAME = re.compile(_IDENTIFIER)
# one right, several names: the one that every server knows, or prints
_ALIASES = {
    "ALL": ALL,
    "BINLOG MONITOR": "REPLICATION CLIENT",
    "SHOW MASTER STATUS": "REPLICATION CLIENT",
    "REPLICA MONITOR": "SLAVE MONITOR",
    "REPLICATION REPLICA": "REPLICATION SLAVE",
    "REPLICATION REPLICA ADMIN": "REPLICATION SLAVE ADMIN",
    "DELETE VERSIONING ROWS": "DELETE HISTORY",
    "CREATE TEMPORARY TABLE": "CREATE TEMPORARY TABLES",
}


# of MySQL 8 and MariaDB 11; what has an underscore comes with components of MySQL
_STATIC = """
    ALTER, ALTER ROUTINE, BINLOG ADMIN, BINLOG REPLAY, CONNECTION ADMIN, CREATE, CREATE ROLE,
    CREATE ROUTINE, CREATE TABLESPACE, CREATE USER, CREATE VIEW, DELETE, DELETE HISTORY, DROP,
    DROP ROLE, EVENT, EXECUTE, FEDERATED ADMIN, FILE, GRANT OPTION, INDEX, INSERT, LOCK TABLES,
    PROCESS, PROXY, READ ONLY ADMIN, REFERENCES, RELOAD,
    REPLICATION MASTER ADMIN, SELECT, SET USER, SHOW CREATE ROUTINE, SHOW DATABASES, SHOW VIEW,
    SHUTDOWN, SLAVE MONITOR, SUPER, TRIGGER, UPDATE, USAGE
"""
KNOWN = {" ".join(word.split()) for word in _STATIC.split(",")}
KNOWN |= _ALIASES.keys() | {*_ALIASES.values()}
_EVERYWHERE = {"USAGE", ALL}
_OF_ROUTINES = {"EXECUTE", "ALTER ROUTINE", "SHOW CREATE ROUTINE"}
_OF_TABLES = set(
    "SELECT,INSERT,UPDATE,DELETE,CREATE,DROP,REFERENCES,INDEX,ALTER,CREATE VIEW,SHOW VIEW,TRIGGER,"
    "DELETE HISTORY".split(",")
)
_OF_SCHEMAS = {"CREATE TEMPORARY TABLES", "LOCK TABLES", "CREATE ROUTINE", "EVENT"}
_OF_DATABASES = _OF_TABLES | _OF_ROUTINES | _OF_SCHEMAS


@for_states
def misplaced(given: Rights, on: Level) -> str | None:
    """What is wrong with rights on something that has no such rights, if anything."""
    wrong = [right for right in given.names if right not in on.rights | _EVERYWHERE]
    if on.database == "*" or not wrong:
        return None
    if wrong[0] not in _OF_DATABASES:
        return f"{wrong[0]} is a right on the whole server: write `- database: '*.*'`"
    whole = f"on a whole database: write `- database: {on.database}.*`"
    if wrong[0] in _OF_ROUTINES:
        whole += f", or for one routine `- database: PROCEDURE {on.database}.{on.thing}`"
    return f"{wrong[0]} is no right on a {on.kind.lower() or 'table'}, but {whole}"


@for_states
def rights_problem(text: str) -> str | None:
    """What is wrong with rights as somebody wrote them, if anything."""
    try:
        given = rights(text).names
    except StateFailed as failure:
        return failure.message
    odd = [word for word in given if word not in KNOWN and "_" not in word]
    return unknown_right(odd[0], KNOWN) if odd else None


class Level(Record):
    """The object that rights are on. kind: empty, FUNCTION or PROCEDURE. database, thing: as they
    are, without quotes; * for all of them. pattern: the database as it is kept, where it is a
    pattern.
    """

    kind: str
    database: str
    thing: str

    @property
    def text(self) -> str:
        """As GRANT names it."""
        parts = [part if part == "*" else name(part) for part in (self.database, self.thing)]
        return f"{self.kind} {'.'.join(parts)}".strip()

    @property
    def rights(self) -> set[str]:
        """The rights that there are on it, below the whole server."""
        return _OF_ROUTINES if self.kind else _OF_DATABASES if self.thing == "*" else _OF_TABLES


def level(database: str, escape: bool = True) -> Level:
    """Return what a state's `database` means: *.*, db.*, db.table.

    escape: the names are taken as they are; else the text is SQL, where % and _ in the name of a
    database are wildcards. Raises StateFailed for what is none of these.
    """
    if not escape:
        match = _LEVEL.fullmatch(database.strip())
        if not match:
            raise StateFailed(f"database: expected `db`.`table`, `db`.* or *.*, not {database}")
        kind = (match[1] or "").upper().replace("TABLE", "")
        return Level(kind, _unquoted(match[2]), _unquoted(match[3]))
    kind, plain = _split(database)
    first, dot, thing = plain.rpartition(".")
    if not dot or not first or not thing:
        raise StateFailed(f"database: expected db.table, db.* or *.*, not {database}")
    if thing == "*" and first != "*":
        first = re.sub(r"([\\_%])", r"\\\1", first)
    return Level(kind.upper().replace("TABLE", ""), first, thing)


def _split(text: str) -> tuple[str, str]:
    """`PROCEDURE db.name` as its two parts; the first may be missing."""
    match = _KIND.fullmatch(text.strip())
    return (match[1] or "", match[2]) if match else ("", text)


@for_states
def database_of(text: str) -> str:
    """The name of the database in what rights are on, as it is written."""
    return _split(text)[1].rpartition(".")[0]


def _unquoted(identifier: str) -> str:
    if identifier.startswith("`"):
        return identifier[1:-1].replace("``", "`")
    return identifier


class Rights(Record):
    """Rights on one level. names: each with the columns it is limited to, None for all. grant: they
    may be passed on.
    """

    names: dict[str, frozenset[str] | None]
    grant: bool = False

    def has(self, right: str, columns: frozenset[str] | None) -> bool:
        """Return whether a right is among them."""
        if right == "USAGE" or ALL in self.names:
            return True
        if right not in self.names:
            return False
        own = self.names[right]
        return own is None or (columns is not None and columns <= own)

    @property
    def text(self) -> str:
        """As GRANT names them."""
        return ", ".join(
            f"{right} ({', '.join(name(column) for column in sorted(columns))})"
            if columns
            else right
            for right, columns in self.names.items()
        )


NOTHING = Rights({})


def rights(text: str) -> Rights:
    """Rights as somebody wrote them: `select, insert (a, b)`; `grant option` among them, too.

    Raises StateFailed for what cannot be a right.
    """
    names: dict[str, frozenset[str] | None] = {}
    for part in re.split(r",(?![^(]*\))", text):
        match = _RIGHT.fullmatch(part.strip())
        if not match:
            raise StateFailed(f"Invalid grant: {part.strip() or 'nothing'}")
        word = " ".join(match[1].upper().split())
        columns = _NAME.findall(match[2].replace(",", " ")) if match[2] else []
        names[_ALIASES.get(word, word)] = frozenset(map(_unquoted, columns)) or None
    grant = names.pop("GRANT OPTION", _ABSENT) is not _ABSENT
    if ALL in names:
        names = {ALL: None}
    return Rights(names, grant)


_ABSENT: frozenset[str] = frozenset({"\0"})


def lines(server: MysqlServer, user: str, host: str) -> list[str]:
    """Return what SHOW GRANTS says of an account, which must be there."""
    rows = server.select(f"SHOW GRANTS FOR {account(user, host)}")
    return [value for row in rows for value in row.values() if value]


def held(grants: Iterable[str], on: Level) -> Rights:
    """The rights that an account has on a level, from the lines of SHOW GRANTS."""
    names: dict[str, frozenset[str] | None] = {}
    grant = False
    for line in grants:
        match = _LINE.fullmatch(line)
        place = _LEVEL.fullmatch(match[2]) if match else None
        if not match or not place:
            continue  # a role, or the right to act for another account
        kind = (place[1] or "").upper().replace("TABLE", "")
        if Level(kind, _unquoted(place[2]), _unquoted(place[3])) == on:
            names |= rights(match[1]).names
            grant = grant or line.endswith(" WITH GRANT OPTION")
    names.pop("USAGE", None)
    return Rights(names, grant)


def granting(user: str, host: str, on: Level, wanted: Rights) -> str:
    """The statement that gives rights to an account."""
    passing = " WITH GRANT OPTION" if wanted.grant else ""
    return f"GRANT {wanted.text or 'USAGE'} ON {on.text} TO {account(user, host)}{passing}"


def revoking(user: str, host: str, on: Level, unwanted: Rights) -> list[str]:
    """The statements that take rights from an account."""
    whom = f"ON {on.text} FROM {account(user, host)}"
    return [
        *([f"REVOKE {unwanted.text} {whom}"] if unwanted.names else []),
        *([f"REVOKE GRANT OPTION {whom}"] if unwanted.grant else []),
    ]
