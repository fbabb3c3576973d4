# SPDX-License-Identifier: Apache-2.0
"""Clusters of PostgreSQL, as Debian's tools make them."""

from __future__ import annotations

from functools import partial

from modules.databases import postgres
from runner.api import AbsolutePath, Line, Name, Planned, StateFailed
from runner.api.kinds import Kind, comes_after
from states._rights import only_root
from states.databases._wording import CREATED, REMOVED

dry_run_check = only_root("pg_createcluster")

CLUSTER = Kind("cluster {name}", CREATED._replace(provides={"file": "{datadir}"}), removed=REMOVED)


def present(
    name: Name,
    version: Name,
    port: int | None = None,
    encoding: Line | None = None,
    locale: Line | None = None,
    datadir: AbsolutePath | None = None,
    allow_group_access: bool | None = None,
    data_checksums: bool | None = None,
    wal_segsize: int | None = None,
) -> Planned:
    """Make sure that there is a cluster.

    name: The name of the cluster, such as main.
    version: The version of the server, such as 15.
    port: The port that it listens on; compared with that of an existing cluster.
    encoding: The encoding of its databases; it holds when the cluster is made.
    locale: The locale of its databases; it holds when the cluster is made.
    datadir: The folder of its databases; compared with that of an existing cluster.
    allow_group_access: The group of the server may read the folder; it holds when the cluster is
      made.
    data_checksums: Pages have checksums; it holds when the cluster is made.
    wal_segsize: Megabytes of a segment of the log; it holds when the cluster is made.

        main:
          postgres_cluster.present:
            - version: '15'
            - data_checksums: True

    Behaviour: Salt's postgres_cluster.present; what pg_createcluster says is told.
    """
    cluster = f"{version}/{name}"
    cluster_facts = postgres.cluster_list().get(cluster)
    if cluster_facts is not None:
        same = cluster_facts["port"] == str(port or cluster_facts["port"]) and cluster_facts[
            "datadir"
        ] == (datadir or cluster_facts["datadir"])
        if not same:
            raise StateFailed(
                f"Cluster {cluster} has wrong parameters which couldn't be changed on fly."
            )
    elif not postgres.server_exists(version):
        package = f"postgresql-{version}"
        raise StateFailed(
            f"Failed to create cluster {cluster}: there is no {package}", missing=("pkg", package)
        )
    options_given = {
        "--port": port,
        "--encoding": encoding,
        "--locale": locale,
        "--datadir": datadir,
    }
    options = [
        word
        for key, value in options_given.items()
        if value is not None
        for word in (key, str(value))
    ]
    initdb = ["--allow-group-access"] if allow_group_access else []
    initdb += ["--data-checksums"] if data_checksums else []
    initdb += [f"--wal-segsize={wal_segsize}"] if wal_segsize else []
    create = partial(postgres.cluster_create, version, name, options, initdb)
    return CLUSTER.present(cluster_facts, create, name=cluster, datadir=datadir or "")


def absent(name: Name, version: Name) -> Planned:
    """Make sure that there is no such cluster: it is stopped, and removed with all of its
    databases.

    name, version: as of postgres_cluster.present.

        main:
          postgres_cluster.absent:
            - version: '13'
    """
    remove = partial(postgres.cluster_remove, version, name)
    there = postgres.cluster_exists(version, name)
    return CLUSTER.absent(there, remove, name=f"{version}/{name}")


autorequire = comes_after(
    "A cluster comes after the packages that make it.",
    ("pkg", "postgresql"),
    ("pkg", "postgresql-common"),
)
