# SPDX-License-Identifier: Apache-2.0
"""A server that takes a connection and says nothing, or takes none, is waited for no longer than a
minute.
"""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from command import Machine
from harness import HarnessHere

from modules import git
from modules.git import _run
from runner.api import CommandFailed, changes_allowed, running

PSQL = '#!/bin/sh\necho "psql: error: waits for $PGCONNECT_TIMEOUT s" >&2; exit 2\n'
MARIADB = '#!/bin/sh\necho "ERROR 2002 (HY000): $*" >&2; exit 1\n'


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def comment(machine: Machine, sls: str) -> str:
    machine.write(a=sls)
    (result,) = machine.results("sls", "a", code=2).values()
    return str(result["comment"])


def test_clients_of_databases_are_told_how_long(machine: Machine) -> None:
    programs = machine.folder / "programs"
    program(programs / "psql", PSQL)
    program(programs / "mariadb", MARIADB)
    machine.config["postgres.bins_dir"] = str(programs)
    machine.environment["PATH"] = f"{programs}:{machine.environment['PATH']}"
    role = "app: {postgres_user.present: [db_host: 192.0.2.1]}\n"
    assert "waits for 60 s" in comment(machine, role)
    machine.environment["PGCONNECT_TIMEOUT"] = "7"
    assert "waits for 7 s" in comment(machine, role), "what the caller says"
    account = "app: {mysql_user.present: [password: x, connection_host: 192.0.2.1]}\n"
    assert "--connect-timeout=60" in comment(machine, account)


def test_git_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_run, "MOST_SILENT", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, running(HarnessHere(root=tmp_path)):
        port = silent.getsockname()[1]
        with pytest.raises(CommandFailed, match="has not answered: timed out after 1 seconds"):
            git.ls_remote(remote=f"http://127.0.0.1:{port}/x.git")
        with pytest.raises(CommandFailed, match="Less than 1 bytes/sec"), changes_allowed():
            git.clone(str(tmp_path), f"http://127.0.0.1:{port}/x.git")
        assert (
            "ConnectTimeout=1 -o ServerAliveInterval=1" in _run._environment(())["GIT_SSH_COMMAND"]
        )


def test_git_gives_up_where_nobody_takes_a_connection(machine: Machine) -> None:
    """The kernel answers nobody as long as a server has not taken those who came before."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        url = f"https://127.0.0.1:{address[1]}/x.git"
        machine.write(a=f"{url}:\n  git.latest: [target: {{tmp}}/x]\n")
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(address)
        code = "from modules.git import _run; _run.MOST_SILENT = 1"
        for words in (
            ("sls", "a"),
            ("sls", "a", "--test"),
            ("call", "git.ls_remote", f"remote={url}"),
        ):
            done = machine.altered(code, *machine.argv(*words)[3:])
            told = " ".join(done.stdout.split()) + done.stderr
            assert "the server has not answered: timed out after 1 seconds" in told
        for one in waiting:
            one.close()
