# SPDX-License-Identifier: Apache-2.0
"""Records of name servers, asked with the program dig; never for long."""

from __future__ import annotations

from modules._machine import resolver
from modules.dnsutil import MX as _MX
from modules.dnsutil import SPF as _SPF

NEEDS_PROGRAM = "dig"  # without it templates find no function of this module


def check_ip(addr: str) -> bool:
    """Return whether a text is an address, or a network with its prefix."""
    address, slash, prefix = str(addr).partition("/")
    return resolver.is_address(address) and (
        not slash or (prefix.isdigit() and int(prefix) <= (128 if ":" in addr else 32))
    )


def A(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv4 addresses of a name. nameserver: whom to ask.

    {{ salt['dig.A']('www.example.com', nameserver='192.0.2.53') }}
    """
    return [line for line in resolver.query(host, "A", nameserver) if check_ip(line)]


def AAAA(host: str, nameserver: str | None = None) -> list[str]:
    """The IPv6 addresses of a name."""
    return [line for line in resolver.query(host, "AAAA", nameserver) if check_ip(line)]


def CNAME(host: str, nameserver: str | None = None) -> list[str]:
    """The name that a name stands for."""
    return resolver.query(host, "CNAME", nameserver)


def PTR(host: str, nameserver: str | None = None) -> list[str]:
    """The names of an address."""
    return resolver.query(host, "PTR", nameserver)


def TXT(host: str, nameserver: str | None = None) -> list[str]:
    """The texts of a name."""
    return resolver.query(host, "TXT", nameserver)


def CAA(host: str, nameserver: str | None = None) -> list[str]:
    """The CAA records of a name: who may issue certificates for it."""
    return resolver.query(host, "CAA", nameserver)


def NS(domain: str, resolve: bool = True, nameserver: str | None = None) -> list[str]:
    """The name servers of a domain; their addresses with `resolve`."""
    names = resolver.query(domain, "NS", nameserver)
    return [address for name in names for address in A(name, nameserver)] if resolve else names


def MX(domain: str, resolve: bool = False, nameserver: str | None = None) -> list[list[str]]:
    """The mail servers of a domain as [preference, name]; resolve: the address in place of the
    name.
    """
    return _MX(domain, resolve, nameserver)


def SPF(domain: str, record: str = "SPF", nameserver: str | None = None) -> list[str]:
    """The addresses that may send mail for a domain."""
    return _SPF(domain, record, nameserver)


a, aaaa, cname, mx, ns, ptr, spf = A, AAAA, CNAME, MX, NS, PTR, SPF
