"""Names and addresses, asked of the resolver or of a name server; never for long."""

from __future__ import annotations

import ipaddress
import socket
import time
from typing import Any

from modules import cmd

SECONDS = 5


def check_ip(addr: str) -> bool:
    """Whether a text is an address."""
    try:
        ipaddress.ip_address(addr)
    except ValueError:
        return False
    return True


def _dig(name: str, kind: str, nameserver: str | None) -> list[str]:
    where = [f"@{nameserver}"] if nameserver else []
    argv = ["dig", "+short", "+time=2", "+tries=2", *where, name, kind]
    done = cmd.probe(argv, timeout=SECONDS * 2)
    return [line for line in done.stdout.splitlines() if line and not line.startswith(";")]


def _resolved(host: str, family: int, nameserver: str | None, kind: str) -> list[str]:
    if check_ip(host):
        return [host]
    if nameserver or cmd.has_exec("dig"):
        return [line for line in _dig(host, kind, nameserver) if check_ip(line)]
    done = cmd.probe(["getent", "ahostsv4" if family == socket.AF_INET else "ahostsv6", host], timeout=SECONDS)
    return sorted({line.split()[0] for line in done.stdout.splitlines() if line})


def A(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv4 addresses of a name; none when there are none.

    {{ salt['dnsutil.A']('example.com') }}
    """
    return _resolved(host, socket.AF_INET, nameserver, "A")


def AAAA(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv6 addresses of a name."""
    return _resolved(host, socket.AF_INET6, nameserver, "AAAA")


def NS(domain: str, resolve: bool = True, nameserver: str | None = None) -> list[str]:
    """The name servers of a domain, by their addresses with `resolve`."""
    names = [name.rstrip(".") for name in _dig(domain, "NS", nameserver)]
    return [address for name in names for address in A(name, nameserver)] if resolve else names


def MX(domain: str, resolve: bool = False, nameserver: str | None = None) -> list[Any]:
    """The mail servers of a domain with their preference."""
    rows = [line.split() for line in _dig(domain, "MX", nameserver)]
    pairs = [[int(row[0]), row[1].rstrip(".")] for row in rows if len(row) == 2]
    return [[weight, A(str(name), nameserver)[:1]] for weight, name in pairs] if resolve else pairs


def serial(zone: str = "", update: bool = False) -> str:
    """A serial number for a zone: today's date and two digits."""
    return time.strftime("%Y%m%d01")
