# SPDX-License-Identifier: Apache-2.0
"""A copy of this machine to try things in, seen from outside; gone with its `with`."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from runner.api.own_program import own_python
from runner.engine.rehearsal.file_systems import Changed
from runner.engine.rehearsal.holder import ENVIRONMENT, Spec
from runner.engine.rehearsal.namespaces import CAPABILITIES, NETWORK_CAPABILITIES
from runner.model.errors import RunnerError

NETWORKS = ("none", "host")
PATIENCE = 90  # seconds that a start may take on a busy machine
SMALLEST = 64 << 20
STEP = 0.5  # seconds between two looks at a program that runs
PROGRAMS = ("nsenter", "setpriv")
USER_NAMESPACES = ("--user", "--mount", "--uts", "--ipc", "--pid")
HOLDER = "from runner.engine.rehearsal.holder import main; sys.exit(main())"
# units that look for hardware, or that would do what only the machine itself should
MASKED = (
    "systemd-modules-load.service systemd-sysctl.service systemd-udevd.service"
    " systemd-udev-trigger.service systemd-remount-fs.service systemd-update-utmp.service"
    " systemd-pstore.service dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount"
    " sys-kernel-config.mount sys-fs-fuse-connections.mount console-getty.service getty@.service"
    " serial-getty@.service apt-daily.service apt-daily-upgrade.service"
)


class SandboxUnavailable(RunnerError):
    """Why there can be no copy of this machine here, and what to do."""

    code = "no-sandbox"


def half_of_free_memory() -> int:
    """The bytes that the changes in a copy may take."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return max(SMALLEST, int(line.split()[1]) * 512)
    return SMALLEST


