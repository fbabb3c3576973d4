# SPDX-License-Identifier: Apache-2.0
"""Users and groups of PostgreSQL: roles that log in and roles that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from modules.databases import postgres
from modules.databases.postgres import PostgresServer
from runner.api import Check, Line, Planned, Record
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
    """A role as it should be. flags: what is None stays as it is."""

    name: str
    kind: str
    flags: dict[str, bool | None]
    password: str | None = None
    how: str | bool | None = None
    first_password: str | None = None
    refresh: bool = False
    valid_until: str | None = None
    groups: Sequence[str] = ()

    def present(self, server: PostgresServer) -> Planned:
        """The state of a role that has to be there."""
        role = postgres.roles(server, self.name, passwords=not self.refresh).get(self.name)
        for group in self.groups:
            if group not in (role or {}).get("groups", ()):
                require_role(server, group)
        return KINDS[self.kind].present(
            role,
            lambda: server.execute(*self._created()),
            self._properties(server, role or {}),
            lambda differences: server.execute(*self._updated(differences)),
            name=self.name,
        )

    def _properties(self, server: PostgresServer, role: Mapping[str, Any]) -> Iterator[Property]:
        yield from (Property(flag, value) for flag, value in self.flags.items())
        until = self.valid_until or None
        same = until and role["valid_until"] == _moment(server, until)
        yield Property("valid_until", until, lambda: until if same else None)
        if self.password is not None:
            known = not self.refresh and postgres.matches(
                self.name, self.password, role["password"], self.how
            )
            yield Property("password", True, lambda: known)
        missing = [group for group in self.groups if group not in role["groups"]]
        yield Property("groups", missing or None, list, matching="all")

    def _created(self) -> list[str]:
        flags = dict(self.flags)
        if self.kind == "user" and flags["login"] is None:
            flags["login"] = True
        words = [_word(flag, value) for flag, value in flags.items() if value is not None]
        password = self.password if self.password is not None else self.first_password
        options = self._role_options(words, password)
        create = (
            f"CREATE ROLE {self._role} WITH {options}" if options else f"CREATE ROLE {self._role}"
        )
        return [*self._hashing(password), create, *self._joined(self.groups)]

    def _updated(self, differences: Sequence[Property]) -> list[str]:
        changes = {each.name: each.target for each in differences}
        words = [_word(flag, value) for flag, value in changes.items() if flag in WORDS]
        password = self.password if "password" in changes else None
        options = self._role_options(words, password, "valid_until" in changes)
        alter = [f"ALTER ROLE {self._role} WITH {options}"] if options else []
        return [*self._hashing(password), *alter, *self._joined(changes.get("groups", ()))]

    @property
    def _role(self) -> str:
        return postgres.quoted(self.name)

    def _role_options(self, words: list[str], password: str | None, until: bool = True) -> str:
        if password is not None:
            words = [
                *words,
                f"PASSWORD {postgres.literal(postgres.stored(self.name, password, self.how))}",
            ]
        if self.valid_until and until:
            words = [*words, f"VALID UNTIL {postgres.literal(self.valid_until)}"]
        return " ".join(words)

    def _hashing(self, password: str | None) -> list[str]:
        """The setting for how the server keeps a password that it gets as it is."""
        return (
            ["SET password_encryption = 'scram-sha-256'"]
            if password and self.how == "scram-sha-256"
            else []
        )

    def _joined(self, groups: Sequence[str]) -> list[str]:
        return [f"GRANT {postgres.quoted(group)} TO {self._role}" for group in groups]


def _moment(server: PostgresServer, text: str) -> str:
    return "infinity" if text == "infinity" else postgres.moment(server, text)


def _word(flag: str, value: bool | None) -> str:
    return WORDS[flag] if value else f"NO{WORDS[flag]}"


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
