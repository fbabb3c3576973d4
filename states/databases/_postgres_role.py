# SPDX-License-Identifier: Apache-2.0
"""Users and groups of PostgreSQL: roles that log in and roles that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from modules.databases import postgres
from modules.databases.postgres import PostgresServer
from runner.api import Check, Line, Name, OneOrMany, Planned, Record, Secret
from runner.api.kinds import Kind, Property
from states.databases._postgres import SERVER, Entity, require_role
from states.databases._wording import CREATED, REMOVED, UPDATED

KINDS = {
    kind: Kind(
        f"{kind} {{name}}",
        CREATED._replace(provides={f"postgres_{kind}": "{name}"}),
        UPDATED,
        REMOVED,
    )
    for kind in ("user", "group")
}
WORDS = {
    "createdb": "CREATEDB",
    "createroles": "CREATEROLE",
    "superuser": "SUPERUSER",
    "replication": "REPLICATION",
    "inherit": "INHERIT",
    "login": "LOGIN",
}

Password = Annotated[
    Line, Check(postgres.hash_problem, "copy all of it, from pg_authid, or write the password")
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

    def present(self, kind: str, name: str, server: PostgresServer) -> Planned:
        """The state of a role that has to be there. kind: user or group."""
        role = postgres.roles(server, name, passwords=not self.refresh_password).get(name)
        missing = [
            each for each in split(self.groups) if each not in (role or {}).get("groups", ())
        ]
        for group in missing:
            require_role(server, group)
        first = self._replace(login=True) if kind == "user" and self.login is None else self
        if first.password is None:
            first = first._replace(password=self.default_password)
        return KINDS[kind].present(
            role,
            lambda: server.execute(
                *first._statements("CREATE", name, {**first._asdict(), "groups": missing})
            ),
            self._properties(server, name, role or {}, missing),
            lambda different: server.execute(
                *self._statements("ALTER", name, {each.name: each.target for each in different})
            ),
            name=name,
        )

    def _properties(
        self, server: PostgresServer, name: str, role: Mapping[str, Any], missing: Sequence[str]
    ) -> Iterator[Property]:
        yield from (Property(flag, getattr(self, flag)) for flag in WORDS)
        until = self.valid_until or None
        same = until and role["valid_until"] == _moment(server, until)
        yield Property("valid_until", until, lambda: until if same else None)
        if self.password is not None:
            known = not self.refresh_password and postgres.matches(
                name, self.password, role["password"], self.encrypted
            )
            yield Property("password", True, lambda: known)
        yield Property("groups", missing or None, list, matching="all")

    def _statements(self, verb: str, name: str, given: Mapping[str, Any]) -> Iterator[str]:
        """What gives a role these of its attributes; all that joins no group is one statement."""
        role = postgres.quoted(name)
        flags = {flag: given[flag] for flag in WORDS if given.get(flag) is not None}
        options = [WORDS[flag] if value else f"NO{WORDS[flag]}" for flag, value in flags.items()]
        if self.password is not None and "password" in given:
            if self.password and self.encrypted == "scram-sha-256":
                yield "SET password_encryption = 'scram-sha-256'"
            password = postgres.stored(name, self.password, self.encrypted)
            options.append(f"PASSWORD {postgres.literal(password)}")
        if self.valid_until and "valid_until" in given:
            options.append(f"VALID UNTIL {postgres.literal(self.valid_until)}")
        if options:
            yield f"{verb} ROLE {role} WITH {' '.join(options)}"
        elif verb == "CREATE":
            yield f"CREATE ROLE {role}"
        yield from (
            f"GRANT {postgres.quoted(group)} TO {role}" for group in given.get("groups", ())
        )


def _moment(server: PostgresServer, text: str) -> str:
    return "infinity" if text == "infinity" else postgres.moment(server, text)


def split(groups: Sequence[str] | None) -> list[str]:
    """Groups as a list, or as a text with commas."""
    return [group.strip() for text in groups or () for group in text.split(",") if group.strip()]


def absent(name: str, kind: str, server: PostgresServer) -> Planned:
    """The state of a role that has to go."""
    role = postgres.roles(server, name, passwords=False).get(name)
    return KINDS[kind].absent(role, Entity(server, "ROLE", name).drop, name=name)


def autorequire(name: str, groups: object = None, **_: object) -> Iterator[tuple[str, str]]:
    """A role comes after the server and the groups that it joins."""
    joined = split(
        [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    )
    yield from SERVER
    yield from (("postgres_group", group) for group in joined)
