# SPDX-License-Identifier: Apache-2.0
"""Clusters of PostgreSQL, as Debian's tools make them."""

from __future__ import annotations

from collections.abc import Iterator

from modules.databases import postgres
from runner.api import AbsolutePath, CommandFailed, Line, Name, Plan, Planned, StateFailed


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
        return f"Cluster {cluster} is already present"
    if not postgres.server_exists(version):
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
    yield Plan(
        {cluster: "Present"},
        f"Cluster {cluster} is set to be created",
        provides=[("file", datadir or "")],
    )
    try:
        postgres.cluster_create(version, name, options, initdb)
    except CommandFailed as failure:
        raise StateFailed(
            f"Failed to create cluster {cluster}: {failure.message}", changes={}
        ) from None
    return f"The cluster {cluster} has been created"


def absent(name: Name, version: Name) -> Planned:
    """Make sure that there is no such cluster: it is stopped, and removed with all of its
    databases.

    name, version: as of postgres_cluster.present.

        main:
          postgres_cluster.absent:
            - version: '13'

    Behaviour: Salt's postgres_cluster.absent.
    """
    cluster = f"{version}/{name}"
    if not postgres.cluster_exists(version, name):
        return f"Cluster {cluster} is not present, so it cannot be removed"
    yield Plan({cluster: "Absent"}, f"Cluster {cluster} is set to be removed")
    try:
        postgres.cluster_remove(version, name)
    except CommandFailed as failure:
        raise StateFailed(
            f"Cluster {cluster} failed to be removed: {failure.message}", changes={}
        ) from None
    return f"Cluster {cluster} has been removed"


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """A cluster comes after the packages that make it."""
    yield "pkg", "postgresql"
    yield "pkg", "postgresql-common"
