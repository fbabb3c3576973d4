# SPDX-License-Identifier: Apache-2.0
"""Users of PostgreSQL."""

from __future__ import annotations

from typing import Literal

from modules.databases.postgres import Connection, PostgresServer
from runner.api import Line, Name, NonEmptyLine, OneOrMany, Planned, Secret
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
    default_password: Secret[Password] | None = None,
    refresh_password: bool | None = None,
    valid_until: Line | None = None,
    groups: OneOrMany[Name] | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a user, and what he may.

    name: The name of the user.
    createdb, createroles, superuser, replication, inherit: As of postgres_group.present.
    encrypted, password: as of postgres_group.present.
    login: Whether it may log in; without it as it is, and a new user may.
    default_password: The password of a new user.
    refresh_password: Set the password in each run, for servers that do not show what they keep.
    valid_until: The time until which its password is valid.
    groups: The groups that it is a member of.

        app:
          postgres_user.present:
            - password: '{{ pillar.get('db_password') }}'
            - groups: readers

    Behaviour: Salt 3008's postgres_user.present; a password is compared in either form.
    """
    flags = {"createdb": createdb, "createroles": createroles, "superuser": superuser}
    flags |= {"replication": replication, "inherit": inherit, "login": login}
    role = Role(
        name,
        "user",
        flags,
        password,
        encrypted,
        first_password=default_password,
        refresh=bool(refresh_password),
        valid_until=valid_until,
        groups=split(groups),
    )
    return role.present(server)


def absent(name: NonEmptyLine, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such user.

    name: The name of the user.

        olduser:
          postgres_user.absent: []

    Behaviour: Salt 3008's postgres_user.absent.
    """
    return _postgres_role.absent(name, "user", server)


autorequire = _postgres_role.autorequire


OPPOSITE = {"present": "absent"}
