"""salt.utils.network: addresses and names."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Any

from runner.api import here
from runner.filters.network import is_ip, is_ipv4, is_ipv6, mac_str_to_bytes

__all__ = ["is_ip", "is_ipv4", "is_ipv6", "mac_str_to_bytes"]


def is_ipv4_filter(value: Any, options: str | None = None) -> bool:
    """Tell whether a text is an IPv4 address."""
    return is_ipv4(value, options)


def is_loopback(value: str) -> bool:
    """Tell whether an address is of this machine alone."""
    return ipaddress.ip_address(value).is_loopback


def is_subnet(cidr: str) -> bool:
    """Tell whether a text is a network."""
    try:
        return "/" in cidr and bool(ipaddress.ip_network(cidr))
    except ValueError:
        return False


is_ipv4_subnet = is_ipv6_subnet = is_subnet


def in_subnet(cidr: str, addr: Any = None) -> bool:
    """Tell whether one of some addresses (this machine's without any) lies in a network."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        return False
    addresses = (
        [addr]
        if isinstance(addr, str)
        else addr
        if addr is not None
        else [*ip_addrs(), "127.0.0.1"]
    )
    return any(ipaddress.ip_address(address) in network for address in addresses)


def cidr_to_ipv4_netmask(cidr_bits: Any) -> str:
    """The mask of a number of bits."""
    try:
        bits = int(cidr_bits)
        return str(ipaddress.ip_network(f"0.0.0.0/{bits}").netmask) if 1 <= bits <= 32 else ""
    except ValueError:
        return ""


def interfaces() -> dict[str, Any]:
    """The network interfaces of this machine."""
    return dict(here.call("network.interfaces"))


def ip_addrs(
    interface: str | None = None, include_loopback: bool = False, **options: Any
) -> list[str]:
    """The IPv4 addresses of this machine."""
    return list(
        here.call("network.ip_addrs", interface=interface, include_loopback=include_loopback)
    )


def ip_addrs6(
    interface: str | None = None, include_loopback: bool = False, **options: Any
) -> list[str]:
    """The IPv6 addresses of this machine."""
    return list(
        here.call("network.ip_addrs6", interface=interface, include_loopback=include_loopback)
    )


def get_fqhostname() -> str:
    """The whole name of this machine."""
    return socket.getfqdn()


def host_to_ips(host: str) -> list[str] | None:
    """The addresses of a name."""
    try:
        addresses = [
            str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        ]
    except OSError:
        return None
    return list(dict.fromkeys(addresses)) or None


def sanitize_host(hostname: str, underscore_ok: bool = False) -> str:
    """A name without what no name may have."""
    return re.sub(r"[^0-9A-Za-z.\-_]" if underscore_ok else r"[^0-9A-Za-z.\-]", "", hostname)
