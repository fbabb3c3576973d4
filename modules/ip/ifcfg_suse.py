# SPDX-License-Identifier: Apache-2.0
"""ifcfg files of the SUSE family: /etc/sysconfig/network, which wicked reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from modules import file
from modules.ip import configuration as tools
from modules.ip.configuration import SHELL_SPECIAL, Action, Interface, Route, Texts, flag, plain
from runner.api import changer, here

NAMES: tuple[str, ...] = ("ifcfg_suse", "suse_ip", "wicked")
TOOL = "ifcfg of SUSE"
FOLDER = "/etc/sysconfig/network"
ROUTES = f"{FOLDER}/routes"
METHODS = ("static", "dhcp", "manual")
METHODS_SIX = ("static", "dhcp", "auto", "manual")  # auto: what a router announces, as always
BOND = tuple(
    """
    miimon downdelay updelay use_carrier arp_interval arp_ip_target lacp_rate ad_select
    xmit_hash_policy primary
    """.split()
)
BRIDGE = {
    "fd": "BRIDGE_FORWARDDELAY",
    "delay": "BRIDGE_FORWARDDELAY",
    "hello": "BRIDGE_HELLOTIME",
    "maxage": "BRIDGE_MAXAGE",
    "ageing": "BRIDGE_AGEINGTIME",
    "bridgeprio": "BRIDGE_PRIORITY",
}
CARD = ("autoneg", "speed", "duplex", "wol")
KNOWN = {
    "eth": tools.DERIVED | {"zone", *CARD},
    "slave": tools.DERIVED | {*CARD},
    "vlan": tools.DERIVED | {"vlan", "zone"},
    "bond": tools.DERIVED | {"mode", "zone", *BOND},
    "bridge": tools.DERIVED | {"stp", "zone", *BRIDGE},
}
ADVICE = "leave it out, or write it to /etc/sysconfig/network with file.managed (ifcfg(5))"
is_up = tools.link_up
packages = tools.no_packages
verify = tools.not_verified


def suits() -> bool:
    """Return whether this is a machine of the SUSE family with such files."""
    return here.grains.get("os_family") == "Suse" and file.is_dir(FOLDER)


def path(name: str) -> str:
    """The file of an interface."""
    return f"{FOLDER}/ifcfg-{name}"


def present(name: str) -> Texts:
    """Return the file of an interface, and the one of all routes if it has its default route."""
    tools.reject_name(name)
    routes = tools.texts_of([ROUTES])
    shared = routes if any(_is_default(line, name) for line in _lines_of(routes)) else {}
    return {**tools.texts_of([path(name)]), **shared}


def _lines_of(routes: Texts) -> list[str]:
    return [line for text in routes.values() for line in text.splitlines()]


def _is_default(line: str, name: str) -> bool:
    """Return whether a line of the file of all routes is the default route of an interface."""
    columns = line.split()
    return columns[:1] == ["default"] and columns[3:4] == [name]


def texts(interface: Interface) -> Texts:
    """Return the files of an interface as they should be. Raises StateFailed for what they have
    nothing like.
    """
    tools.check(TOOL, interface, KNOWN, ADVICE)
    tools.reject_family(TOOL, interface.four, METHODS, ())
    tools.reject_family(TOOL, interface.six, METHODS_SIX, ())
    if interface.dns or interface.search:
        argument = "dns" if interface.dns else "search"
        place = "NETCONFIG_DNS_STATIC_SERVERS and _SEARCHLIST of /etc/sysconfig/network/config"
        raise tools.cannot(TOOL, argument, f"it has one list for all interfaces; write {place}")
    if interface.metric is not None:
        raise tools.cannot(TOOL, "metric", "write the route with its metric to network.routes")
    lines = (f"{key}='{plain(value, key, SHELL_SPECIAL)}'\n" for key, value in _lines(interface))
    return {path(interface.name): "".join(lines), **_shared_routes(interface)}


def _shared_routes(interface: Interface) -> Texts:
    """The file of all routes with the default ones of an interface; nothing where it has none."""
    name = interface.name
    families = [family for family in interface.families() if family.gateway]
    if not families and ROUTES not in present(name):
        return {}
    others = [line for line in _lines_of(tools.texts_of([ROUTES])) if not _is_default(line, name)]
    own = [f"default {family.gateway} - {name}" for family in families]
    return {ROUTES: "".join(f"{line}\n" for line in (*others, *own))}


def _lines(interface: Interface) -> Iterator[tuple[str, Any]]:
    options = interface.options
    yield "STARTMODE", "auto" if interface.enabled else "manual"
    yield "BOOTPROTO", _boot_protocol(interface)
    for position, network in enumerate(interface.networks()):
        yield f"IPADDR_{position}" if position else "IPADDR", network
    if address := interface.hardware_address():
        yield "LLADDR", address
    if interface.mtu is not None:
        yield "MTU", interface.mtu
    if interface.hostname:
        yield "DHCLIENT_HOSTNAME_OPTION", interface.hostname
    if interface.kind == "bond":
        yield "BONDING_MASTER", "yes"
        for position, member in enumerate(interface.members):
            yield f"BONDING_SLAVE_{position}", member
        yield "BONDING_MODULE_OPTS", " ".join(_bonding(interface))
    if interface.kind == "bridge":
        yield "BRIDGE", "yes"
        yield "BRIDGE_PORTS", " ".join(interface.members)
        yield "BRIDGE_STP", "on" if flag(options.get("stp", False)) else "off"
        for option, key in BRIDGE.items():
            if option in options:
                yield key, tools.number(option, options[option])
    if interface.kind == "vlan":
        yield "ETHERDEVICE", interface.parent
        yield "VLAN_ID", interface.tag
    card = " ".join(f"{option} {options[option]}" for option in CARD if option in options)
    if card:
        yield "ETHTOOL_OPTIONS", f"-s {interface.name} {card}"
    if "zone" in options:
        yield "ZONE", options["zone"]


def _boot_protocol(interface: Interface) -> str:
    dhcp = [bool(family and family.method == "dhcp") for family in (interface.four, interface.six)]
    if any(dhcp):
        return "dhcp" if all(dhcp) else "dhcp4" if dhcp[0] else "dhcp6"
    return "none" if interface.kind == "slave" else "static"


def _bonding(interface: Interface) -> Iterator[str]:
    options = interface.options
    yield f"mode={tools.bond_mode(interface.name, options.get('mode', 0))}"
    for option in BOND:
        if option in options:
            value = options[option]
            text = int(value) if isinstance(value, bool) else ",".join(tools.words(value))
            yield f"{option}={plain(text, option, SHELL_SPECIAL + ' ')}"


def present_routes(name: str) -> Texts:
    """Return the file with the routes of an interface."""
    tools.reject_name(name)
    return tools.texts_of([f"{FOLDER}/ifroute-{name}"])


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the file as it should be; none for no routes."""
    lines = [
        f"{route.target if route.gateway else route.network()} {route.gateway or '-'} - {name}"
        + (f" metric {route.metric}" if route.metric else "")
        for route in routes
    ]
    return {f"{FOLDER}/ifroute-{name}": "".join(f"{line}\n" for line in lines)} if lines else {}


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the files of an interface, then take it down and up. Raises StateFailed when ifdown or
    ifup fails.
    """
    tools.put(old, new, "0644")
    if action in ("down", "restart"):
        tools.run_tool("ifdown", name)
    if action in ("up", "restart"):
        tools.run_tool("ifup", name)
    if action in ("routes", "reload"):
        tools.run_tool("ifreload", name)
