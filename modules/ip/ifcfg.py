# SPDX-License-Identifier: Apache-2.0
"""ifcfg files of the Red Hat family: /etc/sysconfig/network-scripts, in the form and order of
Salt's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules import file, network
from modules.ip import configuration as tools
from modules.ip.configuration import SHELL_SPECIAL, Action, Family, Interface, Route, Texts, plain
from runner.api import StateFailed, changer, here

NAMES: tuple[str, ...] = ("ifcfg", "rh_ip")
TOOL = "ifcfg"
FOLDER = "/etc/sysconfig/network-scripts"
SETTINGS = "/etc/sysconfig/network"
METHODS = ("static", "dhcp", "bootp", "manual")
METHODS_SIX = ("static", "dhcp", "auto", "manual")
TYPES = {"eth": "Ethernet", "bond": "Bond", "bridge": "Bridge"}
CARD = ("autoneg", "duplex", "speed", "wol")
OFFLOADS = ("rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro")
BOND = tuple(
    """
    arp_interval arp_ip_target miimon downdelay updelay use_carrier lacp_rate ad_select
    xmit_hash_policy hashing-algorithm primary
    """.split()
)
SWITCHES = {  # yes or no, in the order of the file
    "ipv6_defroute": "IPV6_DEFROUTE",
    "ipv6_peerroutes": "IPV6_PEERROUTES",
    "ipv6_peerdns": "IPV6_PEERDNS",
    "peerdns": "PEERDNS",
    "peerroutes": "PEERROUTES",
    "defroute": "DEFROUTE",
}
COMMON = {
    "arpcheck",
    "dhcpv6c",
    "ipv4_failure_fatal",
    "nickname",
    "nm_controlled",
    "srcaddr",
    "userctl",
    "zone",
    "stp",
    "delay",
    *SWITCHES,
    *CARD,
    *OFFLOADS,
    *tools.DERIVED,
}
KNOWN = {
    "eth": COMMON,
    "alias": COMMON,
    "slave": COMMON,
    "vlan": COMMON | {"vlan", "reorder_hdr"},
    "bond": COMMON | {"mode", *BOND},
    "bridge": COMMON | {"bypassfirewall"},
}
is_up = tools.link_up
packages = tools.no_packages
verify = tools.not_verified


def suits() -> bool:
    """Return whether this is a machine of the Red Hat family with network scripts."""
    return here.grains.get("os_family") == "RedHat" and file.is_dir(FOLDER)


def path(name: str) -> str:
    """The file of an interface."""
    return f"{FOLDER}/ifcfg-{name}"


def present(name: str) -> Texts:
    """Return the file of an interface."""
    tools.reject_name(name)
    return tools.texts_of([path(name)])


def texts(interface: Interface) -> Texts:
    """Return the file of an interface as it should be. Members of bonds and bridges have files of
    their own, with master or bridge.
    """
    tools.check(TOOL, interface, KNOWN)
    tools.reject_family(TOOL, interface.four, METHODS, ())
    tools.reject_family(TOOL, interface.six, METHODS_SIX, ("autoconf",))
    lines = (f'{key}="{plain(value, key, SHELL_SPECIAL)}"\n' for key, value in _lines(interface))
    return {path(interface.name): "".join(lines)}


def _lines(interface: Interface) -> Iterator[tuple[str, Any]]:
    options, kind = interface.options, interface.kind
    yield "DEVICE", interface.name
    if "nickname" in options:
        yield "NAME", options["nickname"]
    yield from _hardware(interface)
    yield "USERCTL", _word(options.get("userctl", False))
    yield from _kind(interface)
    four = interface.four
    if four is not None:
        yield "BOOTPROTO", four.method if four.method in ("dhcp", "bootp") else "none"
    yield "ONBOOT", _word(interface.enabled)
    if "ipv4_failure_fatal" in options:
        yield "IPV4_FAILURE_FATAL", _word(options["ipv4_failure_fatal"])
    if four is not None:
        yield from _addresses(four)
    if "arpcheck" in options and not tools.flag(options["arpcheck"]):
        yield "ARPCHECK", "no"
    if "srcaddr" in options:
        yield "SRCADDR", options["srcaddr"]
    yield from _six_lines(interface)
    peers = {"peerdns": True} if interface.dns else {}
    for option, key in SWITCHES.items():
        if option in (given := {**peers, **options}):
            yield key, _word(given[option])
    if kind == "bond":
        yield "BONDING_OPTS", " ".join(_bonding(interface))
    if interface.master and interface.master_kind == "bridge":
        yield "BRIDGE", interface.master
    if "stp" in options:
        yield "STP", _word(options["stp"])
    if "delay" in options:
        yield "DELAY", tools.number("delay", options["delay"])
    yield from _last_lines(interface)


def _word(value: object) -> str:
    return "yes" if tools.flag(value) else "no"


def _hardware(interface: Interface) -> Iterator[tuple[str, str]]:
    """Lines for the addresses of a card: without one, that of this machine's."""
    card = interface.kind in ("eth", "alias")
    known = network.interfaces().get(interface.name, {}).get("hwaddr", "") if card else ""
    if interface.hwaddr or known:
        yield "HWADDR", interface.hwaddr or known
    if interface.macaddr:
        yield "MACADDR", interface.macaddr


