# SPDX-License-Identifier: Apache-2.0
"""How clusters and data directories of PostgreSQL are tried: with the real tools, on copies of this
computer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from laws import on_machine

FOLDER = "install -d -o postgres /srv/pg; "
DATA = {"name": "/srv/pg/data", "runas": "postgres"}


on = on_machine("postgres_")


def version() -> str:
    """The newest server that this computer has."""
    return max(
        (path.parent.parent.name for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        default="15",
    )


OURS = f"/etc/postgresql/{version()}/two"
MADE = (  # what Debian's tools take for a cluster
    f"install -d -o postgres {OURS} /srv/two /run/postgresql; echo {version()} >"
    " /srv/two/PG_VERSION; printf \"port = 5777\\ndata_directory = '/srv/two'\\n\" >"
    f" {OURS}/postgresql.conf; chown -R postgres {OURS}; "
)
NEW: dict[str, Any] = {
    "port": 5778,
    "encoding": "UTF8",
    "locale": "C.UTF-8",
    "datadir": "/srv/pg/two",
}
NEW |= {"data_checksums": True, "wal_segsize": 4, "allow_group_access": True}
TWO = {"name": "two", "version": version()}
SCENARIOS = [
    on("cluster.present name=two", version=version(), **NEW),
    on("cluster.present name=two port=5777", MADE, plans=False, version=version()),
    on("cluster.present name=two port=5778", MADE, version=version(), fails="has wrong parameters"),
    on("cluster.present name=two", version="9.1", fails="there is no postgresql-9.1"),
    on("cluster.absent name=two", MADE, version=version()),
    on(
        "cluster.absent",
        "rmdir /run/postgresql; " + MADE.replace("/run/postgresql", ""),
        fails="pg_lsclusters: ",
        **TWO,
    ),
    on("cluster.absent name=two", plans=False, version=version()),
    on("initdb.present user=pg password='x y' auth=md5 locale=C checksums=true", FOLDER, **DATA),
    on("initdb.present auth=peer encoding=SQL_ASCII locale=C waldir=/srv/pg/log", FOLDER, **DATA),
    on(
        "initdb.present",
        FOLDER + "mkdir /srv/pg/data; echo 15 > /srv/pg/data/PG_VERSION",
        plans=False,
        **DATA,
    ),
    on("initdb.present", FOLDER, fails="auth password needs a password", **DATA),
]
