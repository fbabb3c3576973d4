"""Clusters of PostgreSQL, as Debian's tools make them."""

from __future__ import annotations

from collections.abc import Iterator

from modules import postgres
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

    name, version: which, such as main of 15. port: what it listens on. encoding, locale: of its
    databases. datadir: where they lie. allow_group_access: the group of the server may read them.
    data_checksums: pages have checksums. wal_segsize: megabytes of a segment of the log. Port and
    datadir are compared with those of an existing cluster; the others hold when it is made.

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

    name, version: which.

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
