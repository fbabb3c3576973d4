# SPDX-License-Identifier: Apache-2.0
"""An interface from the arguments of its state: what they mean, in no tool's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules.ip.configuration import (
    BOND_OPTIONS,
    BRIDGE_OPTIONS,
    DERIVED,
    OFFLOADS,
    Family,
    Interface,
    words,
)
from runner.api import StateFailed

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


def build(name: str, kind: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Interface:
    """Return an interface.

    given: the arguments of the state that belong to no tool. options: the others that are not None.
    """
    parent, tag = _vlan(name, kind, options)
    bridge = options.get("bridge")
    member_names = options.get("ports" if kind == "bridge" else "slaves")
    return Interface(
        name,
        kind,
        enabled=given["enabled"],
        hotplug=given["hotplug"],
        four=_four(name, given, options),
        six=_six(name, given, options),
        six_off=given["enable_ipv6"] is False,
        dns=tuple(given["dns"] or ()),
        search=tuple(given["search"] or words(options.get("domain", ()))),
        mtu=given["mtu"],
        hwaddr=given["hwaddr"] or "",
        macaddr=str(options.get("macaddr", "")),
        metric=given["metric"],
        hostname=given["hostname"] or "",
        members=tuple(words(member_names)) if member_names is not None else (),
        master=str(bridge) if bridge else given["master"] or "",
        master_kind="bridge" if bridge else "bond",
        parent=parent,
        tag=tag,
        options=options,
    )


def _four(name: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Family | None:
    if not given["enable_ipv4"]:
        return None
    addresses = tuple(filter(None, [given["ipaddr"], *(given["ipaddrs"] or ())]))
    settings = {key: given[key] for key in ("broadcast", "pointopoint", "scope")}
    netmask = given["netmask"] or str(options.get("prefix", ""))
    method = _method(name, given["proto"], addresses)
    return Family(method, addresses, netmask, given["gateway"] or "", settings)


def _six(name: str, given: Mapping[str, Any], options: Mapping[str, Any]) -> Family | None:
    """The second family; without enable_ipv6 it is there if an argument is about it."""
    singles = [given["ipv6ipaddr"], options.get("ipv6addr")]
    several = [*(given["ipv6ipaddrs"] or ()), *words(options.get("ipv6addrs", ()))]
    addresses = tuple(str(address) for address in (*singles, *several) if address)
    settings = {key: given[key] for key in ("accept_ra", "autoconf", "privext")}
    if "ipv6_autoconf" in options:
        settings["autoconf"] = options["ipv6_autoconf"]
    mask = given["ipv6netmask"]
    wanted = given["enable_ipv6"]
    if wanted is None:
        told = (given["ipv6proto"], *addresses, mask, given["ipv6gateway"], *settings.values())
        wanted = any(value not in (None, "") for value in told)
    if not wanted:
        return None
    method = _method(name, given["ipv6proto"], addresses)
    netmask = "" if mask is None else str(mask)
    return Family(method, addresses, netmask, given["ipv6gateway"] or "", settings)


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
