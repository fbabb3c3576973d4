# SPDX-License-Identifier: Apache-2.0
"""Users of PostgreSQL."""

from __future__ import annotations

from typing import Annotated

from modules.databases.postgres import Connection, Identifier, PostgresServer, Role
from runner.api import Group, Planned
from states.databases import _postgres_role

NON_IDEMPOTENT = {"present": "with refresh_password it sets the password in each run"}


def present(
    name: Identifier,
    role: Annotated[Role, Group()] = Role(),
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a user, and what he may.

    name: The name of the user.

        app:
          postgres_user.present:
            - password: '{{ pillar.get('db_password') }}'
            - groups: readers

    Behaviour: Salt 3008's postgres_user.present; a password is compared in either form.
    """
    return _postgres_role.present(role, "user", name, server)


def absent(name: Identifier, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such user.

    name: The name of the user.

        olduser:
          postgres_user.absent: []
    """
    return _postgres_role.absent(name, "user", server)


autorequire = _postgres_role.autorequire
dry_run_check = _postgres_role.dry_run_check

DECIDES = {"present": f"{_postgres_role.DECIDED} valid_until"}
TOLD_APART_BY = "db_host db_port"
OPPOSITE = {"present": "absent"}
