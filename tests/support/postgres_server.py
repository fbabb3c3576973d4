# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server for the tests of this process, on a socket in a folder of its own; no
network.
"""

from __future__ import annotations

import atexit
import functools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from needing import is_user_0, require_root
from starting import wait_until

from runner.engine.rehearsal.namespaces import die_with_parent

PORT = 5999  # only a part of the socket's name
# of the socket: what db_host says
FOLDER = Path(tempfile.gettempdir(), f"runner-postgres-{os.getpid()}")


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found and os.environ.get("RUNNER_MACHINE") == "required":
        pytest.fail(
            "RUNNER_MACHINE=required, but PostgreSQL's server is not installed", pytrace=False
        )
    if not found:
        pytest.skip("PostgreSQL's server is not installed")
    if is_user_0():
        require_root("PostgreSQL's server runs as somebody else")
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        pytest.skip("PostgreSQL's server is run by no user without a name")
    return found[-1].parent


def _start(argv: Sequence[object]) -> subprocess.Popen[bytes]:
    """Start a program as the user who may run PostgreSQL; it dies with this process."""
    user: dict[str, Any] = (
        {"user": "postgres", "group": "postgres", "extra_groups": []} if is_user_0() else {}
    )
    quiet = subprocess.DEVNULL
    dying = functools.partial(die_with_parent, signal.SIGQUIT)
    return subprocess.Popen(
        [str(word) for word in argv],
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        cwd="/",
        preexec_fn=dying,
        **user,
    )


@functools.cache
def started() -> bool:
    """Start the server; it ends with this process."""
    programs, base = _programs(), FOLDER
    os.environ["PATH"] = (
        f"{programs}:{os.environ['PATH']}"  # psql itself: Debian's wrapper takes most of the time
    )
    (base / "space").mkdir(parents=True)
    if is_user_0():
        shutil.chown(base, "postgres", "postgres")
        shutil.chown(base / "space", "postgres", "postgres")
    made = ["-D", base / "data", "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8"]
    assert _start([programs / "initdb", *made]).wait() == 0
    options = ("fsync=off", "listen_addresses=", f"unix_socket_directories={base}", f"port={PORT}")
    server = _start(
        [
            programs / "postgres",
            "-D",
            base / "data",
            *(word for each in options for word in ("-c", each)),
        ]
    )

    def stop() -> None:
        server.send_signal(signal.SIGQUIT)
        server.wait()
        shutil.rmtree(base, ignore_errors=True)

    atexit.register(stop)
    ready = [programs / "pg_isready", "-q", "-h", base, "-p", str(PORT)]
    wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, "PostgreSQL")
    return True


def sql(*statements: str, database: str = "postgres") -> str:
    """Return what the server answers."""
    assert started()
    words = [
        "psql",
        "-h",
        str(FOLDER),
        "-p",
        str(PORT),
        "-U",
        "postgres",
        "-d",
        database,
        "-qAtX",
        "-v",
        "ON_ERROR_STOP=1",
    ]
    text = "".join(f"{statement};\n" for statement in statements)
    return subprocess.run(words, input=text, check=True, capture_output=True, text=True).stdout
