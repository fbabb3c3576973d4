# SPDX-License-Identifier: Apache-2.0
"""Rights of the accounts of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from modules.databases import mysql
from modules.databases.mysql import Connection, Host, Level, MysqlServer, Rights
from runner.api import Check, Line, NameOrEmpty, Planned, StateFailed, promised
from runner.api.claims import PART, Claim, Trap
from runner.api.kinds import Kind, Wording
from runner.api.opposite import Opposite
from states.databases._mysql import REASON, SERVER, TOLD_APART_BY, whole_account

Database = Annotated[
    Line,
    Check(
        lambda text: None if all(text.rpartition(".")) else "expected db.table, db.* or *.*",
        "`- database: app.*` means all tables of app",
    ),
]
RightsLine = Annotated[
    Line,
    Check(mysql.rights_problem, "write rights as GRANT names them, with commas between several"),
]
GRANT = Kind(
    "grant {what}",
    Wording(
        "{Title} to {whom} is already present",
        "MySQL grant {name} is set to be created",
        "{Title} to {whom} has been added",
        'Failed to execute: "GRANT {sql} TO {whom}"',
        {"{name}": "Present"},
    ),
    removed=Wording(
        "{Title} to {whom} is not present, so it cannot be revoked",
        "MySQL grant {name} is set to be revoked",
        "{Title} for {whom} has been revoked",
        "Unable to revoke {title} for {whom}",
        {"{name}": "Absent"},
    ),
    reason=REASON,
)


def traps(
    fun: str,
    name: str,
    database: object = None,
    user: object = "",
    host: object = None,
    escape: object = True,
    **_: object,
) -> Iterator[Trap]:
    """A name with a wildcard, or with what keeps one from being one, that is taken as it is; an
    account as SQL names it.
    """
    yield from whole_account("user", str(user), host)
    first = mysql.database_of(str(database))
    if escape and ("%" in first or "\\" in first):
        message = f"database: the rights are on a database that is called {first}"
        yield Trap("database", message, "with `- escape: false` % and _ are wildcards, but for \\_")


def present(
    name: Line,
    grant: RightsLine,
    database: Database,
    user: NameOrEmpty,
    host: Host = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    revoke_first: bool = False,
    ssl_option: Any = False,
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that an account has rights.

    name: Names the state.
    grant: The rights, separated by commas: select, insert (name), all privileges.
    database: What the rights are on: `db.*`, `db.table`, `PROCEDURE db.name` or `*.*`.
    user: The user of the account.
    host: The host of the account, as mysql_user.present has it.
    grant_option: The account may pass the rights on.
    escape: The names are meant as they are; false for a database in SQL, where % and _ are
      wildcards.
    revoke_first: Take all other rights on this away.
    ssl_option: What connections of the account must have: SSL, X509, or a list of SUBJECT, ISSUER
      and CIPHER with values.

        app may read and write:
          mysql_grants.present:
            - grant: select,insert,update
            - database: app.*
            - user: app

    Behaviour: Salt 3007's mysql_grants.present; several rights that an account has in several
    grants count, too.
    """
    given, on = mysql.read_rights(grant), mysql.level(database, escape)
    if problem := mysql.misplaced(given, on):
        raise StateFailed(f"grant: {problem}")
    wanted = Rights(given.names, given.grant or grant_option)
    account, _ = mysql.find_account(server, user, host)
    if account is None and not promised("mysql_user", user):
        raise StateFailed(f"There is no user {user}@{host}", missing=("mysql_user", user))
    own = mysql.held(mysql.grant_lines(server, user, host), on) if account else mysql.NOTHING
    statements = _granting(user, host, on, own, wanted, exactly=revoke_first)
    tls = mysql.tls_wanted(ssl_option)
    if tls and (account is None or tls != account.tls):
        statements.append(mysql.requirement(user, host, tls))
    if statements:
        _require_object(server, on, wanted)
    what, whom = f"{grant} on {database}", f"{user}@{host}"
    execute = partial(server.execute, *statements)
    about = {"name": name, "what": what, "whom": whom, "sql": f"{grant} ON {database}"}
    return GRANT.present(not statements, execute, **about)


def _require_object(server: MysqlServer, on: Level, wanted: Rights) -> None:
    """Raise StateFailed for a table or routine that is not there: rights on a table that is yet to
    come can be given with that to create it.
    """
    creates = {"CREATE", "ALL PRIVILEGES"} & wanted.names.keys() and not any(wanted.names.values())
    if "*" in (on.database, on.thing) or (creates and not on.kind):
        return
    what, more = ("ROUTINE", f" AND ROUTINE_TYPE = '{on.kind}'") if on.kind else ("TABLE", "")
    rows = server.select(
        f"SELECT COUNT(*) AS there FROM information_schema.{what}S WHERE"
        f" {what}_SCHEMA = {mysql.literal(on.database)}"
        f" AND {what}_NAME = {mysql.literal(on.thing)}{more}"
    )
    if rows and rows[0]["there"] == "0":
        it = f"{on.database}.{on.thing}"
        raise StateFailed(
            f"There is no {on.kind.lower() or 'table'} {it}", missing=("mysql_table", it)
        )


