# SPDX-License-Identifier: Apache-2.0
"""Clusters of databases: those of Debian's tools (pg_createcluster), and data directories made with
initdb.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules._machine.processes import missing, needs
from modules._texts.lines import join_lines, one_line, plain_name
from runner.api import CommandFailed, StateFailed, changer, here

TOOLS = "postgresql-common"


def cluster_list() -> dict[str, dict[str, str]]:
    """Debian's clusters, by `version/name`: port, status, user, datadir, log. Raises StateFailed
    when pg_lsclusters fails.

    {{ salt['postgres.cluster_list']() }}
    """
    needs("pg_lsclusters", TOOLS)
    done = cmd.probe(["pg_lsclusters", "--no-header"])
    if done.retcode:
        raise StateFailed(f"pg_lsclusters: {done.stderr.strip()}")
    clusters = {}
    for words in (line.split() for line in done.stdout.splitlines()):
        if len(words) > 5:
            keys = ("port", "status", "user", "datadir", "log")
            clusters[f"{words[0]}/{words[1]}"] = dict(zip(keys, words[2:], strict=False))
    return clusters


def cluster_exists(version: str, name: str = "main") -> bool:
    """Return whether there is a cluster.

    {{ salt['postgres.cluster_exists']('15', 'main') }}
    """
    return f"{version}/{name}" in cluster_list()


def server_exists(version: str) -> bool:
    """Return whether Debian's server of this version is installed.

    {{ salt['postgres.server_exists']('15') }}
    """
    return file.is_file(f"/usr/lib/postgresql/{version}/bin/initdb")


@changer
def cluster_create(
    version: str, name: str, options: Sequence[str], initdb: Sequence[str] = ()
) -> bool:
    """Make a cluster. options: for pg_createcluster; initdb: for that program."""
    more = ["--", *initdb] if initdb else []
    return _run(["pg_createcluster", *options, *_name_words(version, name), *more])


@changer
def cluster_remove(version: str, name: str) -> bool:
    """Stop a cluster and remove it with all of its databases."""
    return _run(["pg_dropcluster", "--stop", *_name_words(version, name)])


def _name_words(version: str, name: str) -> list[str]:
    return [plain_name(version, "the version"), plain_name(name, "the name of the cluster")]


def _run(argv: Sequence[str]) -> bool:
    done = cmd.execute(argv)
    if done.retcode:
        raise CommandFailed(done.error_text)
    return True


def datadir_exists(name: str) -> bool:
    """Return whether a folder holds the databases of a server.

    {{ salt['postgres.datadir_exists']('/srv/pg') }}
    """
    return file.is_file(f"{name}/PG_VERSION")


def initdb() -> str:
    """The path of initdb: on PATH, in the folder `postgres.bins_dir` of the configuration, or
    Debian's newest. Raises StateFailed when there is none.
    """
    folder = here.opts.get("postgres.bins_dir")
    if folder:
        return os.path.join(str(folder), "initdb")
    programs = sorted(_paths.glob("/usr/lib/postgresql/*/bin/initdb"), key=_version)
    path = cmd.which("initdb") or (programs[-1] if programs else None)
    if path is None:
        raise missing("initdb", "postgresql")
    return path


def _version(path: str) -> tuple[int, ...]:
    return tuple(int(part) for part in path.split("/")[4].split(".") if part.isdigit())


@changer
def datadir_init(
    name: str, options: Sequence[str], runas: str | None, password: str | None
) -> bool:
    """Make the databases of a new server in a folder. Raises CommandFailed when initdb fails.
    options: for initdb. runas: whose they are.
    """
    words = [initdb(), f"--pgdata={name}", *options]
    # the pipe belongs to whom initdb runs as: no file, and no argument, shows the password
    line = (
        shlex.join(words)
        if password is None
        else f"cat | {shlex.join([*words, '--pwfile=/dev/stdin'])}"
    )
    done = cmd.execute_shell(
        line,
        runas=runas,
        cwd="/",
        shell="/bin/sh",
        stdin=join_lines([one_line(password or "", "the password")]),
    )
    if done.retcode:
        raise CommandFailed(done.error_text)
    return True
