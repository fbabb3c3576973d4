# SPDX-License-Identifier: Apache-2.0
"""Names and addresses, asked of the resolver or of a name server; never for long."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from modules import _paths, cmd
from modules._machine import resolver
from modules._machine.cache_files import keep_text, load_text


def check_ip(ip_addr: str) -> bool:
    """Return whether a text is an address."""
    return isinstance(ip_addr, str) and resolver.is_address(ip_addr)


def _addresses(host: str, kind: str, nameserver: str | None) -> list[str]:
    version = 4 if kind == "A" else 6
    if check_ip(host) or not (nameserver or cmd.has_exec("dig")):
        return resolver.resolve(host, version)
    return [line for line in resolver.query(host, kind, nameserver) if check_ip(line)]


def A(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv4 addresses of a name; none when there are none. nameserver: whom to ask.

    {{ salt['dnsutil.A']('example.com') }}
    """
    return _addresses(host, "A", nameserver)


def AAAA(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv6 addresses of a name; arguments as those of A."""
    return _addresses(host, "AAAA", nameserver)


def NS(domain: str, resolve: bool = True, nameserver: str | None = None) -> list[str]:
    """The name servers of a domain; their addresses with `resolve`."""
    names = resolver.query(domain, "NS", nameserver)
    return [address for name in names for address in A(name, nameserver)] if resolve else names


def MX(domain: str, resolve: bool = False, nameserver: str | None = None) -> list[list[Any]]:
    """The mail servers of a domain as [preference, name]; resolve: the address in place of the
    name.
    """
    rows = [line.split() for line in resolver.query(domain, "MX", nameserver)]
    pairs = [[row[0], row[1]] for row in rows if len(row) == 2]
    return (
        [[weight, next(iter(A(name, nameserver)), "")] for weight, name in pairs]
        if resolve
        else pairs
    )


def SPF(domain: str, record: str = "SPF", nameserver: str | None = None) -> list[str]:
    """The addresses that may send mail for a domain. record: SPF, or TXT where the domain uses
    that.
    """
    for kind in dict.fromkeys((record, "TXT")):
        for line in resolver.query(domain, kind, nameserver):
            words = line.replace('" "', "").strip('"').split()
            if words[:1] == ["v=spf1"]:
                return [
                    word.partition(":")[2]
                    for word in words
                    if word.lstrip("+?~-").startswith(("ip4:", "ip6:"))
                ]
    return []


def serial(zone: str = "", update: bool = False) -> str:
    """A serial number for a zone: a date and two digits, kept in the cache folder.

    update: a new one, if this is a real run (a dry run shows which one it would be).

        {{ salt['dnsutil.serial']('example.com', update=True) }}
    """
    name = "dnsutil.serial.json"
    try:
        known = dict(json.loads(load_text(name) or "{}"))
    except (OSError, ValueError):
        known = {}
    today = time.strftime("%Y%m%d01")
    if not update:
        return str(known.get(zone, today))
    new = str(int(known[zone]) + 1) if zone in known and known[zone] >= today else today
    keep_text(name, json.dumps({**known, zone: new}))
    return new


def parse_hosts(
    hostsfile: str = "/etc/hosts", hosts: str | None = None
) -> dict[str, list[str]] | str:
    """The names of each address in a hosts file, or in a text in its form."""
    if hosts is None:
        try:
            hosts = _paths.read_text(os.fspath(hostsfile), errors="replace")
        except OSError:
            return "Error: hosts data was not found"
    names_by_address: dict[str, list[str]] = {}
    for line in hosts.splitlines():
        words = line.partition("#")[0].split()
        if words:
            names_by_address.setdefault(words[0], []).extend(words[1:])
    return names_by_address
