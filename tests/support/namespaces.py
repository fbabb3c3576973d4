"""Namespaces of its own for a process: PID 1 of a throw-away machine. Run as a program it boots one
and holds it.

Everything here guards against accidents, not against attacks. A chain of deaths (PR_SET_PDEATHSIG)
takes the machine away with whoever asked for it, however that dies; only the empty folder of its
control group may be left.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
SET_DEATH_SIGNAL, DROP_CAPABILITY = 1, 24  # prctl(2)
READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096  # mount(2)
RECURSIVE, PRIVATE, DETACH = 1 << 14, 1 << 18, 2
MOUNTS, CGROUP, NAMES, MESSAGES, PROCESSES, NETWORK = (
    1 << 17,
    1 << 25,
    1 << 26,
    1 << 27,
    1 << 29,
    1 << 30,
)  # unshare(2)
# what no namespace holds: the clock, kernel modules, the kernel's log, security modules, bpf
CAPABILITIES = {
    "sys_module": 16,
    "sys_rawio": 17,
    "sys_pacct": 20,
    "sys_boot": 22,
    "sys_time": 25,
    "mac_override": 32,
    "mac_admin": 33,
    "syslog": 34,
    "wake_alarm": 35,
    "block_suspend": 36,
    "audit_read": 37,
    "perfmon": 38,
    "bpf": 39,
}
DEVICES = {
    "null": (1, 3),
    "zero": (1, 5),
    "full": (1, 7),
    "random": (1, 8),
    "urandom": (1, 9),
    "tty": (5, 0),
}
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
# PID 1: its command, what it takes for its container, and the command that answers with a state of
# READY when it is done
INITS = {
    "systemd": (
        ["/lib/systemd/systemd", "--system", "--log-target=journal", "--show-status=0"],
        "systemd-nspawn",
        "test -e /run/systemd/private && systemctl is-system-running --wait",
    ),
    "openrc": (["/sbin/openrc-init"], "lxc", "pgrep -x openrc >/dev/null || rc-status -r"),
    "runit": (
        ["/sbin/runit"],
        "lxc",
        "pgrep -x runsvdir >/dev/null && echo running",
    ),
    "s6": (
        ["/bin/sh", "-c", "mkdir -p /run/service; exec s6-svscan /run/service"],
        "lxc",
        "test -p /run/service/.s6-svscan/control && echo running",
    ),
}
READY = ("running", "degraded", "default")
LAYER, MACHINE = "/media", "/mnt"  # covered only in mount namespaces of our own


@dataclass(frozen=True)
class Config:
    """A machine to be.

    layer: a tar file of what it has beyond this computer's own files. shared: folders that it
    shares, read-only, at the same paths. cgroup: a new control group's folder, for systemd.
    init: what runs as PID 1, one of INITS.
    """

    layer: str
    shared: tuple[str, ...]
    cgroup: str = ""
    init: str = "systemd"

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Config:
        values = json.loads(text)
        return cls(**values | {"shared": tuple(values["shared"])})


def die_with_parent(number: int) -> None:
    """Get a signal when the parent dies."""
    LIBC.prctl(SET_DEATH_SIGNAL, number)


def checked(result: int, what: str) -> None:
    """Raise what a C function reported."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    words = [word.encode() or None for word in (source, target, kind, data)]
    done = LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    checked(done, f"mount {kind} {source} on {target} {data}")


def read_only(path: str) -> None:
    """Make what lies at a path unchangeable, where it is."""
    if os.path.exists(path):
        mount(path, path, flags=BIND)
        mount("", path, flags=BIND | REMOUNT | READ_ONLY | NO_SUID | NO_DEVICES | NO_PROGRAMS)


def unpack(layer: str) -> None:
    """Lay a layer out in memory, for this process and its children only."""
    checked(LIBC.unshare(MOUNTS), "unshare")
    mount("", "/", flags=RECURSIVE | PRIVATE)
    mount("tmpfs", LAYER, "tmpfs", data="mode=755")
    subprocess.run(
        ["tar", "--xattrs", "--xattrs-include=*", "-C", LAYER, "-xpf", layer], check=True
    )


