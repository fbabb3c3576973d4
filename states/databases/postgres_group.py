# SPDX-License-Identifier: Apache-2.0
"""Groups of PostgreSQL."""

from __future__ import annotations

from typing import Annotated

from modules.databases.postgres import Connection, Identifier, PostgresServer, Role
from runner.api import Group, Planned
from states.databases import _postgres_role

NON_IDEMPOTENT = {"present": "with refresh_password it sets the password in each run"}
OF_USERS = {"default_password", "valid_until"}
GroupRole = Annotated[Role, Group({key: key for key in Role._fields if key not in OF_USERS})]


def present(
    name: Identifier, role: GroupRole = Role(), server: Connection = PostgresServer()
) -> Planned:
    """Make sure that there is a group, and what it may.

    name: The name of the group.

        readers:
          postgres_group.present: []

    Behaviour: Salt 3008's postgres_group.present; a password is compared in either form.
    """
    return _postgres_role.present(role, "group", name, server)


def absent(name: Identifier, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such group.

    name: The name of the group.

        oldgroup:
          postgres_group.absent: []
    """
    return _postgres_role.absent(name, "group", server)


autorequire = _postgres_role.autorequire
dry_run_check = _postgres_role.dry_run_check

DECIDES = {"present": _postgres_role.DECIDED}
TOLD_APART_BY = "db_host db_port"
OPPOSITE = {"present": "absent"}
