# SPDX-License-Identifier: Apache-2.0
"""Accounts of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from modules.databases.mysql import ChosenLogin, Connection, Host, Login, MysqlServer
from runner.api import Line, Planned
from runner.api.claims import Trap
from runner.api.kinds import Kind, Property, Wording, comes_after
from runner.api.opposite import Opposite
from states.databases import _mysql
from states.databases._mysql import REASON, SERVER
from states.databases._wording import CREATED, REMOVED

USER = Kind(
    "user {name}@{host}",
    CREATED._replace(
        already="{Title} is already present with {login}",
        pending="{Title} is set to be added",
        done="The {title} has been added",
        provides={"mysql_user": "{name}"},
    ),
    Wording(
        "",
        "Password for {title} is set to be {changed}",
        "Password for {title} has been {changed}",
        "Failed to change password for {title}",
        {"{name}": "Updated"},
        {"mysql_user": "{name}"},
    ),
    REMOVED,
    REASON,
)


def traps(fun: str, name: str, host: object = None, **_: object) -> Iterator[Trap]:
    """An account as SQL names it, in the place of its user."""
    return _mysql.whole_account("name", name, host)


def present(
    name: Line,
    host: Host = "localhost",
    login: ChosenLogin = Login(),
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that there is an account, and how it logs in.

    name: The user of the account.
    host: The host that it connects from, `%` for all.

        app:
          mysql_user.present:
            - host: localhost
            - password: '{{ pillar.get('db_password') }}'

    Behaviour: Salt 3007's mysql_user.present; an account that logs in by the socket needs no
    change to be passwordless.
    """
    login.refuse_passwordless()
    account, mariadb = mysql.find_account(server, name, host)
    agrees = account is not None and login.agrees(account.methods, mariadb)
    if not agrees:
        login.refuse_remote_socket(host)
        login.warn(account.methods if account else (), mariadb)
    how = "passwordless login" if login.passwordless else "the desired password"
    return USER.present(
        account,
        lambda: server.execute(mysql.creation(name, host, login, mariadb)),
        [Property("login", True, lambda: agrees)],
        lambda _: server.execute(mysql.alteration(account, login)) if account else None,
        name=name,
        host=host,
        login=how + " hash" * bool(login.password_hash and not login.password),
        changed="cleared" if login.passwordless else "changed",
    )


def absent(name: Line, host: Host = "localhost", server: Connection = MysqlServer()) -> Planned:
    """Make sure that there is no such account.

    name: The user of the account.
    host: The host that it connects from.

        olduser:
          mysql_user.absent: []
    """
    account, _ = mysql.find_account(server, name, host)
    drop = f"DROP USER {mysql.account(name, host)}"
    return USER.absent(account, lambda: server.execute(drop), name=name, host=host)


autorequire = comes_after("An account comes after the server.", *SERVER)

DECIDES = {"present": "password password_hash auth_plugin unix_socket"}
TOLD_APART_BY = _mysql.TOLD_APART_BY
OPPOSITE = {"present": Opposite("absent", by=("host",))}