def hold(
    config: Config,
    program: Callable[[], None],
    asker: int,
    tell: Callable[[int], None] = lambda _: None,
) -> int:
    """Run a program as PID 1 of a new machine until it ends or this process is told to; its exit
    status.

    asker: the parent of this process, with whom it dies. tell: called with the number of that PID
    1.
    """
    die_with_parent(signal.SIGTERM)
    if os.getppid() != asker:  # died before we could ask to die with it
        return 1
    checked(LIBC.unshare(PROCESSES), "unshare")
    pid = os.fork()
    if pid == 0:
        _become(config, program)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os.kill(pid, signal.SIGKILL))
    tell(pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    remove_cgroup(config.cgroup)
    return status


def _become(config: Config, program: Callable[[], None]) -> None:
    """PID 1 before it is itself: never returns."""
    try:
        die_with_parent(signal.SIGKILL)
        _enter(config)
        program()
        os._exit(0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(1)


def _enter(config: Config) -> None:
    """Move this process into the machine: namespaces, file system, devices; no way back."""
    if config.cgroup:
        Path(config.cgroup, "cgroup.procs").write_text("0")
    checked(
        LIBC.unshare(MOUNTS | NAMES | MESSAGES | NETWORK | (CGROUP if config.cgroup else 0)),
        "unshare",
    )
    _loopback()
    shared = [(path, os.open(path, os.O_PATH)) for path in config.shared]
    mount("tmpfs", MACHINE, "tmpfs", data="mode=755,size=4G")
    for folder in ("upper", "work", "root"):
        os.mkdir(f"{MACHINE}/{folder}", 0o755)
    root = f"{MACHINE}/root"
    layers = f"lowerdir={LAYER}:/,upperdir={MACHINE}/upper,workdir={MACHINE}/work"
    mount("overlay", root, "overlay", NO_DEVICES, layers)
    _kernel(root, bool(config.cgroup))
    _devices(f"{root}/dev")
    for folder, mode in (("run", "755"), ("tmp", "1777")):
        mount("tmpfs", f"{root}/{folder}", "tmpfs", NO_SUID | NO_DEVICES, f"mode={mode}")
    for path, descriptor in shared:
        os.makedirs(root + path, exist_ok=True)
        mount(f"/proc/self/fd/{descriptor}", root + path, flags=BIND | RECURSIVE)
        mount("", root + path, flags=BIND | REMOUNT | READ_ONLY | NO_DEVICES)
        os.close(descriptor)
    os.chdir(root)
    checked(LIBC.pivot_root(b".", b"."), "pivot_root")
    checked(LIBC.umount2(b".", DETACH), "umount")
    os.chdir("/")
    socket.sethostname("machine")
    for number in CAPABILITIES.values():
        LIBC.prctl(DROP_CAPABILITY, number, 0, 0, 0)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)


def _loopback() -> None:
    """All the network that there is."""
    set_flags, up_and_running = 0x8914, 0x1 | 0x40
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", up_and_running))


def _kernel(root: str, cgroup: bool) -> None:
    """What the kernel shows; its switches only where a namespace owns them."""
    plain = NO_SUID | NO_DEVICES | NO_PROGRAMS
    mount("proc", f"{root}/proc", "proc", plain)
    mount("sysfs", f"{root}/sys", "sysfs", plain | READ_ONLY)
    if cgroup:
        mount("cgroup2", f"{root}/sys/fs/cgroup", "cgroup2", plain)
    own = os.open(f"{root}/proc/sys/net", os.O_PATH)
    for name in ("sys", "sysrq-trigger", "irq", "bus"):
        read_only(f"{root}/proc/{name}")
    mount(f"/proc/self/fd/{own}", f"{root}/proc/sys/net", flags=BIND)
    os.close(own)


def _devices(folder: str) -> None:
    mount("tmpfs", folder, "tmpfs", NO_SUID, "mode=755,size=64M")
    for name, (major, minor) in DEVICES.items():
        os.mknod(f"{folder}/{name}", 0o20666, os.makedev(major, minor))
        os.chmod(f"{folder}/{name}", 0o666)
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"{folder}/{name}")
    mount(
        "devpts",
        f"{folder}/pts",
        "devpts",
        NO_SUID | NO_PROGRAMS,
        "newinstance,ptmxmode=0666,mode=620,gid=5",
    )
    mount("tmpfs", f"{folder}/shm", "tmpfs", NO_SUID | NO_DEVICES, "mode=1777")
    mount("mqueue", f"{folder}/mqueue", "mqueue", NO_SUID | NO_DEVICES | NO_PROGRAMS)
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd"}
    links |= {
        name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))
    }
    for name, target in links.items():
        os.symlink(target, f"{folder}/{name}")
    Path(folder, "console").touch()
    mount("/dev/null", f"{folder}/console", flags=BIND)


def remove_cgroup(folder: str) -> None:
    """Remove an empty control group with those below it."""
    if folder:
        for path, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(path)


def become(init: str) -> None:
    """Become an init; let go of whoever asked."""
    os.write(1, b"entered\n")
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    argv, container, _ = INITS[init]
    os.execve(argv[0], argv, ENVIRONMENT | {"container": container})


def main() -> int:
    config = Config.load(sys.argv[1])
    unpack(config.layer)
    return hold(
        config, lambda: become(config.init), int(sys.argv[2]), lambda pid: print(pid, flush=True)
    )


if __name__ == "__main__":
    sys.exit(main())
