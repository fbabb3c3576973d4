# SPDX-License-Identifier: Apache-2.0
"""A real Salt: an environment that is made once and kept, and a master with a minion on loopback.

The environment lies in the cache folder of the machine layers. It holds what a master and a minion
import, not all that the package asks for: those are sixty packages more, of which one needs a
compiler. RUNNER_MACHINE=required makes it a failure if there is none.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from needing import is_user_0
from starting import PATIENCE

PACKAGES = tuple(
    """
    salt>=3008.3,<3009 cryptography cffi pycparser distro Jinja2 MarkupSafe jmespath
    looseversion msgpack packaging psutil PyYAML pyzmq requests certifi charset-normalizer idna
    urllib3 tornado xxhash
    """.split()
)


class NoSalt(Exception):
    """Why there is none."""


def environment() -> Path:
    """The folder with Salt's programs. Raises NoSalt where it cannot be made."""
    usual = "/var/cache" if is_user_0() else Path.home() / ".cache"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or usual, "runner-machine")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(repr((PACKAGES, sys.version, sys.prefix)).encode()).hexdigest()[:12]
        with open(folder / "salt.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = folder / f"salt-{key}"
            if not (made / "complete").exists():
                for other in folder.glob("salt-*"):
                    shutil.rmtree(other)
                _make(made)
    except OSError as error:
        raise NoSalt(error) from None
    return made / "bin"


def _make(folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "-q", "--python", f"{folder}/bin/python", "install"]
    # the packages name all that they need themselves: resolving it takes longer than all else
    install = [*pip, "--no-deps", "--no-compile", "--disable-pip-version-check", *PACKAGES]
    for line in ([sys.executable, "-m", "venv", "--without-pip", str(folder)], install):
        try:
            done = subprocess.run(
                line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise NoSalt(f"{line[2]} is not done after {PATIENCE} seconds") from None
        if done.returncode:
            raise NoSalt("; ".join(done.stderr.strip().split("\n")[-3:]))
    (folder / "complete").touch()


def environment_or_skip() -> Path:
    """The folder with Salt's programs; skips the test where it cannot be made."""
    try:
        return environment()
    except NoSalt as reason:
        if os.environ.get("RUNNER_MACHINE") == "required":
            pytest.fail(f"RUNNER_MACHINE=required, but: {reason}", pytrace=False)
        pytest.skip(f"no Salt: {reason}")


# reads lines of JSON, (function, arguments, named arguments), and answers each with what the
# minion returned, or ("kept", [job]) what the job cache has: a start of `salt` costs a second
CLIENT = """
import json, sys
import salt.client
client = salt.client.LocalClient(c_path=sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    fun, args, kwargs = json.loads(line)
    if fun == "kept":
        answer = client.get_cache_returns(*args)
    else:
        answer = client.cmd("*", fun, args, kwarg=kwargs, timeout=60, full_return=True)
    print(json.dumps(answer), flush=True)
"""


class RealSalt:
    """A master and its minion. folder: of both, short enough for sockets below it."""

    def __init__(self, programs: Path, folder: Path, master_config: str) -> None:
        """master_config: the folder of the master's configuration, which is completed here."""
        self.programs, self.folder, self.master_config = programs, folder, master_config
        self._processes: list[subprocess.Popen[str]] = []
        ports = _free_ports(2)
        master = {
            "interface": "127.0.0.1",
            "publish_port": ports[0],
            "ret_port": ports[1],
            "root_dir": str(folder / "master"),
            "sock_dir": str(folder / "master" / "sock"),
            "auto_accept": True,
            "worker_threads": 2,
            "user": "root" if is_user_0() else os.environ.get("USER", "root"),
        }
        drop_in = Path(master_config, "master.d")
        drop_in.mkdir()
        (drop_in / "loopback.conf").write_text(json.dumps(master))
        self.minion_config = folder / "etc"
        self.minion_config.mkdir()
        self.minion = {
            "master": "127.0.0.1",
            "publish_port": ports[0],
            "master_port": ports[1],
            "id": "web1.example.org",
            "root_dir": str(folder / "minion"),
            "sock_dir": str(folder / "minion" / "sock"),
            "acceptance_wait_time": 1,
            "enable_fqdns_grains": False,  # asks a name server
            "enable_gpu_grains": False,
        }

    def start(self) -> None:
        """Start both, and wait until the minion answers."""
        (self.minion_config / "minion").write_text(json.dumps(self.minion))
        self._spawn("salt-master", self.master_config)
        self._spawn("salt-minion", str(self.minion_config))
        until = time.monotonic() + PATIENCE
        while True:
            time.sleep(1)
            if self._client_answers():
                return
            if time.monotonic() > until:
                logs = [path.read_text()[-2000:] for path in self.folder.glob("*.log")]
                raise AssertionError("\n".join(["the minion does not answer", *logs]))

    def _client_answers(self) -> bool:
        ping = "import salt.client, sys; c = salt.client.LocalClient(c_path=sys.argv[1]);"
        ping += "sys.exit(not c.cmd('*', 'test.ping', timeout=3))"
        line = [str(self.programs / "python"), "-c", ping, f"{self.master_config}/master"]
        return subprocess.run(line, capture_output=True).returncode == 0

    def _spawn(self, program: str, config: str) -> None:
        with open(self.folder / f"{program}.log", "w") as log:
            line = [str(self.programs / program), "-c", config, "-l", "info"]
            self._processes.append(
                subprocess.Popen(
                    line,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    text=True,
                    start_new_session=True,
                )
            )

    def stop(self) -> None:
        """End both with all their processes."""
        for process in self._processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def used(self) -> tuple[float, ...]:
        """CPU seconds of the master's processes and of the minion's."""
        sums = {process.pid: 0 for process in self._processes}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                if (session := int(fields[3])) in sums:
                    sums[session] += sum(map(int, fields[11:15]))  # of itself, of ended children
        return tuple(ticks / os.sysconf("SC_CLK_TCK") for ticks in sums.values())

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of the master that takes one command after another."""
        line = [str(self.programs / "python"), "-c", CLIENT, f"{self.master_config}/master"]
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout and process.stdout.readline() == "ready\n"
            yield Client(process)

    def program(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """One of the master's programs, as a person starts it."""
        line = [str(self.programs / name), "-c", self.master_config, *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE)


class Client:
    """Commands for the minion."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, fun: str, *args: Any, **kwargs: Any) -> tuple[Any, int]:
        """Return what the minion returned, and its exit code."""
        answer = self._asked(fun, *args, **kwargs)
        return answer["ret"], answer["retcode"]

    def kept(self, job: str) -> Any:
        """Return what the master's job cache has of a job."""
        return self._asked("kept", job)["ret"]

    def _asked(self, fun: str, *args: Any, **kwargs: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([fun, args, kwargs]) + "\n")
        self._process.stdin.flush()
        (answer,) = json.loads(self._process.stdout.readline()).values()
        return answer


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for item in sockets:
        item.bind(("127.0.0.1", 0))
    ports = [item.getsockname()[1] for item in sockets]
    for item in sockets:
        item.close()
    return ports
