# SPDX-License-Identifier: Apache-2.0
"""Tablespaces of PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import Any

from modules import file
from modules.databases import postgres
from modules.databases.postgres import Connection, Identifier, PostgresServer, literal
from runner.api import AbsolutePath, Line, Name, Planned, StateFailed
from runner.api.kinds import Kind, Property, comes_after
from states.databases._postgres import (
    REMOVED,
    SERVER,
    UPDATED,
    Entity,
    dropping,
    owned_by,
    require_owner,
)
from states.databases._wording import CREATED

DECIDES = {"present": "owner"}
TOLD_APART_BY = "db_host db_port"

dry_run_check = dropping("TABLESPACE")
TABLESPACE = Kind(
    "tablespace {name}",
    CREATED._replace(provides={"postgres_tablespace": "{name}"}),
    UPDATED._replace(
        pending="{Title} {aspect} to be altered",
        done="{Title} {short} changed",
        failed="Failed to change {title}",
    ),
    REMOVED,
)
FOUND = """
SELECT pg_get_userbyid(spcowner) AS owner, pg_tablespace_location(oid) AS place,
    spcoptions AS options FROM pg_tablespace WHERE spcname = {}
"""


def present(
    name: Identifier,
    directory: AbsolutePath,
    options: dict[Line, Any] | None = None,
    owner: Name | None = None,
    server: Connection = PostgresServer(),
) -> Planned:
    """Make sure that there is a tablespace.

    name: The name of the tablespace.
    directory: The folder, which has to be there, empty, and the server's own.
    options: Settings of the tablespace, such as random_page_cost.
    owner: The role that it belongs to.

        fast:
          postgres_tablespace.present:
            - directory: /srv/fast
            - options:
                random_page_cost: 1.1
    """
    it = Entity(server, "TABLESPACE", name)
    now = it.row(FOUND)
    if now is not None and now["place"] != directory.rstrip("/"):
        raise StateFailed(
            f"Tablespace {name} is not at the right location. This is unfixable without dropping"
            f" and recreating the tablespace. It is at {now['place']}."
        )
    require_owner(server, owner, (now or {}).get("owner"))
    if now is None and server.is_local() and not file.is_dir(directory):
        problem = f'Failed to create tablespace {name}: directory "{directory}" does not exist'
        raise StateFailed(problem, missing=("file", directory))
    wanted = {key: str(value) for key, value in (options or {}).items()}
    settings = ", ".join(f"{postgres.quoted(key)} = {literal(wanted[key])}" for key in wanted)
    create = partial(
        it.create,
        owner and f"OWNER {postgres.quoted(owner)}",
        f"LOCATION {literal(directory)}",
        wanted and f"WITH ({settings})",
    )
    current = dict(option.split("=", 1) for option in (now or {}).get("options") or ())
    fits = wanted.items() <= current.items()
    properties = [
        Property("owner", owner, set=owned_by),
        Property("options", None if fits else options, lambda: None, lambda _: f"SET ({settings})"),
    ]
    about = (
        {"aspect": "owner", "short": "owner"} if fits else {"aspect": "options", "short": "opts"}
    )
    return TABLESPACE.present(now, create, properties, it.alter, name=name, **about)


def absent(name: Identifier, server: Connection = PostgresServer()) -> Planned:
    """Make sure that there is no such tablespace.

    name: The name of the tablespace.

        fast:
          postgres_tablespace.absent: []
    """
    it = Entity(server, "TABLESPACE", name)
    return TABLESPACE.absent(it.row(FOUND), it.drop, name=name)


autorequire = comes_after(
    "A tablespace comes after its folder and its owner.",
    *SERVER,
    directory="file",
    owner="postgres_user",
)
