# SPDX-License-Identifier: Apache-2.0
"""Filters of addresses."""

from __future__ import annotations

import ipaddress
import random
import re
import socket
from collections.abc import Mapping
from typing import Any

from jinja2 import Undefined, pass_context
from jinja2.runtime import Context

from runner.model.errors import reason_of

Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


def _parsed(value: Any, options: str | None = None, version: int | None = None) -> Interface | None:
    """The address behind a text, if it is one of that version and those kinds."""
    if not isinstance(value, str):
        return None
    try:
        interface = ipaddress.ip_interface(value)
    except ValueError:
        return None
    return interface if version in (None, interface.version) and _fits(interface, options) else None


def _fits(address: Interface, options: str | None) -> bool:
    """Return whether an address is of all these kinds (comma-separated)."""
    wanted = [option.strip() for option in (options or "").split(",")]
    return all(_is(address, option) for option in wanted)


def _is(address: Interface, option: str) -> bool:
    if option == "public":
        return not address.ip.is_private
    return option not in _KINDS or bool(getattr(address.ip, f"is_{_KINDS[option]}", False))


_KINDS = {
    kind: kind for kind in ("global", "loopback", "multicast", "private", "reserved", "unspecified")
}
_KINDS |= {
    "link-local": "link_local",
    "link_local": "link_local",
    "linklocal": "link_local",
    "lo": "loopback",
}
_KINDS |= {"site-local": "site_local", "site_local": "site_local"}


def _written(value: Any) -> Any:
    """An address that is given as a number, as text; a variable without a value is an error."""
    if isinstance(value, int):
        try:
            return _text(ipaddress.ip_address(value))
        except ValueError:
            return value
    return str(value) if isinstance(value, Undefined) else value


def _shown(value: str, address: Interface) -> str:
    """The address in its usual form, with its network where one was written."""
    return _text(address if "/" in value else ipaddress.ip_address(value))


