# SPDX-License-Identifier: Apache-2.0
"""Tablespaces of PostgreSQL as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import file
from runner.api import Resource
from states.databases._resources._postgres import SERVER

ROLE = "databases"
AFTER = ("postgres_user",)
TABLESPACES = """
SELECT spcname AS name, pg_get_userbyid(spcowner) AS owner, spcoptions AS options,
    pg_tablespace_location(oid) AS place FROM pg_tablespace WHERE spcname !~ '^pg_' ORDER BY 1
"""


def resources(name: str | None) -> Iterator[Resource]:
    """Tablespaces with their directories, options and owners."""
    for row in SERVER.select(TABLESPACES):
        if name in (None, row["name"]):
            arguments = {"directory": row["place"], "owner": row["owner"]}
            if row["options"]:
                arguments["options"] = dict(option.split("=", 1) for option in row["options"])
            yield from _directory(row["place"])
            yield Resource("postgres_tablespace.present", row["name"], arguments)


def _directory(path: str) -> Iterator[Resource]:
    """The directory of a tablespace, which has to be there before; its files are the server's."""
    about = file.seen(path)
    if about:
        arguments = {"user": about.user, "group": about.group, "mode": about.mode}
        yield Resource("file.directory", path, arguments, files=(path,))
