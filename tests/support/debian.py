# SPDX-License-Identifier: Apache-2.0
"""A throw-away Debian machine: a real systemd, apt and cron beside this computer's, in a second;
gone with its `with`.

It is a copy of this computer's files that lie on its root file system (an overlay: what is changed
lies in memory), in namespaces of its own. There is no network but its own loopback; apt finds the
packages of the layer.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from starting import PATIENCE, SCRIPT, starts, waits

from runner.engine.rehearsal.holder import ENVIRONMENT, Spec
from runner.engine.rehearsal.sandbox import SYSTEMD, SYSTEMD_READY, Sandbox, SandboxUnavailable

ROOT = Path(__file__).parent.parent.parent
RUNNER = "/usr/local/bin/runner"
# what this computer may have of its own runner: its history would be that of the machine
OWN = ("/srv/runner", "/var/cache/runner", "/var/lib/runner")
PROGRAM = f"""{SCRIPT}import sys
sys.path.insert(0, {str(ROOT)!r})
from runner.cli import main
main()
"""

# PID 1: its command, what it takes for its container, and the command that answers with a state of
# sandbox.READY when it is done
INITS = {
    "systemd": (
        [SYSTEMD, "--system", "--log-target=journal", "--show-status=0"],
        "systemd-nspawn",
        SYSTEMD_READY,
    ),
    "openrc": (["/sbin/openrc-init"], "lxc", "pgrep -x openrc >/dev/null || rc-status -r"),
    "runit": (["/sbin/runit"], "lxc", "pgrep -x runsvdir >/dev/null && echo running"),
    "s6": (
        ["/bin/sh", "-c", "mkdir -p /run/service; exec s6-svscan /run/service"],
        "lxc",
        "test -p /run/service/.s6-svscan/control && echo running",
    ),
    "none": ([], "", ""),  # a PID 1 that only reaps: enough for what needs no services
}


class NoDebian(Exception):
    """Why there is none here."""


def shared() -> tuple[str, ...]:
    """Return what a machine shares with this computer: Python, its environment, the checkout."""
    wanted = sorted({str(ROOT), sys.prefix, sys.base_prefix} - {"/usr", "/usr/local"}, key=len)
    return tuple(
        path
        for i, path in enumerate(wanted)
        if not any(path.startswith(f"{other}/") for other in wanted[:i])
    )


def spec(layer: str) -> Spec:
    """A machine on top of a layer."""
    return Spec(
        "none",
        4 << 30,
        layer=layer,
        shared=shared(),
        empty=("/run", "/tmp"),
        host_name="machine",
        devices=True,
    )


class Debian:
    """A machine that runs. pid: its PID 1, seen from here."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.pid, self.cgroup = sandbox.pid, sandbox.cgroup

    def argv(self, words: Sequence[str]) -> list[str]:
        """The command here that runs a command there."""
        variables = (f"{name}={value}" for name, value in ENVIRONMENT.items())
        return self.sandbox.argv(["env", "-i", *variables, *words], cwd="/root")

    def run(
        self, *words: str, code: int | None = 0, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program, or a line of shell, as root; code: the expected status, None for any."""
        command = self.argv(words if len(words) > 1 else ["sh", "-c", words[0]])
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=PATIENCE
        )
        told = f"{shlex.join(words)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert code is None or done.returncode == code, told
        return done

    def start(self, *words: str, **more: str) -> int:
        """Start a program in the background; its process number there, once it runs. more: as
        `starts` takes it.
        """
        return int(self.read(starts(*words, **more)))

    def until(self, line: str) -> None:
        """Wait until a line of shell succeeds."""
        self.run(waits(line))

    def ended(self, pid: int) -> None:
        """Wait until a process has ended."""
        self.until(f"! test -e /proc/{pid}")

    def kill(self, *names: str) -> None:
        """Kill all programs of these names, and wait until they are gone."""
        for name in names:
            self.until(f"pkill -9 -x {name}; ! pgrep -x {name}")

    def read(self, *words: str) -> str:
        """Return what a program says, without the last newline."""
        return self.run(*words).stdout.rstrip("\n")

    def runner(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """runner as root there, from this checkout."""
        done = self.run(RUNNER, *words, code=code)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def results(self, *words: str, code: int | None = 0) -> dict[str, Any]:
        """Return what runner says of each state, by its ID."""
        answer = json.loads(self.runner(*words, "--out", "json", code=code).stdout)["local"]
        assert isinstance(answer, dict), answer
        return {value["__id__"]: value for value in answer.values()}

    def tree(self, **files: str) -> None:
        """SLS files of the default tree, by their names."""
        for name, text in files.items():
            self.write(f"/srv/runner/states/{name}.sls", text)

    def path(self, path: str) -> Path:
        """A file of the machine, seen from here; absolute symlinks lead astray."""
        return self.sandbox.path(path)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Put a file there, with its folders."""
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)


@contextlib.contextmanager
def debian(layer: Path, init: str = "systemd") -> Iterator[Debian]:
    """A machine with one of INITS on top of a layer; NoDebian where this computer cannot have
    one.
    """
    argv, container, ready = INITS[init]
    wanted = spec(str(layer))._replace(init=tuple(argv), container=container)
    sandbox = Sandbox(spec=wanted, ready=ready)
    try:
        sandbox.start()
    except SandboxUnavailable as error:
        raise NoDebian(error.message) from None
    with contextlib.closing(sandbox):
        machine = Debian(sandbox)
        for own in map(machine.path, OWN):
            shutil.rmtree(own, ignore_errors=True)
        machine.write(RUNNER, PROGRAM, 0o755)
        yield machine
