# SPDX-License-Identifier: Apache-2.0
"""Accounts of MariaDB and MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from modules.databases import mysql
from modules.databases.mysql import Connection, Login, MysqlServer
from runner.api import Check, Line, Plan, Planned, Secret, StateFailed
from runner.api.opposite import Opposite
from states.databases._mysql import after_server, carry_out

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
    whom = f"{name}@{host}"
    if account is None:
        plan = Plan(
            {name: "Present"},
            f"User {whom} is set to be added",
            provides=[("mysql_user", name)],
        )
        return (
            yield from carry_out(
                server,
                plan,
                f"The user {whom} has been added",
                f"Failed to create user {whom}",
                mysql.creation(name, host, login, mariadb),
            )
        )
    if login.agrees(account.methods, mariadb):
        how = "passwordless login" if login.passwordless else "the desired password"
        kept = " hash" if password_hash and not password else ""
        return f"User {whom} is already present with {how}{kept}"
    action = "cleared" if login.passwordless else "changed"
    plan = Plan(
        {name: "Updated"},
        f"Password for user {whom} is set to be {action}",
        provides=[("mysql_user", name)],
    )
    return (
        yield from carry_out(
            server,
            plan,
            f"Password for user {whom} has been {action}",
            f"Failed to change password for user {whom}",
            mysql.alteration(name, host, login, mariadb),
        )
    )


def absent(
    name: Line,
    host: Line = "localhost",
    server: Connection = MysqlServer(),
) -> Planned:
    """Make sure that there is no such account.

    name: The user of the account.
    host: The host that it connects from.

        olduser:
          mysql_user.absent: []

    Behaviour: Salt 3007's mysql_user.absent.
    """
    whom = f"{name}@{host}"
    if mysql.find_account(server, name, host)[0] is None:
        return f"User {whom} is not present, so it cannot be removed"
    return (
        yield from carry_out(
            server,
            Plan({name: "Absent"}, f"User {whom} is set to be removed"),
            f"User {whom} has been removed",
            f"User {whom} failed to be removed",
            f"DROP USER {mysql.account(name, host)}",
        )
    )


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """An account comes after the server."""
    yield from after_server()


OPPOSITE = {"present": Opposite("absent", by=("host",))}
