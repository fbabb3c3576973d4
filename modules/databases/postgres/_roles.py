# SPDX-License-Identifier: Apache-2.0
"""Roles of PostgreSQL: users and groups."""

from __future__ import annotations

import re
from typing import Any

from modules.databases.postgres._server import PostgresServer, literal
from runner.api import CommandFailed

ROLE = """
SELECT rolname AS name, rolsuper AS superuser, rolinherit AS inherit, rolcreaterole AS createroles,
    rolcreatedb AS createdb, rolcanlogin AS login, rolreplication AS replication,
    CASE WHEN rolvaliduntil = 'infinity' THEN 'infinity'
         ELSE to_char(rolvaliduntil, 'YYYY-MM-DD HH24:MI:SS') END AS valid_until,
    {password} AS password,
    ARRAY(SELECT g.rolname FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
          WHERE m.member = r.oid ORDER BY 1) AS groups
FROM {table} r
"""


def roles(
    server: PostgresServer, name: str | None = None, passwords: bool = True
) -> dict[str, dict[str, Any]]:
    """Roles by name. passwords: with what is stored of them, where the server lets us see it."""
    where = f"WHERE rolname = {literal(name)}" if name is not None else "ORDER BY 1"
    if passwords:
        try:
            rows = server.select(ROLE.format(password="rolpassword", table="pg_authid") + where)
            return {row["name"]: row for row in rows}
        except CommandFailed as failure:
            if "permission denied" not in failure.message:
                raise
    rows = server.select(ROLE.format(password="NULL::text", table="pg_roles") + where)
    return {row["name"]: row for row in rows}


def moment(server: PostgresServer, text: str) -> str:
    """A time as the server reads it."""
    return str(
        server.select(f"SELECT to_char({literal(text)}::timestamp, 'YYYY-MM-DD HH24:MI:SS') AS at")[
            0
        ]["at"]
    )


def stored(name: str, password: str, how: object) -> str:
    """A password as it is handed to the server. how: True or md5, scram-sha-256, False for as it
    is.
    """
    if how is False or is_stored(password) or how == "scram-sha-256":
        return password
    import hashlib

    return "md5" + hashlib.md5(f"{password}{name}".encode(), usedforsecurity=False).hexdigest()


def is_stored(password: str) -> bool:
    """Return whether this is not a password but what a server keeps of one."""
    return re.fullmatch(rf"{_SCRAM}|md5[0-9a-f]{{32}}", password) is not None


_SCRAM = r"SCRAM-SHA-256\$\d+:[A-Za-z0-9+/]+={0,2}\$[A-Za-z0-9+/]{43}=:[A-Za-z0-9+/]{43}="


def hash_problem(password: str) -> str | None:
    """The reason why a password that begins as what a server keeps of one is not that: the server
    would take it for the password itself.
    """
    if not password.startswith("SCRAM-SHA-256$") or is_stored(password):
        return None
    return "this begins as what the server keeps of a password (SCRAM-SHA-256), and is damaged"


def matches(name: str, password: str, stored_password: str | None, how: object = None) -> bool:
    """Return whether a password is the one that the server keeps. how: the form it has to be kept
    in (None: any).
    """
    if not stored_password:
        return False
    if is_stored(password):
        return password == stored_password
    if (
        how is not None
        and how is not False
        and stored_password.startswith("SCRAM") != (how == "scram-sha-256")
    ):
        return False
    if stored_password.startswith("SCRAM"):
        return _is_scram_of(password, stored_password)
    return stored_password in (stored(name, password, "md5"), password)


def _is_scram_of(password: str, stored_password: str) -> bool:
    import base64
    import hashlib
    import hmac

    _, rounds_and_salt, keys = stored_password.split("$", 2)
    rounds, salt = rounds_and_salt.split(":")
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(rounds))
    client = hmac.digest(salted, b"Client Key", "sha256")
    return base64.b64encode(hashlib.sha256(client).digest()).decode() == keys.partition(":")[0]
