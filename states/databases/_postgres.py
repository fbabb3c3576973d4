# SPDX-License-Identifier: Apache-2.0
"""The base of the states of PostgreSQL: what is in a server, and order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from modules.databases import postgres
from modules.databases.postgres import PostgresServer
from runner.api import Plan, Record, StateFailed, promised
from runner.api.kinds import Property
from states.databases import _wording


class Entity(Record):
    """What has a name in a server, by its kind in SQL. Statements make it, alter it and drop it,
    with those options that are given: all of a step or none.
    """

    server: PostgresServer
    kind: str
    name: str

    @property
    def sql(self) -> str:
        return f"{self.kind} {postgres.quoted(self.name)}"

    def row(self, query: str, new: Mapping[str, dict[str, Any]] = {}) -> dict[str, Any] | None:
        """What a query for its name answers. new: what each new database has, by its name."""
        brought = [new[self.name]] if self.name in new else []
        rows = self.server.select(query.format(postgres.literal(self.name)), brought)
        return rows[0] if rows else None

    def create(self, *options: object) -> None:
        self._execute("CREATE", options)

    def alter(self, differences: Iterable[Property]) -> None:
        self.server.execute(*(f"ALTER {self.sql} {each.set(each.target)}" for each in differences))

    def drop(self, *options: object) -> None:
        self._execute("DROP", options)

    def _execute(self, verb: str, options: Iterable[object]) -> None:
        self.server.execute(
            " ".join([f"{verb} {self.sql}", *(str(each) for each in options if each)])
        )


# what the end of a thing, or another owner, may make droppable
FREED = {"postgres": "freed"}
REMOVED = _wording.REMOVED._replace(provides=FREED)
UPDATED = _wording.UPDATED._replace(provides=FREED)
# why a server would not drop a thing, in its words; members leave a role by themselves
REFUSED = {
    "ROLE": """
SELECT CASE WHEN rolname = current_user THEN 'current user cannot be dropped' ELSE
    format('role "%s" cannot be dropped because some objects depend on it', rolname) END AS problem
FROM pg_roles r WHERE rolname = {} AND (rolname = current_user OR EXISTS (SELECT FROM pg_shdepend
    WHERE refclassid = 'pg_authid'::regclass AND refobjid = r.oid
        AND classid <> 'pg_auth_members'::regclass))
""",
    "DATABASE": """
SELECT CASE WHEN datname = current_database() THEN 'cannot drop the currently open database'
    WHEN datistemplate THEN 'cannot drop a template database' ELSE
    format('database "%s" is being accessed by other users', datname) END AS problem
FROM pg_database d WHERE datname = {} AND (datname = current_database() OR datistemplate OR EXISTS
    (SELECT FROM pg_stat_activity a WHERE datid = d.oid AND pid <> pg_backend_pid()
        AND coalesce(to_json(a)->>'backend_type', 'client backend') = 'client backend'))
""",
    "SCHEMA": """
SELECT format('cannot drop schema %s because other objects depend on it', nspname) AS problem
FROM pg_namespace n WHERE nspname = {} AND EXISTS (SELECT FROM pg_depend
    WHERE refclassid = 'pg_namespace'::regclass AND refobjid = n.oid AND deptype = 'n')
""",
    "TABLESPACE": """
SELECT format('tablespace "%s" is not empty', spcname) AS problem FROM pg_tablespace t
WHERE spcname = {} AND EXISTS (SELECT FROM pg_database WHERE dattablespace = t.oid)
""",
}


def dropping(kind: str) -> Callable[..., None]:
    """The `dry_run_check` of the states of a kind of thing, which may be one that stays."""

    def dry_run_check(
        plan: Plan,
        name: str,
        server: PostgresServer = PostgresServer(),
        dbname: str | None = None,
        **arguments: object,
    ) -> None:
        """Raise StateFailed where the server would not drop it."""
        if plan.changes == {name: "Absent"}:
            it = Entity(server.within(dbname) if dbname else server, kind, name)
            if found := it.row(REFUSED[kind]):
                may_go = [*FREED.items(), ("processes", "ended"), ("check", "processes")]
                raise StateFailed(found["problem"], missing=may_go)

    return dry_run_check


def require_role(server: PostgresServer, role: str) -> None:
    """Raise StateFailed for a role that is neither there nor planned."""
    missing = [("postgres_user", role), ("postgres_group", role)]
    if role.lower() == "public" or any(promised(*fact) for fact in missing):
        return
    if role not in postgres.roles(server, role, passwords=False):
        raise StateFailed(f'role "{role}" does not exist', missing=missing)


def require_owner(server: PostgresServer, owner: str | None, now: object) -> None:
    """Raise StateFailed where a thing cannot be given to its owner. now: who owns it."""
    if owner and owner != now:
        require_role(server, owner)


def owned_by(role: str) -> str:
    """How a statement gives a thing to a role."""
    return f"OWNER TO {postgres.quoted(role)}"


SERVER = (("pkg", "postgresql"), ("service", "postgresql"))  # what all of these come after
