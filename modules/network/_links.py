# SPDX-License-Identifier: Apache-2.0
"""The interfaces of this machine with their addresses."""

from __future__ import annotations

import fnmatch
import ipaddress
import json
from typing import Any

from modules import cmd
from runner.api import cached_look, for_states

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface


@cached_look("network")
def links() -> dict[str, dict[str, Any]]:
    """Each interface as `ip` tells it: up, hwaddr, addresses (address, broadcast, label)."""
    done = cmd.probe(["ip", "-json", "address", "show"])
    by_name: dict[str, dict[str, Any]] = {}
    for link in json.loads(done.stdout or "[]") if done.retcode == 0 else ():
        entry = {"up": "UP" in link.get("flags", ()), "hwaddr": link.get("address", "")}
        entry["addresses"] = [
            (
                ipaddress.ip_interface(f"{address['local']}/{address['prefixlen']}"),
                address.get("broadcast"),
                address.get("label"),
            )
            for address in link.get("addr_info", ())
        ]
        by_name[link["ifname"]] = entry
    return by_name


@for_states
def addresses(names: str | list[str] | None = None) -> list[Address]:
    """The addresses of some interfaces (globs; None: of all)."""
    patterns = [names] if isinstance(names, str) else names
    return [
        address
        for name, link in links().items()
        if patterns is None or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        for address, _, _ in link["addresses"]
    ]


def interfaces() -> dict[str, dict[str, Any]]:
    """Each interface with its addresses, in Salt's shape.

    {{ salt['network.interfaces']().eth0.inet[0].address }}
    """
    by_name = {}
    for name, link in links().items():
        shaped: dict[str, Any] = {"up": link["up"]}
        if link["hwaddr"]:
            shaped["hwaddr"] = link["hwaddr"]
        for address, broadcast, label in link["addresses"]:
            if address.version == 4:
                item = {
                    "address": str(address.ip),
                    "netmask": str(address.netmask),
                    "broadcast": broadcast,
                    "label": label or name,
                }
                shaped.setdefault("inet", []).append(item)
            else:
                scope = (
                    "link"
                    if address.ip.is_link_local
                    else "host"
                    if address.ip.is_loopback
                    else "global"
                )
                item = {
                    "address": str(address.ip),
                    "prefixlen": str(address.network.prefixlen),
                    "scope": scope,
                }
                shaped.setdefault("inet6", []).append(item)
        by_name[name] = shaped
    return by_name


def _none_of(iface: str) -> str:
    known = ", ".join(f'"{name}"' for name in links())
    return f'Interface "{iface}" not in available interfaces: {known}'


def interface(iface: str) -> list[dict[str, Any]] | str:
    """The IPv4 addresses of an interface, "" when it has none; a text that says so when there is no
    such interface.
    """
    link: dict[str, Any] | None = interfaces().get(iface)
    return link.get("inet", "") if link is not None else _none_of(iface)


def interface_ip(iface: str) -> str:
    """The first IPv4 address of an interface, "" when it has none; a text that says so when there
    is no such interface.

    {{ salt['network.interface_ip']('eth0') }}
    """
    if iface not in links():
        return _none_of(iface)
    own = links()[iface]["addresses"]
    return next((str(address.ip) for address, _, _ in own if address.version == 4), "")


def hw_addr(iface: str) -> str:
    """The MAC address of an interface; a text that says so when there is no such interface."""
    link = links().get(iface)
    return str(link["hwaddr"]) if link is not None else _none_of(iface)


def ifacestartswith(cidr: str) -> list[str]:
    """The interfaces with an IPv4 address that begins with a text (`10.1.`)."""
    return [
        name
        for name, link in links().items()
        if any(
            address.version == 4 and str(address.ip).startswith(cidr)
            for address, _, _ in link["addresses"]
        )
    ]
