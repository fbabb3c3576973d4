"""A PostgreSQL server for the tests of this process, on a socket in a folder of its own; no network."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

PORT = 5999  # only a part of the socket's name
FOLDER = Path(tempfile.gettempdir(), f"runner-postgres-{os.getpid()}")  # of the socket: what db_host says


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found and os.environ.get("RUNNER_MACHINE") == "required":
        pytest.fail("RUNNER_MACHINE=required, but PostgreSQL's server is not installed", pytrace=False)
    if not found:
        pytest.skip("PostgreSQL's server is not installed")
    return found[-1].parent


def _run(argv: Sequence[object]) -> None:
    user: dict[str, Any] = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    words = [str(word) for word in argv]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **user)


@functools.cache
def started() -> bool:
    """Start the server; it ends with this process."""
    programs, base = _programs(), FOLDER
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"  # psql itself: Debian's wrapper takes most of the time
    (base / "space").mkdir(parents=True)
    if os.geteuid() == 0:
        shutil.chown(base, "postgres", "postgres")
        shutil.chown(base / "space", "postgres", "postgres")
    _run([programs / "initdb", "-D", base / "data", "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C.UTF-8"])
    quiet = f"-c fsync=off -c listen_addresses= -c unix_socket_directories={base} -c port={PORT}"
    _run([programs / "pg_ctl", "-D", base / "data", "-w", "-o", quiet, "-l", base / "log", "start"])

    def stop() -> None:
        subprocess.run(["kill", "-QUIT", (base / "data/postmaster.pid").read_text().split()[0]], check=False)
        shutil.rmtree(base, ignore_errors=True)

    atexit.register(stop)
    return True


def sql(*statements: str, database: str = "postgres") -> str:
    """What the server answers."""
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
