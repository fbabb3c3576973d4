# SPDX-License-Identifier: Apache-2.0
"""The routes and the neighbours of this machine."""

from __future__ import annotations

import ipaddress
import json
import socket
import struct
from typing import Any

from modules import cmd
from modules._paths import text_of
from runner.api import CommandFailed

LETTERS = (
    (0x1, "U"),
    (0x200, "!"),
    (0x2, "G"),
    (0x4, "H"),
    (0x10, "D"),
    (0x20, "M"),
    (0x200000, "n"),
)


def default_route(family: str | None = None) -> list[dict[str, Any]]:
    """The default routes.

    family: inet or inet6.

        {{ salt['network.default_route']('inet')[0].gateway }}
    """
    return [route for route in routes(family) if route["destination"] in ("0.0.0.0", "::/0")]


def routes(family: str | None = None) -> list[dict[str, Any]]:
    """The routes of this machine, in Salt's shape. Raises CommandFailed for another family. family:
    inet or inet6.
    """
    if family not in (None, "inet", "inet6"):
        raise CommandFailed(f"Invalid address family {family}")
    shown = [] if family == "inet6" else _routes4()
    return shown + ([] if family == "inet" else _routes6())


def _rows(path: str) -> list[list[str]]:
    return [line.split() for line in text_of(path).splitlines()]


def _flags(digits: str) -> str:
    bits = int(digits, 16)
    return "".join(letter for bit, letter in LETTERS if bits & bit)


def _routes4() -> list[dict[str, Any]]:
    def dotted(value: str) -> str:
        return socket.inet_ntoa(struct.pack("<L", int(value, 16)))

    return [
        {
            "addr_family": "inet",
            "destination": dotted(row[1]),
            "gateway": dotted(row[2]),
            "netmask": dotted(row[7]),
            "flags": _flags(row[3]),
            "interface": row[0],
        }
        for row in _rows("/proc/net/route")[1:]
    ]


def _routes6() -> list[dict[str, Any]]:
    return [
        {
            "addr_family": "inet6",
            "destination": f"{ipaddress.ip_address(bytes.fromhex(row[0]))}/{int(row[1], 16)}",
            "gateway": str(ipaddress.ip_address(bytes.fromhex(row[4]))),
            "netmask": "",
            "flags": _flags(row[8]),
            "interface": row[9],
        }
        for row in _rows("/proc/net/ipv6_route")
    ]


def get_route(ip: str) -> dict[str, str | None]:
    """The way to an address: destination, gateway (None when it is a neighbour), interface, source.
    Raises CommandFailed when there is none.
    """
    ipaddress.ip_address(ip)
    done = cmd.probe(["ip", "-json", "route", "get", ip])
    ways = json.loads(done.stdout or "[]") if done.retcode == 0 else []
    if not ways:
        raise CommandFailed(
            f"there is no route to {ip}: {done.stderr.strip() or 'ip says nothing'}"
        )
    route = ways[0]
    return {
        "destination": route.get("dst"),
        "gateway": route.get("gateway"),
        "interface": route.get("dev"),
        "source": route.get("prefsrc"),
    }


def arp() -> dict[str, str]:
    """The IPv4 neighbours: MAC address to address."""
    return {row[3]: row[0] for row in _rows("/proc/net/arp")[1:] if len(row) > 3}


ip_neighs = arp


def ip_neighs6() -> dict[str, str]:
    """The IPv6 neighbours: MAC address to address."""
    done = cmd.probe(["ip", "-json", "-6", "neighbour", "show"])
    neighbours = json.loads(done.stdout or "[]") if done.retcode == 0 else []
    return {
        neighbour["lladdr"]: neighbour["dst"] for neighbour in neighbours if "lladdr" in neighbour
    }
