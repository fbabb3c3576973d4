# SPDX-License-Identifier: Apache-2.0
"""Reckoning with addresses and networks."""

from __future__ import annotations

import ipaddress
from contextlib import suppress

from modules.network._addresses import network_of


def ip_in_subnet(ip_addr: str | list[str], cidr: str) -> bool:
    """Return whether an address (one of several) is in a network; what is no address is in none.

    {{ salt['network.ip_in_subnet']('10.1.2.3', '10.0.0.0/8') }}
    """
    network = network_of(cidr)
    for address in [ip_addr] if isinstance(ip_addr, str) else ip_addr:
        with suppress(ValueError):
            if network is not None and ipaddress.ip_address(address) in network:
                return True
    return False


def calc_net(ip_addr: str, netmask: str | int | None = None) -> str:
    """The network of an address. netmask: as `255.255.255.0` or as a number of bits."""
    text = ip_addr if netmask is None else f"{ip_addr}/{netmask}"
    return str(ipaddress.ip_network(text, strict=False))


def convert_cidr(cidr: str) -> dict[str, str]:
    """Network, mask and broadcast address of a network.

    {{ salt['network.convert_cidr']('172.31.0.0/16').netmask }}
    """
    network = ipaddress.ip_network(cidr, strict=False)
    return {
        "network": str(network.network_address),
        "netmask": str(network.netmask),
        "broadcast": str(network.broadcast_address),
    }


def is_private(ip_addr: str) -> bool:
    """Return whether an address is of a private network."""
    return ipaddress.ip_address(ip_addr).is_private


def is_loopback(ip_addr: str) -> bool:
    """Return whether an address means the machine itself."""
    return ipaddress.ip_address(ip_addr).is_loopback


def reverse_ip(ip_addr: str) -> str:
    """The name that an address is looked up by (`1.0.0.10.in-addr.arpa`)."""
    return ipaddress.ip_address(ip_addr).reverse_pointer


def iphexval(ip: str) -> str:
    """An IPv4 address as eight hexadecimal digits."""
    return f"{int(ipaddress.IPv4Address(ip)):08X}"
