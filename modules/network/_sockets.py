# SPDX-License-Identifier: Apache-2.0
"""The sockets of this machine, as the kernel lists them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import suppress

from modules import _paths
from modules._paths import text_of
from modules.ps import table
from runner.api import Record

STATES = {
    "01": "ESTABLISHED",
    "02": "SYN_SENT",
    "03": "SYN_RECV",
    "04": "FIN_WAIT1",
    "05": "FIN_WAIT2",
    "06": "TIME_WAIT",
    "07": "CLOSE",
    "08": "CLOSE_WAIT",
    "09": "LAST_ACK",
    "0A": "LISTEN",
    "0B": "CLOSING",
    "0C": "SYN_RECV",
}


class Socket(Record):
    """One line of /proc/net/tcp and its like."""

    protocol: str
    local: tuple[str, int]
    remote: tuple[str, int]
    state: str
    received: int  # bytes that wait to be read
    sent: int  # bytes that the other side has not confirmed
    user: str
    inode: str


def sockets(*protocols: str) -> Iterator[Socket]:
    """The sockets of some protocols (tcp, tcp6, udp, udp6)."""
    for protocol in protocols:
        for line in text_of(f"/proc/net/{protocol}").splitlines()[1:]:
            words = line.split()
            sent, received = words[4].split(":")
            yield Socket(
                protocol,
                _end(words[1]),
                _end(words[2]),
                words[3],
                int(received, 16),
                int(sent, 16),
                words[7],
                words[9],
            )


def _end(text: str) -> tuple[str, int]:
    """An address as the kernel writes it, in words of four bytes in its own order, and a port."""
    digits, _, port = text.partition(":")
    words = (digits[at : at + 8] for at in range(0, len(digits), 8))
    packed = b"".join(int(word, 16).to_bytes(4, "little") for word in words)
    address = ipaddress.ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address), int(port, 16)


def _programs() -> dict[str, str]:
    """PID/name by the inode of each socket that the caller may know the program of."""
    programs = {}
    for pid in table.numbers():
        folder = f"/proc/{pid}/fd"
        with suppress(OSError):
            for name in _paths.listdir(folder):
                with suppress(OSError):
                    target = _paths.readlink(f"{folder}/{name}")
                    if target.startswith("socket:["):
                        programs[target[8:-1]] = f"{pid}/{table.name_of(pid)}"
    return programs


def netstat() -> list[dict[str, str]]:
    """The sockets of TCP and UDP: proto, recv-q, send-q, local-address, remote-address, state (of
    TCP), user (its number), inode, program (PID/name) of each.

    {% for socket in salt['network.netstat']() if socket.get('state') == 'LISTEN' %}
    """
    programs = _programs()
    shown = []
    for socket in sockets("tcp", "tcp6", "udp", "udp6"):
        facts = {
            "proto": socket.protocol,
            "recv-q": str(socket.received),
            "send-q": str(socket.sent),
            "local-address": _shown(socket.local),
            "remote-address": _shown(socket.remote),
        }
        if socket.protocol.startswith("tcp"):
            facts["state"] = STATES.get(socket.state, socket.state)
        facts |= {"user": socket.user, "inode": socket.inode}
        shown.append({**facts, "program": programs.get(socket.inode, "-")})
    return shown


def _shown(end: tuple[str, int]) -> str:
    address, port = end
    return f"{address}:{port or '*'}"


def active_tcp() -> dict[int, dict[str, str | int]]:
    """The TCP connections by a number: local_addr, local_port, remote_addr, remote_port of each.

    runner call network.active_tcp
    """
    connected = [
        socket for socket in sockets("tcp", "tcp6") if STATES.get(socket.state) == "ESTABLISHED"
    ]
    return {
        number: {
            "local_addr": socket.local[0],
            "local_port": socket.local[1],
            "remote_addr": socket.remote[0],
            "remote_port": socket.remote[1],
        }
        for number, socket in enumerate(connected)
    }
