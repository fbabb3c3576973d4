# SPDX-License-Identifier: Apache-2.0
"""The system calls that make namespaces and mounts, for a process of its own."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
SET_DEATH_SIGNAL, DROP_CAPABILITY = 1, 24  # prctl(2)
READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096  # mount(2)
RECURSIVE, PRIVATE, DETACH = 1 << 14, 1 << 18, 2
MOUNTS, CGROUP, NAMES, MESSAGES, USERS, PROCESSES, NETWORK = (
    1 << 17,
    1 << 25,
    1 << 26,
    1 << 27,
    1 << 28,
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
# what would configure a network that is shared with the machine
NETWORK_CAPABILITIES = {"net_admin": 12}


def check(result: int, action: str) -> None:
    """Raise OSError for what a C function reported. action: what was tried."""
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def unshare(kinds: int) -> None:
    """Move this process, or for PROCESSES its children, into new namespaces. Raises OSError."""
    check(LIBC.unshare(kinds), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Call mount(2). Raises OSError."""
    words = [word.encode() or None for word in (source, target, kind, data)]
    done = LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3])
    check(done, f"mount {kind} {source} on {target} {data}")


def unmount(target: str) -> None:
    """Detach what is mounted at a path. Raises OSError."""
    check(LIBC.umount2(target.encode(), DETACH), f"umount {target}")


def pivot(root: str) -> None:
    """Make a mount the root of this process and let go of everything else. Raises OSError."""
    os.chdir(root)
    check(LIBC.pivot_root(b".", b"."), "pivot_root")
    unmount(".")
    os.chdir("/")


def die_with_parent(number: int) -> None:
    """Get a signal when the parent dies; 0 ends that."""
    LIBC.prctl(SET_DEATH_SIGNAL, number)


def drop_capability(number: int) -> None:
    """Take a capability from what this process starts, for good."""
    LIBC.prctl(DROP_CAPABILITY, number, 0, 0, 0)


def map_own_user() -> None:
    """Enter a user namespace in which this user and group keep their numbers. Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    unshare(USERS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def start_loopback() -> None:
    """Bring up the loopback interface of a new network namespace."""
    set_flags, up_and_running = 0x8914, 0x1 | 0x40
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", up_and_running))


def start_time(pid: int) -> str:
    """When a process began, in ticks since the start of the machine; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def reap_forever() -> None:
    """Be the PID 1 of a machine without an init: never returns."""
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.pause()
