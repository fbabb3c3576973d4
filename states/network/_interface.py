# SPDX-License-Identifier: Apache-2.0
"""An interface from the arguments of its state: what they mean, in no tool's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from modules.ip.configuration import (
    BOND_OPTIONS,
    BRIDGE_OPTIONS,
    DERIVED,
    OFFLOADS,
    Family,
    Interface,
    words,
)
from runner.api import Line, OneOrMany, Record, StateFailed, requires_feature
from states.network._arguments import Address, Hostname, Netmask

# options that some tool has, beside ifupdown's with a hyphen
OPTIONS = (
    DERIVED
    | BOND_OPTIONS
    | BRIDGE_OPTIONS
    | {
        *OFFLOADS,
        "autoneg",
        "duplex",
        "port",
        "speed",
        "wol",
        "hashing-algorithm",
        "delay",
        "bypassfirewall",
        "vlan",
        "reorder_hdr",
        "arpcheck",
        "defroute",
        "dhcpv6c",
        "ipv4_failure_fatal",
        "ipv6_defroute",
        "ipv6_peerdns",
        "ipv6_peerroutes",
        "nickname",
        "nm_controlled",
        "peerdns",
        "peerroutes",
        "srcaddr",
        "userctl",
        "zone",
    }
)


def is_known(key: str) -> bool:
    """Return whether interfaces of some type have an option."""
    return key in OPTIONS or "-" in key or key.startswith("bridge_")


Proto = Literal[
    "dhcp", "static", "manual", "none", "loopback", "bootp", "ppp", "tunnel", "wvdial", "ipv4ll"
]
Proto6 = Literal["auto", "static", "dhcp", "manual", "loopback", "v4tunnel", "6to4", "none"]


class Wanted(Record):
    """How an interface is to be, in no tool's words.

    enabled: Bring it up now and when the machine starts; false takes it down.
    proto: How it gets its address; without it static where there is one, else manual.
    ipaddr: The address.
    ipaddrs: Further addresses.
    netmask: The netmask of `ipaddr`, as an address or a length.
    broadcast: The broadcast address.
    gateway: The router.
    pointopoint: The address of the other end of a point-to-point connection.
    scope: Where the address is valid: `global`, `link` or `host`.
    metric: The metric of its default route.
    mtu: The largest packet, in bytes.
    hwaddr: The hardware address that it gets; with ifcfg and NetworkManager the one that the card
      has (macaddr is there the one that it gets).
    hostname: The name that it asks for by DHCP.
    dns: The name servers.
    search: The domains that names are looked up in.
    enable_ipv4: Whether it has IPv4.
    enable_ipv6: Whether it has IPv6; without it where an argument is about it.
    ipv6proto: How it gets its IPv6 address.
    ipv6ipaddr: The IPv6 address.
    ipv6ipaddrs: Further IPv6 addresses.
    ipv6netmask: The length of the prefix of `ipv6ipaddr`.
    ipv6gateway: The router of IPv6.
    accept_ra: Whether it takes what routers announce.
    autoconf: Whether it makes an address of what routers announce.
    privext: Whether it has temporary IPv6 addresses: 0 no, 1 yes, 2 and prefers them.
    master: The bond that it is a slave of.
    hotplug: Bring it up when it appears, instead of at the start.
    """

    enabled: bool = True
    proto: Proto | None = None
    ipaddr: Address | None = None
    ipaddrs: OneOrMany[Address] | None = None
    netmask: Netmask | None = None
    broadcast: Address | None = None
    gateway: Address | None = None
    pointopoint: Annotated[Address | None, requires_feature("peers")] = None
    scope: Annotated[Line | None, requires_feature("peers")] = None
    metric: int | None = None
    mtu: int | None = None
    hwaddr: Line | None = None
    hostname: Hostname | None = None
    dns: OneOrMany[Line] | None = None
    search: OneOrMany[Line] | None = None
    enable_ipv4: bool = True
    enable_ipv6: bool | None = None
    ipv6proto: Proto6 | None = None
    ipv6ipaddr: Address | None = None
    ipv6ipaddrs: OneOrMany[Address] | None = None
    ipv6netmask: int | None = None
    ipv6gateway: Address | None = None
    accept_ra: int | bool | None = None
    autoconf: int | bool | None = None
    privext: int | None = None
    master: Line | None = None
    hotplug: bool = False


def build(name: str, kind: str, given: Wanted, options: Mapping[str, Any]) -> Interface:
    """Return an interface.

    given: the arguments of the state that belong to no tool. options: the others that are not None.
    """
    parent, tag = _vlan(name, kind, options)
    bridge = options.get("bridge")
    member_names = options.get("ports" if kind == "bridge" else "slaves")
    return Interface(
        name,
        kind,
        enabled=given.enabled,
        hotplug=given.hotplug,
        four=_four(name, given, options),
        six=_six(name, given, options),
        six_off=given.enable_ipv6 is False,
        dns=tuple(given.dns or ()),
        search=tuple(given.search or words(options.get("domain", ()))),
        mtu=given.mtu,
        hwaddr=given.hwaddr or "",
        macaddr=str(options.get("macaddr", "")),
        metric=given.metric,
        hostname=given.hostname or "",
        members=tuple(words(member_names)) if member_names is not None else (),
        master=str(bridge) if bridge else given.master or "",
        master_kind="bridge" if bridge else "bond",
        parent=parent,
        tag=tag,
        options=options,
    )


def _four(name: str, given: Wanted, options: Mapping[str, Any]) -> Family | None:
    if not given.enable_ipv4:
        return None
    addresses = tuple(filter(None, [given.ipaddr, *(given.ipaddrs or ())]))
    settings = {key: getattr(given, key) for key in ("broadcast", "pointopoint", "scope")}
    netmask = given.netmask or str(options.get("prefix", ""))
    method = _method(name, given.proto, addresses)
    return Family(method, addresses, netmask, given.gateway or "", settings)


def _six(name: str, given: Wanted, options: Mapping[str, Any]) -> Family | None:
    """The second family; without enable_ipv6 it is there if an argument is about it."""
    singles = [given.ipv6ipaddr, options.get("ipv6addr")]
    several = [*(given.ipv6ipaddrs or ()), *words(options.get("ipv6addrs", ()))]
    addresses = tuple(str(address) for address in (*singles, *several) if address)
    settings = {key: getattr(given, key) for key in ("accept_ra", "autoconf", "privext")}
    if "ipv6_autoconf" in options:
        settings["autoconf"] = options["ipv6_autoconf"]
    mask = given.ipv6netmask
    wanted = given.enable_ipv6
    if wanted is None:
        told = (given.ipv6proto, *addresses, mask, given.ipv6gateway, *settings.values())
        wanted = any(value not in (None, "") for value in told)
    if not wanted:
        return None
    method = _method(name, given.ipv6proto, addresses)
    netmask = "" if mask is None else str(mask)
    return Family(method, addresses, netmask, given.ipv6gateway or "", settings)


def _method(name: str, proto: str | None, addresses: tuple[str, ...]) -> str:
    if proto == "static" and not addresses:
        raise StateFailed(f"Interface {name} is static and has no address")
    return proto if proto not in (None, "none") else "static" if addresses else "manual"


def _vlan(name: str, kind: str, options: Mapping[str, Any]) -> tuple[str, int | None]:
    """The interface below a VLAN and its tag, from options or from a name such as eth0.12."""
    if kind != "vlan":
        return "", None
    base, _, end = name.rpartition(".")
    parents = (options.get(key) for key in ("vlan-raw-device", "parent", "phys_dev"))
    parent = next((str(value) for value in parents if value), base)
    digits = end if base else name.removeprefix("vlan")
    tag = next((options[key] for key in ("vlan_id", "id") if key in options), digits)
    text = str(tag)
    return parent, int(text) if text.isdigit() and int(text) < 4095 else None
