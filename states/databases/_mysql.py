# SPDX-License-Identifier: Apache-2.0
"""The base of the states of MariaDB and MySQL: order, reasons."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import mysql
from runner.api.claims import Trap

# what all of these come after
SERVER = (
    *(("service", name) for name in mysql.SERVICES),
    ("pkg", "mariadb-server"),
    ("pkg", "mysql-server"),
)
# what says which server is meant
TOLD_APART_BY = (
    "connection_host connection_port connection_unix_socket connection_default_file"
    " connection_default_group"
)
REASON = " ({reason})"


def whole_account(argument: str, user: str, host: object) -> Iterator[Trap]:
    """What is told of `bob@localhost` where the user of an account is meant."""
    first, at, last = (part.strip("'`") for part in user.rpartition("@"))
    if at and host is None:
        message = f"{argument}: {user} is taken for the user of an account at localhost"
        yield Trap(argument, message, f"write `- {argument}: {first}` and `- host: {last}`")
