# SPDX-License-Identifier: Apache-2.0
"""Users and groups of PostgreSQL: roles that log in and roles that do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import PostgresServer, Role
from runner.api import Planned
from runner.api.kinds import Kind, Property
from states.databases._postgres import REMOVED, SERVER, Entity, dropping, require_role
from states.databases._wording import CREATED, UPDATED

KINDS = {
    kind: Kind(
        f"{kind} {{name}}",
        CREATED._replace(provides={f"postgres_{kind}": "{name}"}),
        UPDATED,
        REMOVED,
    )
    for kind in ("user", "group")
}

DECIDED = "createdb createroles superuser replication inherit login password"


def present(wanted: Role, kind: str, name: str, server: PostgresServer) -> Planned:
    """The state of a role that has to be there. kind: user or group."""
    role = postgres.roles(server, name, passwords=not wanted.refresh_password).get(name)
    joined = (role or {}).get("groups", ())
    missing = [group for group in postgres.split(wanted.groups) if group not in joined]
    for group in missing:
        require_role(server, group)
    first = wanted._replace(login=True) if kind == "user" and wanted.login is None else wanted
    if first.password is None:
        first = first._replace(password=wanted.default_password)
    return KINDS[kind].present(
        role,
        lambda: server.execute(
            *first.statements("CREATE", name, {**first._asdict(), "groups": missing})
        ),
        _properties(wanted, server, name, role or {}, missing),
        lambda different: server.execute(
            *wanted.statements("ALTER", name, {each.name: each.target for each in different})
        ),
        name=name,
    )


def _properties(
    wanted: Role, server: PostgresServer, name: str, role: Mapping[str, Any], missing: Sequence[str]
) -> Iterator[Property]:
    yield from (Property(flag, getattr(wanted, flag)) for flag in postgres.FLAGS)
    until = wanted.valid_until or None
    same = until and role["valid_until"] == _moment(server, until)
    yield Property("valid_until", until, lambda: until if same else None)
    if wanted.password is not None:
        known = not wanted.refresh_password and postgres.matches(
            name, wanted.password, role["password"], wanted.encrypted
        )
        yield Property("password", True, lambda: known)
    yield Property("groups", missing or None, list, matching="all")


def _moment(server: PostgresServer, text: str) -> str:
    return "infinity" if text == "infinity" else postgres.moment(server, text)


def absent(name: str, kind: str, server: PostgresServer) -> Planned:
    """The state of a role that has to go."""
    role = postgres.roles(server, name, passwords=False).get(name)
    return KINDS[kind].absent(role, Entity(server, "ROLE", name).drop, name=name)


dry_run_check = dropping("ROLE")


def autorequire(
    name: str, groups: str | list[str] | None = None, **_: object
) -> Iterator[tuple[str, str]]:
    """A role comes after the server and the groups that it joins."""
    yield from SERVER
    yield from (("postgres_group", group) for group in postgres.split(groups))