def _text(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """Return an address as text, the same with each Python: from 3.13 on `str` writes an IPv4
    address in IPv6 with dots.

    >>> _text(ipaddress.ip_interface("::ffff:1.2.3.4/120"))
    '::ffff:102:304/120'
    """
    text = str(address)
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is None:
        return text
    high, low = divmod(int(mapped), 1 << 16)
    return re.sub(r"[^/%]+", f"::ffff:{high:x}:{low:x}", text, count=1)


def _filtered(value: Any, options: str | None, version: int | None) -> Any:
    if isinstance(value, list | tuple):
        parsed = [(item, _parsed(item, options, version)) for item in map(_written, value)]
        addresses = [(item, address) for item, address in parsed if address is not None]
        return [_shown(*pair) for pair in sorted(addresses, key=lambda pair: pair[1].version)]
    address = _parsed(value, options, version)
    return None if address is None else _shown(value, address)


def ipaddr(value: Any, options: str | None = None) -> Any:
    """The address, if it is one (of a list those that are). options: global, private, ..."""
    return _filtered(value, options, None)


def ipv4(value: Any, options: str | None = None) -> Any:
    """The address, if it is one of version 4."""
    return _filtered(value, options, 4)


def ipv6(value: Any, options: str | None = None) -> Any:
    """The address, if it is one of version 6."""
    return _filtered(value, options, 6)


def is_ip(value: Any, options: str | None = None) -> bool:
    """Return whether a text is an address."""
    return _parsed(_written(value), options) is not None


def is_ipv4(value: Any, options: str | None = None) -> bool:
    """Return whether a text is an address of version 4."""
    return _parsed(_written(value), options, 4) is not None


def is_ipv6(value: Any, options: str | None = None) -> bool:
    """Return whether a text is an address of version 6."""
    return _parsed(_written(value), options, 6) is not None


def ipwrap(value: Any) -> Any:
    """IPv6 addresses in brackets."""
    if isinstance(value, list | tuple):
        return [ipwrap(item) for item in value]
    try:
        return f"[{ipaddress.IPv6Address(value)}]" if isinstance(value, str) else value
    except ValueError:
        return value


# ---------------------------------------------------------------- networks


def _of_each(function: Any, value: Any, options: str | None, version: int | None) -> Any:
    if isinstance(value, list | tuple):
        return [
            answer
            for item in value
            if (answer := _of_each(function, item, options, version)) is not None
        ] or None
    address = _parsed(value, options, version)
    return None if address is None else function(address)


def network_hosts(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """The addresses of a network that hosts can have."""
    return _of_each(
        lambda address: [str(host) for host in address.network.hosts()], value, options, version
    )


def network_size(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """Return how many addresses a network has."""
    return _of_each(lambda address: address.network.num_addresses, value, options, version)


def ip_host(value: Any, options: str | None = None, version: int | None = None) -> Any:
    """The address with the length of its network."""
    return _of_each(str, value, options, version)


def filter_by_networks(values: Any, networks: list[str] | None) -> Any:
    """The addresses of a list (or of each list of a mapping) that lie in one of the networks.
    Raises TypeError for any other value.
    """
    if networks is None:
        return values
    if isinstance(values, Mapping):
        return {key: filter_by_networks(items, networks) for key, items in values.items()}
    if not isinstance(values, list | tuple):
        raise TypeError(
            f"a list of addresses or a mapping of such is required, not {type(values).__name__}"
        )
    parsed = [ipaddress.ip_network(network) for network in networks]
    return [value for value in values if any(_lies_in(value, network) for network in parsed)]


def _lies_in(value: str, network: Any) -> bool:
    try:
        return ipaddress.ip_address(value) in network
    except ValueError:
        if "/" in value:
            raise
        return False


# ---------------------------------------------------------------- hardware, other machines


def gen_mac(prefix: str = "AC:DE:48") -> str:
    """A random MAC address with a prefix."""
    return "{}:{:02X}:{:02X}:{:02X}".format(prefix, *(random.randint(0, 255) for _ in range(3)))


def mac_str_to_bytes(mac: str) -> bytes:
    """A MAC address as six bytes. Raises ValueError for what is no MAC address."""
    digits = re.sub(r"[:-]", "", mac) if len(mac) == 17 else mac
    if not re.fullmatch("[0-9A-Fa-f]{12}", digits):
        raise ValueError(f"{mac!r} is not a MAC address")
    return bytes.fromhex(digits)


def dns_check(name: str, port: int, safe: bool = False, ipv6: bool | None = None) -> Any:
    """The address of a name. Raises ValueError when there is none (with `safe`: an empty text)."""
    family = {None: socket.AF_UNSPEC, True: socket.AF_INET6, False: socket.AF_INET}[ipv6]
    try:
        addresses = socket.getaddrinfo(name, port, family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        if safe:
            return ""
        raise ValueError(f"the lookup of {name!r} failed: {reason_of(problem)}") from None
    address = str(addresses[0][4][0])
    return f"[{address}]" if ":" in address else address


def connection_check(
    name: str, port: int = 80, safe: bool = False, ipv6: bool | None = None
) -> Any:
    """The address of a host that takes connections at a port. Raises ValueError when it takes none
    (with `safe`: an empty text).
    """
    try:
        with socket.create_connection((name, port), timeout=3) as connection:
            return str(connection.getpeername()[0])
    except (OSError, UnicodeError) as problem:
        if safe:
            return ""
        raise ValueError(f"{name}:{port} takes no connection: {reason_of(problem)}") from None


@pass_context
def http_query(context: Context, url: str, **options: Any) -> Any:
    """The answer of a web server, as salt['http.query'] gives it. Raises ValueError for an address
    that is not http, https or ftp.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in ("http", "https", "ftp"):
        raise ValueError(f"{url!r} is not an address of a web server")
    return context["salt"]["http.query"](url, **options)
