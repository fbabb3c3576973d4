"""A throw-away Debian machine: a real systemd, apt and cron beside this computer's, in a second;
gone with its `with`.

It is a copy of this computer's files that lie on its root file system (an overlay: what is changed
lies in memory), in namespaces of its own. There is no network but its own loopback; apt finds the
packages of the layer.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import namespaces
from namespaces import CAPABILITIES, ENVIRONMENT, INITS, READY, Config

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60  # seconds that a start may take on a busy computer
RUNNER = "/usr/local/bin/runner"
PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from runner.cli import main
main()
"""


class NoDebian(Exception):
    """Why there is none here."""


def shared() -> tuple[str, ...]:
    """What a machine shares with this computer: this Python, its environment, the checkout."""
    wanted = sorted({str(ROOT), sys.prefix, sys.base_prefix} - {"/usr", "/usr/local"}, key=len)
    return tuple(
        path
        for i, path in enumerate(wanted)
        if not any(path.startswith(f"{other}/") for other in wanted[:i])
    )


class Debian:
    """A machine that runs. pid: its PID 1, seen from here."""

    def __init__(self, pid: int, cgroup: str) -> None:
        self.pid = pid
        self.cgroup = cgroup

    def argv(self, words: Sequence[str]) -> list[str]:
        """The command here that runs a command there."""
        dropped = ",".join(f"-{name}" for name in CAPABILITIES)
        enter = [
            "setpriv",
            "--bounding-set",
            dropped,
            "nsenter",
            "-t",
            str(self.pid),
            "--all",
            "--",
        ]
        return [
            *enter,
            "env",
            "-i",
            "-C",
            "/root",
            *(f"{name}={value}" for name, value in ENVIRONMENT.items()),
            *words,
        ]

    def run(
        self, *words: str, code: int | None = 0, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program, or a line of shell, as root; code: the expected status, None for any."""
        command = self.argv(words if len(words) > 1 else ["sh", "-c", words[0]])
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300)
        told = f"{shlex.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert code is None or done.returncode == code, told
        return done

    def read(self, *words: str) -> str:
        """What a program says, without the last newline."""
        return self.run(*words).stdout.rstrip("\n")

    def runner(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """runner as root there, from this checkout."""
        done = self.run(RUNNER, *words, code=code)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def results(self, *words: str, code: int | None = 0) -> dict[str, Any]:
        """What runner says of each state, by its ID."""
        answer = json.loads(self.runner(*words, "--out", "json", code=code).stdout)["local"]
        assert isinstance(answer, dict), answer
        return {value["__id__"]: value for value in answer.values()}

    def tree(self, **files: str) -> None:
        """SLS files of the default tree, by their names."""
        for name, text in files.items():
            self.write(f"/srv/runner/states/{name}.sls", text)

    def path(self, path: str) -> Path:
        """A file of the machine, seen from here; absolute symlinks lead astray."""
        return Path(f"/proc/{self.pid}/root{path}")

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Put a file there, with its folders."""
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)


@contextlib.contextmanager
def debian(layer: Path, init: str = "systemd") -> Iterator[Debian]:
    """A machine with an init (of namespaces.INITS) on top of a layer; NoDebian where this computer
    cannot have one.
    """
    config = Config(str(layer), shared(), _cgroup(), init)
    command = [sys.executable, "-I", namespaces.__file__, config.dump(), str(os.getpid())]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True
    ) as holder:
        try:
            found = Debian(_pid(holder), config.cgroup)
            _wait_booted(found, init)
            found.write(RUNNER, PROGRAM, 0o755)
            yield found
        finally:
            holder.terminate()
            holder.wait(PATIENCE)


def _cgroup() -> str:
    """A new control group for systemd, named after this process."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        if fields[fields.index("-") + 1] == "cgroup2" and os.access(fields[4], os.W_OK):
            _remove_orphans(Path(fields[4]))
            folder = f"{fields[4]}/runner-machine-{os.getpid()}-{time.monotonic_ns()}"
            os.mkdir(folder)
            return folder
    raise NoDebian("no control groups (cgroup2) for systemd")


def _remove_orphans(groups: Path) -> None:
    """What machines left whose holder was killed, too."""
    for folder in groups.glob("runner-machine-*"):
        if not os.path.exists(f"/proc/{folder.name.split('-')[2]}"):
            namespaces.remove_cgroup(str(folder))


def _pid(holder: subprocess.Popen[bytes]) -> int:
    assert holder.stdout and holder.stderr
    said = b""
    while not said.endswith(b"entered\n"):
        if not select.select([holder.stdout], [], [], PATIENCE)[0]:
            raise NoDebian("it did not start in time")
        piece = os.read(holder.stdout.fileno(), 100)
        if not piece:
            raise NoDebian(
                holder.stderr.read().decode().strip().rpartition("\n")[2] or "it did not start"
            )
        said += piece
    return int(said.split()[0])


def _wait_booted(machine: Debian, init: str) -> None:
    end = time.monotonic() + PATIENCE
    state = "silent"
    while time.monotonic() < end and os.path.exists(f"/proc/{machine.pid}"):
        state = machine.run(INITS[init][2], code=None).stdout.strip()
        if state in READY:
            return
        time.sleep(0.02)
    raise NoDebian(f"{init} did not come up: it is {state}")
