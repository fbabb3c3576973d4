# SPDX-License-Identifier: Apache-2.0
"""The addresses and networks that this machine has."""

from __future__ import annotations

import ipaddress
from typing import Any

from modules.network._links import addresses

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def network_of(text: Any) -> Network | None:
    """The network of a text; None, as with Salt, for what is none (`10.1.2.3/8` has bits where a
    network has zeros).
    """
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None


def _addresses(
    version: int,
    interface: str | list[str] | None,
    loopback: bool,
    cidr: str | list[str] | None,
    kind: str | None,
) -> list[str]:
    networks = (
        [network_of(text) for text in ([cidr] if isinstance(cidr, str) else cidr)] if cidr else []
    )
    if None in networks:
        return []
    matching = {
        address.ip
        for address in addresses(interface)
        if address.version == version
        and (loopback or not address.ip.is_loopback)
        and (not networks or any(address.ip in network for network in networks if network))
        and (not kind or address.ip.is_private is not (kind == "public"))
    }
    return [str(ip) for ip in sorted(matching)]


def ip_addrs(
    interface: str | list[str] | None = None,
    include_loopback: bool = False,
    cidr: str | list[str] | None = None,
    type: str | None = None,
) -> list[str]:
    """The IPv4 addresses of this machine.

    interface: of these interfaces (globs). include_loopback: 127.0.0.1, too. cidr: only those in
    these networks. type: private or public ones.

        {{ salt['network.ip_addrs'](cidr='10.0.0.0/8')[0] }}
    """
    return _addresses(4, interface, include_loopback, cidr, type)


def ip_addrs6(
    interface: str | list[str] | None = None,
    include_loopback: bool = False,
    cidr: str | list[str] | None = None,
) -> list[str]:
    """The IPv6 addresses of this machine; arguments as those of ip_addrs."""
    return _addresses(6, interface, include_loopback, cidr, None)


ipaddrs = ip_addrs
ipaddrs6 = ip_addrs6


def _networks(version: int, interface: str | list[str] | None, loopback: bool) -> list[Network]:
    networks = {
        address.network
        for address in addresses(interface)
        if address.version == version and (loopback or not address.ip.is_loopback)
    }
    return sorted(networks)


def _listing(networks: list[Network], verbose: bool) -> Any:
    if not verbose:
        return [str(network) for network in networks]
    return {
        str(network): {
            "address": str(network.network_address),
            "netmask": str(network.netmask),
            "num_addresses": network.num_addresses,
            "prefixlen": network.prefixlen,
        }
        for network in networks
    }


def ip_networks(
    interface: str | list[str] | None = None, include_loopback: bool = False, verbose: bool = False
) -> list[str] | dict[str, dict[str, Any]]:
    """The IPv4 networks that this machine is in. verbose: a mapping with their masks and sizes."""
    networks: list[str] | dict[str, dict[str, Any]] = _listing(
        _networks(4, interface, include_loopback), verbose
    )
    return networks


def ip_networks6(
    interface: str | list[str] | None = None, include_loopback: bool = False, verbose: bool = False
) -> list[str] | dict[str, dict[str, Any]]:
    """The IPv6 networks that this machine is in; arguments as those of ip_networks."""
    networks: list[str] | dict[str, dict[str, Any]] = _listing(
        _networks(6, interface, include_loopback), verbose
    )
    return networks


def subnets(interfaces: str | list[str] | None = None) -> list[str]:
    """The IPv4 networks that this machine is in."""
    return [str(network) for network in _networks(4, interfaces, False)]


def subnets6() -> list[str]:
    """The IPv6 networks that this machine is in."""
    return [str(network) for network in _networks(6, None, False)]


def in_subnet(cidr: str) -> bool:
    """Return whether this machine is in a network (its loopback addresses do not count)."""
    network = network_of(cidr)
    if network is None:
        return False
    return any(address.ip in network for address in addresses() if not address.ip.is_loopback)
