# SPDX-License-Identifier: Apache-2.0
"""Groups of PostgreSQL."""

from __future__ import annotations

from typing import Literal

from modules.databases.postgres import Connection, PostgresServer
from runner.api import Name, NonEmptyLine, OneOrMany, Planned, Secret
from states.databases import _postgres_role
from states.databases._postgres_role import Password, Role, split

NON_IDEMPOTENT = {"present": "with refresh_password it sets the password in each run"}


def present(
    name: NonEmptyLine,
    createdb: bool | None = None,
    createroles: bool | None = None,
    encrypted: bool | Literal["md5", "scram-sha-256"] | None = None,
    superuser: bool | None = None,
    replication: bool | None = None,
    inherit: bool | None = None,
    login: bool | None = None,
    password: Secret[Password] | None = None,
    refresh_password: bool | None = None,
    groups: OneOrMany[Name] | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a group, and what it may.

    name: The name of the group.
    createdb: Whether it may make databases; without it as it is.
    createroles: Whether it may make roles; without it as it is.
    encrypted: How the password is kept: `md5` (or true), `scram-sha-256`, or false for what the
      server itself does.
    superuser: Whether it may do anything; without it as it is.
    replication: Whether it may replicate the server; without it as it is.
    inherit: Whether it has the rights of the groups that it is in; without it as it is.
    login: Whether it may log in; without it as it is.
    password: The password, as it is typed or as the server keeps it (md5..., SCRAM-SHA-256$...).
    refresh_password: Set the password in each run, for servers that do not show what they keep.
    groups: The groups that it is a member of.

        readers:
          postgres_group.present: []

    Behaviour: Salt 3008's postgres_group.present; a password is compared in either form.
    """
    flags = {"createdb": createdb, "createroles": createroles, "superuser": superuser}
    flags |= {"replication": replication, "inherit": inherit, "login": login}
    role = Role(
        name,
        "group",
        flags,
        password,
        encrypted,
        refresh=bool(refresh_password),
        groups=split(groups),
    )
    return role.present(server)


def absent(name: NonEmptyLine, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such group.

    name: The name of the group.

        oldgroup:
          postgres_group.absent: []

    Behaviour: Salt 3008's postgres_group.absent.
    """
    return _postgres_role.absent(name, "group", server)


autorequire = _postgres_role.autorequire


OPPOSITE = {"present": "absent"}