def _kind(interface: Interface) -> Iterator[tuple[str, Any]]:
    options = interface.options
    if interface.master and interface.master_kind == "bond":
        yield "MASTER", interface.master
        yield "SLAVE", "yes"
    if interface.kind == "vlan":
        yield "VLAN", "yes"
        if {"vlan_id", "id", "parent", "phys_dev", "vlan-raw-device"} & set(options):
            yield "VID", interface.tag
            yield "PHYSDEV", interface.parent
            yield "TYPE", "Vlan"
        if "reorder_hdr" in options:
            yield "REORDER_HDR", _word(options["reorder_hdr"])
    elif interface.kind in TYPES:
        yield "TYPE", TYPES[interface.kind]


def _addresses(four: Family) -> Iterator[tuple[str, Any]]:
    for position, address in enumerate(four.addresses):
        end = str(position) if position else ""
        plain_address, _, length = address.partition("/")
        yield f"IPADDR{end}", plain_address
        if length or four.netmask.isdigit():
            yield f"PREFIX{end}", length or four.netmask
        elif four.netmask:
            yield f"NETMASK{end}", four.netmask
        if not position and four.gateway:
            yield "GATEWAY", four.gateway
    if four.gateway and not four.addresses:
        yield "GATEWAY", four.gateway


def _six_lines(interface: Interface) -> Iterator[tuple[str, Any]]:
    six = interface.six
    if six is None:
        return
    yield "IPV6INIT", "yes"
    if "dhcpv6c" in interface.options or six.method == "dhcp":
        yield "DHCPV6C", _word(interface.options.get("dhcpv6c", True))
    autoconf = six.settings.get("autoconf")
    if autoconf is not None or six.method == "auto":
        yield "IPV6_AUTOCONF", _word(True if autoconf is None else autoconf)
    first, *others = six.networks() or [""]
    if first:
        yield "IPV6ADDR", first
    if six.gateway:
        yield "IPV6_DEFAULTGW", six.gateway
    if others:
        yield "IPV6ADDR_SECONDARIES", " ".join(others)


def _bonding(interface: Interface) -> Iterator[str]:
    """The options of a bond; those that Salt adds are added."""
    options, name = dict(interface.options), interface.name
    mode = tools.BOND_MODES.index(tools.bond_mode(name, options.get("mode", 0)))
    if "miimon" not in options and "arp_interval" not in options:
        expected = "at least one of these is required"
        raise StateFailed(
            f"Invalid option -- Interface: {name}, Option: miimon or arp_interval,"
            f" Expected: [{expected}]"
        )
    if "miimon" in options:
        options.setdefault("downdelay", 2 * tools.number("miimon", options["miimon"]))
        options.setdefault("use_carrier", 0)
    if mode == 4:
        options = {"lacp_rate": 0, "ad_select": 0, **options}
    options.setdefault("xmit_hash_policy", options.pop("hashing-algorithm", None))
    yield f"mode={mode}"
    for option in BOND:
        value = options.get(option)
        if value is not None:
            yield f"{option}={plain(_bond_value(option, value), option, SHELL_SPECIAL + ' ')}"


