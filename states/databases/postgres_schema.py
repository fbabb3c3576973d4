# SPDX-License-Identifier: Apache-2.0
"""Schemas of PostgreSQL's databases."""

from __future__ import annotations

from modules.databases import postgres
from modules.databases.postgres import Identifier, Login, PostgresServer
from runner.api import Line, Name, Planned
from runner.api.kinds import Kind, Property, comes_after
from states.databases import _postgres
from states.databases._postgres import REMOVED, SERVER, UPDATED, Entity, owned_by, require_owner
from states.databases._wording import CREATED

SCHEMA = Kind(
    "schema {name}",
    CREATED._replace(
        already="{Title} already exists in database {dbname}",
        pending="{Title} is set to be created in database {dbname}.",
        done="{Title} has been created in database {dbname}",
        failed="Failed to create {title} in database {dbname}",
        provides={"postgres_schema": "{name}"},
    ),
    UPDATED._replace(
        pending="{Title} in database {dbname} is set to belong to {owner}",
        done="{Title} in database {dbname} belongs to {owner}",
        failed="Failed to change {title}",
    ),
    REMOVED._replace(
        already="{Title} is not present in database {dbname}, so it cannot be removed",
        pending="{Title} is set to be removed from database {dbname}",
        done="{Title} has been removed from database {dbname}",
    ),
)
dry_run_check = _postgres.dropping("SCHEMA")
DECIDES, TOLD_APART_BY = {"present": "owner"}, "dbname db_host db_port"
FOUND = "SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = {}"
NEW = {"public": {"owner": "pg_database_owner"}}


def present(
    dbname: Line, name: Identifier, owner: Name | None = None, server: Login = PostgresServer()
) -> Planned:
    """Make sure that a database has a schema.

    dbname: The database that it is in.
    name: The schema.
    owner: The role that it belongs to.

        reports:
          postgres_schema.present:
            - dbname: app
            - owner: app

    Behaviour: Salt 3008's postgres_schema.present; the owner is seen to.
    """
    it = Entity(server.within(dbname), "SCHEMA", name)
    now = it.row(FOUND, NEW)
    require_owner(server, owner, (now or {}).get("owner"))
    options = owner and f"AUTHORIZATION {postgres.quoted(owner)}"
    properties = [Property("owner", owner, set=owned_by)]
    about = {"name": name, "dbname": dbname, "owner": owner}
    return SCHEMA.present(now, lambda: it.create(options), properties, it.alter, **about)


def absent(dbname: Line, name: Identifier, server: Login = PostgresServer()) -> Planned:
    """Make sure that a database does not have a schema.

    dbname: The database that it is in.
    name: The schema.

        reports:
          postgres_schema.absent:
            - dbname: app
    """
    it = Entity(server.within(dbname), "SCHEMA", name)
    return SCHEMA.absent(it.row(FOUND, NEW), it.drop, name=name, dbname=dbname)


autorequire = comes_after(
    "A schema comes after its database and its owner.",
    *SERVER,
    dbname="postgres_database",
    owner="postgres_user",
)