def _granting(
    user: str, host: str, on: Level, own: Rights, wanted: Rights, exactly: bool
) -> list[str]:
    """The statements for the rights that an account lacks and, with exactly, has too many."""
    granted = all(own.has(right, columns) for right, columns in wanted.names.items())
    names = {right: columns for right, columns in wanted.names.items() if right != "USAGE"}
    if exactly and own != mysql.NOTHING and (own.names != names or own.grant != wanted.grant):
        everything = Rights({"ALL PRIVILEGES": None} if own.names else {}, own.grant)
        return [*mysql.revoking(user, host, on, everything), mysql.granting(user, host, on, wanted)]
    enough = granted and (own.grant or not wanted.grant)
    return [] if enough else [mysql.granting(user, host, on, wanted)]


def absent(
    name: Line,
    grant: RightsLine,
    database: Database,
    user: NameOrEmpty,
    host: Host = "localhost",
    grant_option: bool = False,
    escape: bool = True,
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that an account does not have rights.

    name: Names the state.
    grant: The rights, separated by commas.
    database: What the rights are on: `db.*`, `db.table` or `*.*`.
    user, host: As of mysql_grants.present.
    grant_option: Take the right to pass them on away, too.
    escape: as of mysql_grants.present.

        app may not drop:
          mysql_grants.absent:
            - grant: drop
            - database: app.*
            - user: app

    Behaviour: Salt 3007's mysql_grants.absent; it revokes what an account has of the rights.
    """
    given, on = mysql.read_rights(grant), mysql.level(database, escape)
    unwanted = mysql.NOTHING
    if mysql.find_account(server, user, host)[0] is not None:
        own = mysql.held(mysql.grant_lines(server, user, host), on)
        passing = own.grant and (grant_option or given.grant)
        unwanted = Rights(_held_of(own, given), passing)
    what, whom = f"{grant} on {database}", f"{user}@{host}"
    revoke = partial(server.execute, *mysql.revoking(user, host, on, unwanted))
    return GRANT.absent(unwanted != mysql.NOTHING, revoke, name=name, what=what, whom=whom)


def _held_of(own: Rights, given: Rights) -> dict[str, frozenset[str] | None]:
    """The rights among those given that there are to revoke."""
    if "ALL PRIVILEGES" in given.names:
        return given.names if own.names else {}
    every = "ALL PRIVILEGES" in own.names
    held: dict[str, frozenset[str] | None] = {}
    for right, columns in given.names.items():
        limited = own.names.get(right)
        if every or (right in own.names and limited is None):
            held[right] = None
        elif limited and (columns is None or columns & limited):
            held[right] = limited if columns is None else columns & limited
    held.pop("USAGE", None)
    return held


def autorequire(
    name: Line, user: str | None = None, database: str | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """Rights come after the server, the account and the database."""
    first = mysql.database_of(database).strip("`") if isinstance(database, str) else None
    yield from (*SERVER, ("mysql_user", user or ""), ("mysql_database", first or ""))


def owns(
    fun: str,
    name: str,
    grant: str = "",
    database: str = "",
    user: str = "",
    host: str = "localhost",
    revoke_first: bool = False,
    **more: object,
) -> Iterator[Claim]:
    """Rights on one thing, which another state may take away."""
    server = (f", {more[key]}" for key in TOLD_APART_BY.split() if more.get(key))
    thing = f"{user}@{host}: {database}{''.join(server)}"
    own = mysql.read_rights(grant)
    if fun == "absent":
        yield Claim(PART, thing, removes=True, suits=lambda it: not _meets(own, it))
    else:
        suits = partial(_covers, own)
        yield Claim(PART, thing, text=grant, removes=revoke_first, suits=suits)


def _covers(own: Rights, text: str) -> bool:
    return all(own.has(*each) for each in mysql.read_rights(text).names.items())


def _meets(own: Rights, text: str) -> bool:
    """Return whether rights have one in common."""
    theirs = mysql.read_rights(text)
    return any(
        one.has(right, columns)
        for one, other in ((own, theirs), (theirs, own))
        for right, columns in other.names.items()
        if right != "USAGE"
    )


OPPOSITE = {"present": Opposite("absent", by=("grant", "database", "user", "host"))}
