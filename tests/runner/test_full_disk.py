# SPDX-License-Identifier: Apache-2.0
"""Full file systems: what does not fit is refused before it fills them; nothing is left of it."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from serving import served

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a file system")

SMALL = 'mount -t tmpfs -o size=20m,mode=700 none {0}; "$@"; find {0} -type f -size +1000'
MIB = b"x" * (1 << 20)


class _Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_response(200)
        size = {"/cut": 3 << 20, "/huge": 10**15, "/right": 2 << 20}.get(self.path)
        if size:
            self.send_header("Content-Length", str(size))
        self.end_headers()
        with suppress(OSError):
            if size and size < 10**15:
                self.wfile.write(2 * MIB)
                return
            while True:
                self.wfile.write(MIB)
                time.sleep(0.2 if self.path == "/slow" else 0)


def on_a_small_disk(
    machine: Machine, folder: Path, *words: str
) -> tuple[dict[str, dict[str, Any]], str]:
    """The results by name where a folder is a file system of 20 MiB, and what is left in it."""
    folder.mkdir(exist_ok=True)
    argv = machine.argv(*words, "--out", "json")
    command = ["unshare", "-m", "sh", "-c", SMALL.format(folder), "sh", *argv]
    done = subprocess.run(
        command, capture_output=True, text=True, env=machine.environment, timeout=60
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    answer, end = json.JSONDecoder().raw_decode(done.stdout)
    found = {Path(each["name"]).name: each for each in answer["local"].values()}
    return found, done.stdout[end:].strip()


def test_downloads_that_do_not_fit_or_never_end(machine: Machine) -> None:
    url = served(_Server)
    states = {
        f"{{tmp}}/{name}": {"file.managed": [{"source": f"{url}/{name}"}, {"skip_verify": True}]}
        for name in ("huge", "endless", "cut", "right")
    }
    machine.write(all=json.dumps(states))
    found, left = on_a_small_disk(machine, machine.folder / "cache", "sls", "all")
    assert "it has 1000000000000000 bytes, and " in found["huge"]["comment"]
    assert "does not say how large it is" in found["endless"]["comment"]
    assert "its server ended it after 2097152 of 3145728 bytes" in found["cut"]["comment"]
    results = [found[name]["result"] for name in ("huge", "endless", "cut", "right")]
    assert results == [False, False, False, True]
    assert [Path(path).name for path in left.splitlines()] == ["right"]
    assert {path.name for path in machine.folder.iterdir()}.isdisjoint({"huge", "endless", "cut"})


def test_a_run_that_is_killed_while_it_downloads(machine: Machine) -> None:
    download = {"source": f"{served(_Server)}/slow", "skip_verify": True}
    machine.write(all=json.dumps({"{tmp}/slow": {"file.managed": [download]}}), none="{}")
    cached = machine.folder / "cache"

    def parts() -> list[Path]:
        return [path for path in cached.glob("extrn_files/**/.*") if path.is_file()]

    with subprocess.Popen(machine.argv("sls", "all"), env=machine.environment) as run:
        until = time.monotonic() + 30
        while not parts() and time.monotonic() < until:
            time.sleep(0.02)
        run.kill()
    assert parts()
    machine("sls", "none")
    assert not parts()
