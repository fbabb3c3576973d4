# SPDX-License-Identifier: Apache-2.0
"""Accounts of MariaDB and MySQL, and how they log in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any

from modules.databases.mysql._server import LOGIN_HINT, MysqlServer, Row, account, literal
from runner.api import Check, Group, Line, Munge, Record, Secret, StateFailed, for_states, here

NATIVE = "mysql_native_password"
SOCKET = ("unix_socket", "auth_socket")
Method = tuple[str, str]  # a plugin, and what it keeps


def hash_problem(text: str) -> str | None:
    """The reason why a text is nothing that a server keeps of a password: a star and 40 digits, 16
    digits of old ones, what begins with $A$ or $5$, 43 letters of ed25519.
    """
    kept = r"\*[0-9A-Fa-f]{40}|[0-9a-f]{16}|\$(A|5)\$.+|[A-Za-z0-9+/]{43}"
    if not text or re.fullmatch(kept, text, re.DOTALL):
        return None
    return "expected what the server keeps of a password, and this is no such hash"


HINT = "`- password: ...` takes the password itself; SELECT PASSWORD('...') makes a hash of MariaDB"
PasswordHash = Annotated[Line, Check(hash_problem, HINT)]


class Login(Record):
    """How an account is to log in.

    password: The password, as it is typed.
    password_hash: The password as the server keeps it (a star and 40 digits); password goes before
      it.
    allow_passwordless: Accept an account without a password.
    unix_socket: With allow_passwordless, let the user of the system log in who has this name; the
      host is localhost.
    password_column: Ignored; the server says itself where it keeps passwords.
    auth_plugin: The plugin that checks the password, on MySQL; without it that of the account, of a
      new one mysql_native_password.
    """

    password: Secret[Line] | None = None
    password_hash: Secret[PasswordHash] | None = None
    allow_passwordless: bool = False
    unix_socket: bool = False
    password_column: Line | None = None
    auth_plugin: Line | None = None

    @property
    def passwordless(self) -> bool:
        return not self.password and not self.password_hash

    @property
    def by_socket(self) -> bool:
        return self.passwordless and self.unix_socket

    def refuse_remote_socket(self, host: str) -> None:
        """Raise StateFailed for a login by the socket from elsewhere."""
        if self.by_socket and host.lower() != "localhost":
            raise StateFailed(f"unix_socket is for the host localhost, not for {host}")

    def refuse_passwordless(self) -> None:
        """Raise StateFailed where there has to be a password."""
        if self.passwordless and not self.allow_passwordless:
            raise StateFailed(
                "Either password or password_hash must be specified, unless allow_passwordless is"
                " True"
            )

    def agrees(self, methods: Sequence[Method], mariadb: bool) -> bool:
        """Return whether an account that logs in like this is as wanted, as far as can be told."""
        sockets = [plugin for plugin, _ in methods if plugin in SOCKET]
        others = [(plugin, stored) for plugin, stored in methods if plugin not in SOCKET]
        if self.by_socket:
            return bool(sockets) and not any(_is_usable(stored) for _, stored in others)
        if self.passwordless:
            return bool(sockets) or any(not stored for _, stored in others)
        plugin = NATIVE if mariadb else self._plugin(methods)
        if plugin != NATIVE and self.password:
            is_there = any(which == plugin and stored for which, stored in others)
            if is_there:
                here.warn(
                    f"whether the password is the wanted one cannot be told, as {plugin} keeps it:"
                    " password_hash is compared"
                )
            return is_there
        wanted = native_hash(self.password) if self.password else str(self.password_hash)
        return any(
            which == plugin and _same(plugin, stored, wanted) for which, stored in others if stored
        )

    def warn(self, methods: Sequence[Method], mariadb: bool) -> None:
        """Warn of what a login that is set comes to: another plugin than the wanted one, or that
        whoever logged in by the socket can do so no longer.
        """
        if mariadb and self.auth_plugin not in (None, NATIVE):
            here.warn(f"auth_plugin {self.auth_plugin} is not used on MariaDB, but {NATIVE}")
        if not self.passwordless and any(plugin in SOCKET for plugin, _ in methods):
            here.warn(f"it can no longer log in by the socket without a password: {LOGIN_HINT}")

    def _plugin(self, methods: Sequence[Method]) -> str:
        """Return what keeps the password on MySQL."""
        own = (plugin for plugin, _ in methods if plugin not in SOCKET)
        return self.auth_plugin or next(own, NATIVE)

    def statement(self, mariadb: bool, methods: Sequence[Method] = ()) -> str:
        """Return what CREATE USER and ALTER USER say of it. methods: of the account that is
        there.
        """
        if self.by_socket:
            return "IDENTIFIED VIA unix_socket" if mariadb else "IDENTIFIED WITH 'auth_socket'"
        how = "" if mariadb else f"WITH {literal(self._plugin(methods))} "
        if self.password_hash and not self.password:
            if problem := hash_problem(self.password_hash):
                raise StateFailed(f"password_hash: {problem}")
            by = "BY PASSWORD" if mariadb else "AS"
            return f"IDENTIFIED {how}{by} {literal(self.password_hash)}"
        return f"IDENTIFIED {how}BY {literal(self.password or '')}"


# the server takes no host for any
Host = Annotated[Line, Munge(lambda host: host or "%")]
ChosenLogin = Annotated[Login, Group()]


def _is_usable(stored: str) -> bool:
    """Return whether somebody can log in with this: no password, or a real one."""
    return not stored or stored.startswith(("*", "$"))


def _same(plugin: str, stored: str, wanted: str) -> bool:
    return stored.upper() == wanted.upper() if plugin == NATIVE else stored == wanted


def native_hash(password: str) -> str:
    """Return what mysql_native_password keeps of a password."""
    once = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()


class MysqlAccount(Record):
    """An account that is there. methods: the ways in. tls: what it requires of a connection."""

    user: str
    host: str
    methods: tuple[Method, ...]
    tls: dict[str, str]
    mariadb: bool


def find(server: MysqlServer, user: str, host: str) -> tuple[MysqlAccount | None, bool]:
    """An account, None when there is none; and whether the server is a MariaDB."""
    # the server keeps hosts in small letters
    where = f"WHERE User = {literal(user)} AND Host = {literal(host.lower())}"
    version, rows = server.look(
        "SELECT VERSION() AS v, @@version_comment AS c", f"SELECT * FROM mysql.user {where}"
    )
    mariadb = any("mariadb" in str(value).lower() for row in version for value in row.values())
    # the server's collation may be lenient; of spaces it keeps those at the end in no name
    own = [row for row in rows if row["User"] == user.rstrip(" ")]
    if not own:
        return None, mariadb
    methods = _several(server, where) if mariadb and own[0].get("plugin") is not None else []
    tls = _tls(own[0])
    return MysqlAccount(user, host, tuple(methods or [_one(own[0])]), tls, mariadb), mariadb


def _one(row: Row) -> Method:
    """The way in that the table of users shows."""
    stored = row.get("authentication_string") or row.get("Password") or ""
    return row.get("plugin") or NATIVE, stored


def _several(server: MysqlServer, where: str) -> list[Method]:
    """All ways in, where the server has a table that knows of several (MariaDB from 10.4)."""
    there = server.select(
        "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mysql' AND"
        " TABLE_NAME = 'global_priv'"
    )
    if not there:
        return []
    rows = server.select(f"SELECT Priv FROM mysql.global_priv {where}")
    data: dict[str, Any] = json.loads(rows[0]["Priv"] or "{}") if rows else {}
    own = {"plugin": data.get("plugin"), "authentication_string": data.get("authentication_string")}
    ways = [{**own, **way} for way in data.get("auth_or", [own])]
    return [(way["plugin"] or NATIVE, way["authentication_string"] or "") for way in ways]


def _tls(row: Row) -> dict[str, str]:
    """Return what the account requires of a connection, as ssl_option says it."""
    kind = row.get("ssl_type") or ""
    if kind in ("ANY", "X509"):
        return {"SSL" if kind == "ANY" else "X509": ""}
    columns = {"SUBJECT": "x509_subject", "ISSUER": "x509_issuer", "CIPHER": "ssl_cipher"}
    return {word: value for word, column in columns.items() if (value := row.get(column))}


@for_states
def accounts(server: MysqlServer) -> list[dict[str, str]]:
    """All accounts: User and Host."""
    rows = server.select("SELECT User, Host FROM mysql.user ORDER BY User, Host")
    return [{key: value or "" for key, value in row.items()} for row in rows]


def creation(user: str, host: str, login: Login, mariadb: bool) -> str:
    """The statement that makes an account."""
    return f"CREATE USER {account(user, host)} {login.statement(mariadb)}"


def alteration(there: MysqlAccount, login: Login) -> str:
    """The statement that changes how an account logs in."""
    how = login.statement(there.mariadb, there.methods)
    return f"ALTER USER {account(there.user, there.host)} {how}"


def requirement(user: str, host: str, tls: dict[str, str]) -> str:
    """The statement for what an account requires of a connection."""
    words = [f"{word} {literal(value)}" if value else word for word, value in tls.items()]
    return f"ALTER USER {account(user, host)} REQUIRE {' AND '.join(words)}"
