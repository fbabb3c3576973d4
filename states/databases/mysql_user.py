# SPDX-License-Identifier: Apache-2.0
"""Accounts of MariaDB and MySQL."""

from __future__ import annotations

from typing import Annotated

from modules.databases import mysql
from modules.databases.mysql import Connection, Login, MysqlServer
from runner.api import Check, Line, Planned, Secret, StateFailed
from runner.api.kinds import Kind, Property, Wording, comes_after
from runner.api.opposite import Opposite
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
HINT = "`- password: ...` takes the password itself; SELECT PASSWORD('...') makes a hash of MariaDB"
PasswordHash = Annotated[Line, Check(mysql.hash_problem, HINT)]


def present(
    name: Line,
    host: Line = "localhost",
    password: Secret[Line] | None = None,
    password_hash: Secret[PasswordHash] | None = None,
    allow_passwordless: bool = False,
    unix_socket: bool = False,
    password_column: Line | None = None,
    auth_plugin: Line = "mysql_native_password",
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that there is an account, and how it logs in.

    name: The user of the account.
    host: The host that it connects from, `%` for all.
    password: The password, as it is typed.
    password_hash: The password as the server keeps it (a star and 40 digits); password goes before
      it.
    allow_passwordless: Accept an account without a password.
    unix_socket: With allow_passwordless, let the user of the system log in who has this name.
    password_column: Ignored; the server says itself where it keeps passwords.
    auth_plugin: The plugin that checks the password, on MySQL.

        app:
          mysql_user.present:
            - host: localhost
            - password: '{{ pillar.get('db_password') }}'

    Behaviour: Salt 3007's mysql_user.present; an account that logs in by the socket needs no
    change to be passwordless.
    """
    login = Login(password, password_hash, unix_socket, auth_plugin)
    if login.passwordless and not allow_passwordless:
        raise StateFailed(
            "Either password or password_hash must be specified, unless allow_passwordless is True"
        )
    account, mariadb = mysql.find_account(server, name, host)
    methods = account.methods if account else ()
    how = "passwordless login" if login.passwordless else "the desired password"
    return USER.present(
        account,
        lambda: server.execute(mysql.creation(name, host, login, mariadb)),
        [Property("login", True, lambda: login.agrees(methods, mariadb))],
        lambda _: server.execute(mysql.alteration(name, host, login, mariadb)),
        name=name,
        host=host,
        login=how + " hash" * bool(password_hash and not password),
        changed="cleared" if login.passwordless else "changed",
    )


def absent(name: Line, host: Line = "localhost", server: Connection = MysqlServer()) -> Planned:
    """Make sure that there is no such account.

    name: The user of the account.
    host: The host that it connects from.

        olduser:
          mysql_user.absent: []

    Behaviour: Salt 3007's mysql_user.absent.
    """
    account, _ = mysql.find_account(server, name, host)
    drop = f"DROP USER {mysql.account(name, host)}"
    return USER.absent(account, lambda: server.execute(drop), name=name, host=host)


autorequire = comes_after("An account comes after the server.", *SERVER)

OPPOSITE = {"present": Opposite("absent", by=("host",))}
