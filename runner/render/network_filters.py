"""Salt's Jinja filters for addresses; loaded when a template calls the first of them."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Any

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _parsed(value: Any) -> Address | None:
    try:
        return ipaddress.ip_interface(str(value).split("%")[0])
    except ValueError:
        return None


_KINDS = ("global", "link_local", "loopback", "multicast", "private", "public", "reserved", "site_local", "unspecified")


def _fits(address: Address, options: str | None) -> bool:
    for option in (part.strip() for part in (options or "").split(",")):
        name = {"public": "global", "link": "link_local"}.get(option, option)
        if name and option in (*_KINDS, "link") and not getattr(address.ip, f"is_{name}", False):
            return False
    return True


def _filtered(value: Any, options: str | None, version: int | None) -> Any:
    if isinstance(value, list | tuple):
        found = [_filtered(item, options, version) for item in value]
        kept = [item for item in found if item is not None]
        return kept or None
    address = _parsed(value)
    if address is None or (version and address.version != version) or not _fits(address, options):
        return None
    return str(value)


def ipaddr(value: Any, options: str | None = None) -> Any:
    """The address, if it is one (of a list those that are); options: global, private, loopback, ..."""
    return _filtered(value, options, None)


def ipv4(value: Any, options: str | None = None) -> Any:
    """The address, if it is one of version 4."""
    return _filtered(value, options, 4)


def ipv6(value: Any, options: str | None = None) -> Any:
    """The address, if it is one of version 6."""
    return _filtered(value, options, 6)


def network_hosts(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """The addresses of a network that hosts can have."""
    if isinstance(value, list | tuple):
        return [network_hosts(item, options, version) for item in value]
    return [str(host) for host in ipaddress.ip_network(str(value), strict=False).hosts()]


def network_size(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """How many addresses a network has."""
    if isinstance(value, list | tuple):
        return [network_size(item, options, version) for item in value]
    return ipaddress.ip_network(str(value), strict=False).num_addresses


def ip_host(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """The address with the length of its network."""
    if isinstance(value, list | tuple):
        return [item for item in (ip_host(each, options, version) for each in value) if item]
    address = _parsed(value)
    return None if address is None or not _fits(address, options) else str(address)


def gen_mac(prefix: str = "AC:DE:48") -> str:
    """A random MAC address with a prefix."""
    import random

    return "{}:{:02X}:{:02X}:{:02X}".format(prefix, *(random.randint(0, 255) for _ in range(3)))


def mac_str_to_bytes(mac: str) -> bytes:
    """A MAC address as six bytes."""
    digits = re.sub(r"[^0-9A-Fa-f]", "", mac)
    if len(digits) != 12:
        raise ValueError(f"{mac!r} is no MAC address")
    return bytes.fromhex(digits)


def dns_check(name: str, port: int = 53, safe: bool = False, ipv6: bool | None = None) -> Any:
    """The address of a name; raises when there is none (with `safe` an empty text)."""
    family = {None: socket.AF_UNSPEC, True: socket.AF_INET6, False: socket.AF_INET}[ipv6]
    try:
        found = socket.getaddrinfo(name, port, family, socket.SOCK_STREAM)
    except OSError as problem:
        if safe:
            return ""
        raise ValueError(f"DNS lookup of {name} failed: {problem}") from None
    address = str(found[0][4][0])
    return f"[{address}]" if ":" in address else address


def connection_check(addr: str, port: int = 80, safe: bool = False, ipv6: bool | None = None) -> Any:
    """The address of a host that takes connections at a port."""
    try:
        with socket.create_connection((addr, port), timeout=3) as connection:
            return str(connection.getpeername()[0])
    except OSError as problem:
        if safe:
            return ""
        raise ValueError(f"{addr}:{port} takes no connection: {problem}") from None
