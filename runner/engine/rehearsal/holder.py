# SPDX-License-Identifier: Apache-2.0
"""The process that makes a copy of this machine and holds it; as a program it boots one.

A chain of deaths (PR_SET_PDEATHSIG) takes the copy away with whoever asked for it, however that
ends: only the empty folder of its control group may be left, which the next one removes. SIGUSR1
ends the first link of the chain: the copy stays until SIGTERM.

It guards against what the states of a tree do, not against attacks by root inside.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from runner.engine.rehearsal import file_systems, namespaces
from runner.engine.rehearsal.namespaces import (
    CGROUP,
    MESSAGES,
    MOUNTS,
    NAMES,
    NETWORK,
    NO_DEVICES,
    NO_SUID,
    PRIVATE,
    PROCESSES,
    RECURSIVE,
    mount,
    unshare,
)
from runner.model.records import Record

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
LAYER, SCRATCH = "/media", "/mnt"  # covered only in mount namespaces of our own
SPARE = "/opt"  # where one of them is not there
GROUP = "runner-rehearsal-"  # what the names of control groups begin with


class Spec(Record):
    """A copy to be.

    network: "none" or "host". size: of the changes, in bytes. layer: a tar file of what it has
    beyond this machine's own files. shared: folders that it sees as they are, read-only. empty:
    folders that begin empty. host_name: another one than this machine's. init: the command of its
    PID 1; none: it only reaps. container: what the init is told that it runs in. masked: units that
    do not start. devices: device files can be made and used in it, as tests of storage need.
    """

    network: str
    size: int
    layer: str = ""
    shared: tuple[str, ...] = ()
    empty: tuple[str, ...] = ("/run",)
    host_name: str = ""
    init: tuple[str, ...] = ()
    container: str = ""
    masked: tuple[str, ...] = ()
    devices: bool = False

    def dump(self) -> str:
        return json.dumps(self._asdict())

    @classmethod
    def load(cls, text: str) -> Spec:
        values: dict[str, Any] = json.loads(text)
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**values)


def folder_for(path: str) -> str:
    """A folder of the machine to mount something on."""
    return path if os.path.isdir(path) else SPARE


def unpack(layer: str) -> None:
    """Lay a layer out in memory, for this process and its children only. Raises OSError."""
    unshare(MOUNTS)
    mount("", "/", flags=RECURSIVE | PRIVATE)
    mount("tmpfs", LAYER, "tmpfs", data="mode=755")
    subprocess.run(
        ["tar", "--xattrs", "--xattrs-include=*", "-C", LAYER, "-xpf", layer], check=True
    )


class Held(Record):
    """A copy whose PID 1 was started. pid: its number seen from here. changes: where they are."""

    pid: int
    cgroup: str
    changes: tuple[file_systems.Changed, ...]
    warnings: tuple[str, ...]


def hold(
    spec: Spec,
    program: Callable[[], None],
    asker: int,
    announce: Callable[[Held], None] = lambda _: None,
    cgroup: str = "",
) -> int:
    """Run a program as PID 1 of a new copy until it ends or this process is told to; its exit
    status.

    asker: the parent of this process, with whom it dies. announce: called when PID 1 was started.
    cgroup: the folder of a new control group. Raises OSError where the kernel refuses.
    """
    if os.geteuid():
        namespaces.map_own_user()
    namespaces.die_with_parent(signal.SIGTERM)
    if os.getppid() != asker:  # died before we could ask to die with it
        return 1
    view = _compose(spec)
    unshare(PROCESSES)
    pid = os.fork()
    if pid == 0:
        _become(spec, view, program, cgroup)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.signal(signal.SIGUSR1, _outlive_parent)
    announce(Held(pid, cgroup, tuple(view.changes), tuple(view.warnings)))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    remove_cgroup(cgroup)
    return status


def _outlive_parent(*_: object) -> None:
    """Stay when the parent ends; that SIGUSR1 is ignored from now on tells it that this is done."""
    namespaces.die_with_parent(0)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


def _compose(spec: Spec) -> file_systems.View:
    """Compose the file systems, in a mount namespace in which their changes stay visible."""
    unshare(MOUNTS)
    mount("", "/", flags=RECURSIVE | PRIVATE)
    scratch = folder_for(SCRATCH)
    left_out = (*file_systems.NEW, *spec.empty, *((LAYER,) if spec.layer else ()))
    sources = list(file_systems.open_sources(left_out))
    shared = [(path, os.open(path, os.O_PATH)) for path in spec.shared]
    mount("tmpfs", scratch, "tmpfs", NO_SUID | NO_DEVICES, f"mode=700,size={spec.size}")
    if os.geteuid():
        view = file_systems.View(scratch, left_out, ",userxattr")
        view.compose_as_user([item for item, _ in sources])
    else:
        view = file_systems.View(scratch, left_out, ",redirect_dir=on,metacopy=off")
        view.compose_as_root(sources, LAYER if spec.layer else "")
    for _, descriptor in sources:
        os.close(descriptor)
    for folder in spec.empty:
        mode = "1777" if folder in file_systems.WORLD_WRITABLE else "755"
        mount("tmpfs", view.root + folder, "tmpfs", NO_SUID | NO_DEVICES, f"mode={mode},size=20%")
    view.share(shared)  # what is shared may lie in a folder that begins empty
    for _, descriptor in shared:
        os.close(descriptor)
    return view


def _become(spec: Spec, view: file_systems.View, program: Callable[[], None], cgroup: str) -> None:
    """PID 1 before it is itself: never returns."""
    try:
        namespaces.die_with_parent(signal.SIGKILL)
        _enter(spec, view, cgroup)
        program()
        os._exit(0)
    except OSError as error:
        _complain(error)
    except BaseException:
        _complain(traceback.format_exc())
    finally:
        os._exit(1)


def _complain(error: object) -> None:
    """Tell whoever asked why there is no copy."""
    os.write(2, f"{getattr(error, 'strerror', None) or error}\n".encode(errors="replace"))


def _enter(spec: Spec, view: file_systems.View, cgroup: str) -> None:
    """Move this process into the copy; no way back."""
    if cgroup:
        Path(cgroup, "machine", "cgroup.procs").write_text("0")
    own_network = NETWORK if spec.network == "none" else 0
    unshare(MOUNTS | NAMES | MESSAGES | own_network | (CGROUP if cgroup else 0))
    if own_network:
        namespaces.start_loopback()
    root = view.root
    resolver = _resolver() if spec.network == "host" else None
    file_systems.make_kernel(root, bool(cgroup), bool(own_network))
    os.mkdir(f"{view.scratch}/devices")
    file_systems.make_devices(f"{root}/dev", f"{view.scratch}/devices", spec.devices)
    _fill_run(f"{root}/run", spec, resolver)
    namespaces.pivot(root)
    if spec.host_name:
        socket.sethostname(spec.host_name)
    dropped = [*namespaces.CAPABILITIES.values()]
    if not own_network:
        dropped += namespaces.NETWORK_CAPABILITIES.values()
    for number in dropped:
        namespaces.drop_capability(number)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)


def _resolver() -> tuple[str, bytes] | None:
    """Where the names of other computers are asked for, if that file is in /run, and its text."""
    path = os.path.realpath("/etc/resolv.conf")
    try:
        return (path, Path(path).read_bytes()) if path.startswith("/run/") else None
    except OSError:
        return None


def _fill_run(folder: str, spec: Spec, resolver: tuple[str, bytes] | None) -> None:
    """What programs expect in an empty /run."""
    file_systems.make_locks(folder)
    os.mkdir(f"{folder}/rehearsal", 0o700)
    if os.geteuid():
        os.makedirs(f"{folder}/user/{os.geteuid()}", 0o700)
    units = f"{folder}/systemd/system.control"  # which is stronger than /etc/systemd/system
    if spec.masked:
        os.makedirs(units)
    for name in spec.masked:
        os.symlink("/dev/null", f"{units}/{name}")
    if resolver:
        target = Path(f"{folder}{resolver[0].removeprefix('/run')}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(resolver[1])


# ---------------------------------------------------------------- control groups


def make_cgroup(limit: int) -> str:
    """A new control group for the copy that this process holds; empty where there can be none.

    limit: of its memory, in bytes, where the kernel lets that be limited.
    """
    rows = file_systems.mounted(os.fsdecode(Path("/proc/self/mountinfo").read_bytes()))
    for item in rows:
        if item.kind == "cgroup2" and os.access(item.path, os.W_OK):
            break
    else:
        return ""
    for folder in Path(item.path).glob(f"{GROUP}*"):
        pid, _, began = folder.name.removeprefix(GROUP).partition("-")
        if not pid.isdigit() or namespaces.start_time(int(pid)) != began:
            remove_cgroup(str(folder))
    group = f"{item.path}/{GROUP}{os.getpid()}-{namespaces.start_time(os.getpid())}"
    for name in ("", "/machine", "/commands"):
        os.mkdir(group + name)
    with suppress(OSError):  # what the init may limit in turn
        names = Path(group, "cgroup.controllers").read_text().split()
        Path(group, "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in names))
    for name, value in (("memory.max", limit), ("memory.swap.max", 0), ("pids.max", 16384)):
        if os.path.exists(f"{group}/{name}"):
            Path(group, name).write_text(str(value))
    return group


def remove_cgroup(folder: str) -> None:
    """Remove an empty control group with those below it."""
    if folder:
        for path, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):
                os.rmdir(path)


def become(spec: Spec) -> None:
    """Become the init, and let go of whoever asked."""
    os.write(1, b"entered\n")
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    if not spec.init:
        namespaces.reap_forever()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)  # a shell cannot trap what nohup has it ignore
    os.execve(spec.init[0], spec.init, ENVIRONMENT | {"container": spec.container})


def main() -> int:
    spec = Spec.load(sys.argv[1])
    cgroup = make_cgroup(2 * spec.size) if not os.geteuid() else ""
    try:
        if spec.layer:
            unpack(spec.layer)
        return hold(spec, lambda: become(spec), int(sys.argv[2]), _announce, cgroup)
    except OSError as error:
        _complain(error)
        remove_cgroup(cgroup)
        return 1


def _announce(held: Held) -> None:
    changes = [item._asdict() for item in held.changes]
    os.write(1, json.dumps({**held._asdict(), "changes": changes}).encode() + b"\n")