class Sandbox:
    """A copy of this machine, with processes, mounts and, for `network="none"`, a network of its
    own: what happens in it reaches nothing here.

    size: the bytes that its changes may take, in memory; by default half of what is free. keep: it
    stays when the `with` ends, until `close` or the end of the machine. spec: a copy of another
    kind, with `ready`, the command that answers with a state of READY once its init is done.
    pid: its PID 1, seen from here. warnings: what this copy cannot show. Make it in the main
    thread: it ends with the thread that started it.
    """

    def __init__(
        self,
        *,
        network: str = "none",
        keep: bool = False,
        size: int | None = None,
        spec: Spec | None = None,
        ready: str = "",
    ) -> None:
        self.keep = keep
        self._ready = ready
        if spec is None:
            spec = Spec(network, size or half_of_free_memory())
            if runs_systemd():
                spec = with_systemd(spec)
                self._ready = SYSTEMD_READY if network == "none" else BASIC_READY
        self.spec = spec
        self.pid = self.holder = 0
        self.cgroup = ""
        self.changes: tuple[Changed, ...] = ()
        self.warnings: tuple[str, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.keep and error is None:
            os.kill(self.holder, signal.SIGUSR1)
            end = time.monotonic() + PATIENCE
            while not _ignores(self.holder, signal.SIGUSR1) and time.monotonic() < end:
                time.sleep(0.01)  # until it is done, our own end would be the holder's, too
        else:
            self.close()

    # ------------------------------------------------------------ start and end

    def start(self) -> None:
        """Make the copy, and wait until its init is up. Raises SandboxUnavailable."""
        _check_programs()
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [*own_python(HOLDER), self.spec.dump(), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # Ctrl-C ends it through us
        )
        try:
            self._hear(self._process)
            if self.spec.container == CONTAINER and not self.cgroup:
                raise _unavailable("there are no control groups (cgroup2) for systemd")
            if self._ready:
                self._wait_booted()
        except BaseException:
            self.close()
            raise

    def _hear(self, holder: subprocess.Popen[bytes]) -> None:
        """Take in what the holder announces."""
        assert holder.stdout and holder.stderr
        heard = b""
        while heard.count(b"\n") < 2:
            if not select.select([holder.stdout], [], [], PATIENCE)[0]:
                raise _unavailable("it did not start in time")
            piece = os.read(holder.stdout.fileno(), 1 << 16)
            if not piece:
                lines = holder.stderr.read().decode(errors="replace").strip().split("\n")
                raise _unavailable(lines[-1] or "it did not start")
            heard += piece
        line = next(line for line in heard.splitlines() if line.startswith(b"{"))
        values: dict[str, Any] = json.loads(line)
        self.pid, self.cgroup, self.holder = values["pid"], values["cgroup"], holder.pid
        self.changes = tuple(Changed(**item) for item in values["changes"])
        self.warnings = (*values["warnings"], *self._limits())

    def _limits(self) -> Iterator[str]:
        """Yield what a copy of this kind cannot show."""
        if os.geteuid() and not self.has_systemd and os.path.isdir("/run/systemd/system"):
            yield "services cannot run in the copy of a plain user: run it as root (sudo)"
        if self.has_systemd and self.spec.network != "none":
            yield "the services of this machine do not run in a copy with its network"

    def _wait_booted(self) -> None:
        end = time.monotonic() + PATIENCE
        state = "silent"
        while time.monotonic() < end and self.alive:
            left = max(1.0, end - time.monotonic())
            try:
                state = self.run(["sh", "-c", self._ready], timeout=left).stdout.strip()
            except subprocess.TimeoutExpired:
                state = "starting"
            if state in READY:
                return
            time.sleep(0.02)
        if not self.alive or state not in ("starting", "initializing"):
            raise _unavailable(
                f"its {os.path.basename(self.spec.init[0])} did not come up: {state}"
            )
        self.warnings += (f"its services are not all up after {PATIENCE} seconds",)

    @property
    def alive(self) -> bool:
        """Return whether its PID 1 is there, and does not shut it down."""
        try:
            name = Path(f"/proc/{self.pid}/comm").read_text().strip()
        except OSError:
            return False
        return bool(self.pid) and not name.startswith("systemd-shutdow")

    @property
    def is_full(self) -> bool:
        """Return whether its changes have taken all the memory that they may."""
        if not self.alive:
            return False
        first = self.changes[0].upper
        space = os.statvfs(f"/proc/{self.holder}/root{first}")
        return space.f_bavail * space.f_frsize < self.spec.size // 100

    @property
    def has_systemd(self) -> bool:
        """Return whether systemd runs in it."""
        return self.spec.container == CONTAINER

    def close(self) -> None:
        """End all that runs in it, and forget its changes."""
        process, self._process = self._process, None
        if process is None:
            with suppress(ProcessLookupError):
                os.kill(self.holder, signal.SIGTERM)
            self.has_ended(PATIENCE)
            return
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def has_ended(self, patience: float) -> bool:
        """Return whether all of it ends within some seconds."""
        end = time.monotonic() + patience
        while self.alive and time.monotonic() < end:
            time.sleep(0.02)
        return not self.alive

    # ------------------------------------------------------------ from outside

    def argv(self, words: Sequence[str], cwd: str = "/") -> list[str]:
        """The command here that runs a command there; it hands its environment on."""
        enter = ["nsenter", "-t", str(self.pid)]
        if os.geteuid():
            enter += ["--preserve-credentials", *USER_NAMESPACES]
            if self.spec.network == "none":
                enter.append("--net")
        else:
            names = [*CAPABILITIES]
            if self.spec.network != "none":
                names += NETWORK_CAPABILITIES
            enter = ["setpriv", "--bounding-set", ",".join(f"-{name}" for name in names), *enter]
            enter += ["--all", "--root"]  # here may be a chroot
        command = [*enter, "--", "env", "-C", cwd, *words]
        if os.path.exists(f"{self.cgroup}/memory.max") and self.cgroup:
            join = f'echo 0 >"{self.cgroup}/commands/cgroup.procs" && exec "$@"'
            command = ["sh", "-c", join, "sh", *command]
        return command

    def run(
        self,
        argv: Sequence[str],
        *,
        input: str | None = None,
        timeout: float | None = None,
        env: Mapping[str, str] = ENVIRONMENT,
        cwd: str = "/",
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in it.

        env: its whole environment. Raises subprocess.TimeoutExpired, after the program was ended.
        """
        process = self.popen(
            argv,
            env,
            cwd,
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = self.finish(process, input, timeout)
        return subprocess.CompletedProcess(list(argv), process.returncode, out, err)

    @staticmethod
    def finish(
        process: subprocess.Popen[str], input: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """Wait for a program that `popen` started; what it printed to pipes.

        Raises subprocess.TimeoutExpired, after the program was ended.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with process:
            while True:
                left = STEP if end is None else min(STEP, end - time.monotonic())
                try:
                    out, err = process.communicate(input, max(left, 0))
                    return out or "", err or ""
                except subprocess.TimeoutExpired as expired:
                    if end is not None and time.monotonic() >= end:
                        _kill_group(process.pid)
                        raise subprocess.TimeoutExpired(process.args, timeout or 0) from expired
                except BaseException:
                    _kill_group(process.pid)
                    raise
                input = None  # all of it is on its way
                _go_on(process.pid)

    def popen(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str = "/", **streams: Any
    ) -> subprocess.Popen[str]:
        """Start a program in it, in a session of its own."""
        return subprocess.Popen(
            self.argv(argv, cwd),
            text=True,
            encoding="utf-8",
            errors="replace",
            env=dict(env),
            start_new_session=True,
            **streams,
        )

    def shell(self, env: Mapping[str, str], cwd: str, argv: Sequence[str] = ()) -> int:
        """Let a person look around in it; the exit status of the shell. argv: another one than that
        of the environment.
        """
        # Ctrl-C is for what runs there (which would inherit SIG_IGN, but no handler)
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            return subprocess.run(
                self.argv(argv or [env.get("SHELL") or "/bin/sh"], cwd), env=dict(env), check=False
            ).returncode
        finally:
            signal.signal(signal.SIGINT, before)

    def path(self, path: str) -> Path:
        """A file of the copy, seen from here; absolute symlinks in it lead astray."""
        return Path(f"/proc/{self.pid}/root{path}")


def _ignores(pid: int, number: int) -> bool:
    """Return whether a process ignores a signal; True for one that is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    mask = next(line for line in status.splitlines() if line.startswith("SigIgn:"))
    return bool(int(mask.split()[1], 16) >> (number - 1) & 1)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _go_on(pid: int) -> None:
    """Continue nsenter: it stops with what it started, as a shutdown of the copy stops all, and
    nothing in the copy can wake it.
    """
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "T":
            os.kill(pid, signal.SIGCONT)


# ---------------------------------------------------------------- what this machine lets one do

CONTAINER = "systemd-nspawn"  # what systemd takes a copy for
SYSTEMD = "/lib/systemd/systemd"
SYSTEMD_READY = "test -e /run/systemd/private && systemctl is-system-running --wait"
# without the services of the machine, users may log in all the same
BASIC_READY = (
    f"test -e /run/systemd/private && systemctl start systemd-user-sessions; {SYSTEMD_READY}"
)
READY = ("running", "degraded", "default")


def runs_systemd() -> bool:
    """Return whether a copy can have a systemd: this machine runs it, and we may start one."""
    return os.path.isdir("/run/systemd/system") and os.path.exists(SYSTEMD) and not os.geteuid()


def with_systemd(spec: Spec) -> Spec:
    """A copy with systemd as PID 1; without the services of the machine where these could reach
    the network.
    """
    target = "multi-user.target" if spec.network == "none" else "basic.target"
    words = (SYSTEMD, "--system", "--log-target=journal", "--show-status=0", f"--unit={target}")
    return spec._replace(init=words, container=CONTAINER, masked=tuple(MASKED.split()))


def _check_programs() -> None:
    for program in PROGRAMS:
        if not shutil.which(program):
            raise SandboxUnavailable(
                f"no rehearsal here: the program {program} is not installed",
                hint="it is part of util-linux",
            )


def _unavailable(reason: str) -> SandboxUnavailable:
    """The error for what the kernel refused."""
    return SandboxUnavailable(f"no rehearsal here: {reason}", hint=cure())


SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


def cure() -> str:
    """Return what lets this user have namespaces."""
    if not os.geteuid():
        return (
            "it needs the kernel's overlayfs and namespaces; a container has to be started with"
            " --privileged"
        )
    for path, refusing, setting in SWITCHES:
        with suppress(OSError):
            if Path(path).read_text().strip() == refusing:
                return f"run it as root (sudo), or let users have namespaces: sysctl {setting}"
    return "run it as root (sudo); for users it takes Linux 5.11 or later with user namespaces"
