# SPDX-License-Identifier: Apache-2.0
"""Folders with the databases of a PostgreSQL server, made with initdb."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

from modules import cmd
from modules.databases import postgres
from runner.api import AbsolutePath, Line, Name, Plan, Planned, Secret, StateFailed
from states._tools import explained

Auth = Literal[
    "password",
    "md5",
    "scram-sha-256",
    "trust",
    "reject",
    "peer",
    "ident",
    "pam",
    "ldap",
    "cert",
    "gss",
]


def dry_run_check(plan: Plan, name: str, runas: str | None = None, **arguments: object) -> None:
    """Raise StateFailed where the caller may not run a program as that user."""
    cmd.refuse_surroundings(None, runas or "postgres", None, None)


def present(
    name: AbsolutePath,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    auth: Auth = "password",
    encoding: Line = "UTF8",
    locale: Line | None = None,
    runas: Name | None = None,
    waldir: AbsolutePath | None = None,
    checksums: bool = False,
) -> Planned:
    """Make sure that a folder holds the databases of a server.

    name: The folder.
    user: The server's superuser; without it the user of runas.
    password: The password of the superuser; the ways of `auth` with a password need one.
    auth: How local users sign in: `password`, `md5`, `scram-sha-256`, `peer`, `trust`.
    encoding: The encoding of the databases.
    locale: The locale of the databases.
    runas: The user of the system that they belong to; without it postgres, where root runs this.
    waldir: The folder of the log.
    checksums: Have pages carry checksums.

        /srv/postgres/data:
          postgres_initdb.present:
            - auth: peer
            - checksums: True

    Behaviour: Salt 3008's postgres_initdb.present; what initdb says is told.
    """
    if postgres.datadir_exists(name):
        return f"Postgres data directory {name} is already present"
    failed = f"Postgres data directory {name} initialization failed"
    if password is None and auth in ("password", "md5", "scram-sha-256"):
        raise StateFailed(f"{failed}: auth {auth} needs a password")
    postgres.initdb()
    owner = runas or ("postgres" if os.geteuid() == 0 else None)
    options = [f"--auth={auth}", f"--encoding={encoding}"]
    arguments = {"username": user, "locale": locale, "waldir": waldir}
    options += [f"--{key}={value}" for key, value in arguments.items() if value is not None]
    options += ["--data-checksums"] if checksums else []
    comment = f"Postgres data directory {name} is set to be initialized"
    yield Plan({name: "Present"}, comment, provides=[("file", name)])
    with explained(failed, changes={}):
        postgres.datadir_init(name, options, owner, password)
    return f"Postgres data directory {name} has been initialized"


def autorequire(name: str, runas: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """The folder comes after the package, its user and the folders above it."""
    yield "pkg", "postgresql"
    yield "user", runas or "postgres"
    above = name
    while "/" in above[1:]:
        above = above.rpartition("/")[0]
        yield "file", above
