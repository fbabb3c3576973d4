# SPDX-License-Identifier: Apache-2.0
"""Roles of PostgreSQL: users and groups."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from modules.databases.postgres._server import PostgresServer, literal
from modules.databases.postgres._server import name as quoted
from runner.api import Check, CommandFailed, Line, Name, OneOrMany, Record, Secret, for_states

FLAGS = {
    "createdb": "CREATEDB",
    "createroles": "CREATEROLE",
    "superuser": "SUPERUSER",
    "replication": "REPLICATION",
    "inherit": "INHERIT",
    "login": "LOGIN",
}
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


# whom a new server has
NEW = {"name": "postgres", **dict.fromkeys(FLAGS, True)}
NEW |= {"valid_until": None, "password": None, "groups": []}


def roles(
    server: PostgresServer, name: str | None = None, passwords: bool = True
) -> dict[str, dict[str, Any]]:
    """Roles by name. passwords: with what is stored of them, where the server lets us see it."""
    new = [NEW] if name in (None, NEW["name"]) else []
    where = f"WHERE rolname = {literal(name)}" if name is not None else "ORDER BY 1"
    if passwords:
        try:
            rows = server.select(
                ROLE.format(password="rolpassword", table="pg_authid") + where, new
            )
            return {row["name"]: row for row in rows}
        except CommandFailed as failure:
            if "permission denied" not in failure.message:
                raise
    rows = server.select(ROLE.format(password="NULL::text", table="pg_roles") + where, new)
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
        return not password  # of an empty one the server keeps nothing
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
    _, rounds_and_salt, keys = stored_password.split("$", 2)
    rounds, salt = rounds_and_salt.split(":")
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(salt), int(rounds))
    client = hmac.digest(salted, b"Client Key", "sha256")
    return base64.b64encode(hashlib.sha256(client).digest()).decode() == keys.partition(":")[0]


Password = Annotated[
    Line, Check(hash_problem, "copy all of it, from pg_authid, or write the password")
]


class Role(Record):
    """A user or a group as it should be: what it may, and how it logs in.

    createdb: Whether it may make databases; without it as it is.
    createroles: Whether it may make roles; without it as it is.
    encrypted: How the password is kept: `md5` (or true), `scram-sha-256`, or false for what the
      server itself does.
    superuser: Whether it may do anything; without it as it is.
    replication: Whether it may replicate the server; without it as it is.
    inherit: Whether it has the rights of the groups that it is in; without it as it is.
    login: Whether it may log in; without it as it is, and a new user may.
    password: The password, as it is typed or as the server keeps it (md5..., SCRAM-SHA-256$...).
    default_password: The password of a new user.
    refresh_password: Set the password in each run, for servers that do not show what they keep.
    valid_until: The time until which its password is valid.
    groups: The groups that it is a member of.
    """

    createdb: bool | None = None
    createroles: bool | None = None
    encrypted: bool | Literal["md5", "scram-sha-256"] | None = None
    superuser: bool | None = None
    replication: bool | None = None
    inherit: bool | None = None
    login: bool | None = None
    password: Secret[Password] | None = None
    default_password: Secret[Password] | None = None
    refresh_password: bool | None = None
    valid_until: Line | None = None
    groups: OneOrMany[Name] | None = None

    def statements(self, verb: str, name: str, given: Mapping[str, Any]) -> Iterator[str]:
        """What gives a role these of its attributes; all that joins no group is one statement."""
        role = quoted(name)
        flags = {flag: given[flag] for flag in FLAGS if given.get(flag) is not None}
        options = [FLAGS[flag] if value else f"NO{FLAGS[flag]}" for flag, value in flags.items()]
        if self.password is not None and "password" in given:
            if self.password and self.encrypted == "scram-sha-256":
                yield "SET password_encryption = 'scram-sha-256'"
            password = stored(name, self.password, self.encrypted)
            options.append(f"PASSWORD {literal(password)}")
        if self.valid_until and "valid_until" in given:
            options.append(f"VALID UNTIL {literal(self.valid_until)}")
        if options:
            yield f"{verb} ROLE {role} WITH {' '.join(options)}"
        elif verb == "CREATE":
            yield f"CREATE ROLE {role}"
        yield from (f"GRANT {quoted(group)} TO {role}" for group in split(given.get("groups")))


@for_states
def split(groups: str | Sequence[str] | None) -> list[str]:
    """Groups as a list, or as a text with commas."""
    texts = [groups] if isinstance(groups, str) else groups or ()
    return [group.strip() for text in texts for group in text.split(",") if group.strip()]