def _bond_value(option: str, value: object) -> object:
    if option == "lacp_rate":
        return ("slow", "fast").index(tools.number_or_word(option, value, ("slow", "fast")))
    if option == "use_carrier":
        return int(tools.flag(value))
    return ",".join(tools.words(value))


def _last_lines(interface: Interface) -> Iterator[tuple[str, Any]]:
    options = interface.options
    if interface.mtu is not None:
        yield "MTU", interface.mtu
    if interface.metric is not None:
        yield "METRIC", interface.metric
    if interface.hostname:
        yield "DHCP_HOSTNAME", interface.hostname
    if interface.search:
        yield "DOMAIN", " ".join(interface.search)
    if "zone" in options:
        yield "ZONE", options["zone"]
    card = " ".join(_card(interface))
    if card:
        yield "ETHTOOL_OPTS", card
    yield "NM_CONTROLLED", _word(options.get("nm_controlled", False))
    for position, server in enumerate(interface.dns, 1):
        yield f"DNS{position}", server


def _card(interface: Interface) -> Iterator[str]:
    for option in (*CARD, *OFFLOADS):
        if option in interface.options:
            value = interface.options[option]
            switch = isinstance(value, bool) or option in OFFLOADS
            yield f"{option} {('on' if tools.flag(value) else 'off') if switch else value}"


# ---------------------------------------------------------------- routes and settings of all


def present_routes(name: str) -> Texts:
    """Return the files with the routes of an interface."""
    tools.reject_name(name)
    return tools.texts_of([f"{FOLDER}/route-{name}", f"{FOLDER}/route6-{name}"])


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the files as they should be; none for no routes."""
    made: dict[str, str] = {}
    for route in routes:
        target = f"{FOLDER}/route{'6' if route.version() == 6 else ''}-{name}"
        title = "" if route.name == "route" else f"# {plain(route.name, 'name', SHELL_SPECIAL)}\n"
        line = f"{route.target} via {route.gateway}" if route.gateway else f"{route.target}"
        line += f" dev {name}" if not route.gateway else ""
        line += f" metric {route.metric}" if route.metric else ""
        made[target] = made.get(target, "") + f"{title}{line}\n"
    return made


def present_settings() -> Texts:
    """Return the file with the settings of all interfaces."""
    return tools.texts_of([SETTINGS])


def settings_texts(settings: Mapping[str, Any], retain: bool) -> Texts:
    """Return that file as it should be.

    settings: enabled, hostname, gateway, gatewaydev, nisdomain, nozeroconf. retain: settings that
    are not given stay.
    """
    now = present_settings().get(SETTINGS, "")
    keys = ("hostname", "gateway", "gatewaydev", "nisdomain", "nozeroconf")
    wanted: dict[str, Any] = {"NETWORKING": _word(settings["enabled"])}
    for key in keys:
        if settings[key] is not None:
            value = settings[key]
            text = (
                _word(value) if isinstance(value, bool) else plain(value, key, SHELL_SPECIAL + " ")
            )
            wanted[key.upper()] = text
    pairs = (line.partition("=") for line in now.splitlines() if "=" in line)
    old = {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}
    if retain or settings["hostname"] is None:
        wanted = old | wanted
    return {SETTINGS: "".join(f"{key}={value}\n" for key, value in wanted.items())}


# ---------------------------------------------------------------- what runs


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the files of an interface, then take it down and up. Raises StateFailed when ifdown or
    ifup fails.
    """
    tools.put(old, new, "0644")
    if action in ("down", "restart", "routes"):
        tools.run_tool("ifdown", name)
    if action in ("up", "restart", "routes"):
        tools.run_tool("ifup", name)
