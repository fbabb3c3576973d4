"""Interfaces, as ifupdown configures them."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from modules import ip, pkg
from runner.api import Check, Line, Name, Named, OneOrMany, Plan, Planned, StateFailed, line_problem
from states.file._diff import unified
from states.network._options import format_options, is_known, option_lines, stanzas

NEEDED = {"bridge": "bridge-utils", "bond": "ifenslave"}


def _is_address(value: str) -> str | None:
    try:
        ipaddress.ip_interface(value)
    except ValueError:
        return "expected an IP address, with its length behind a slash or without"
    return None


def _is_mask(value: str) -> str | None:
    try:
        ipaddress.ip_network(f"0.0.0.0/{value}")
    except ValueError:
        return "expected a netmask such as 255.255.255.0 or 24"
    return None


def _is_option(value: Any) -> str | None:
    if isinstance(value, dict):
        return "expected a value or a list of them"
    return next(
        (
            problem
            for item in (value if isinstance(value, list) else [value])
            if (problem := line_problem(str(item)))
        ),
        None,
    )


Option = Annotated[Any, Check(_is_option), Named(is_known)]
Address = Annotated[str, Check(_is_address)]
Netmask = Annotated[str, Check(_is_mask)]
Type = Literal[
    "eth", "bond", "bridge", "vlan", "slave", "alias", "clone", "ipsec", "dialup", "pppoe", "source"
]
Proto = Literal[
    "dhcp", "static", "manual", "none", "loopback", "bootp", "ppp", "tunnel", "wvdial", "ipv4ll"
]
Proto6 = Literal["auto", "static", "dhcp", "manual", "loopback", "v4tunnel", "6to4", "none"]


def managed(
    name: Name,
    enabled: bool = True,
    type_: Type = "eth",
    proto: Proto | None = None,
    ipaddr: Address | None = None,
    ipaddrs: OneOrMany[Address] | None = None,
    netmask: Netmask | None = None,
    broadcast: Address | None = None,
    gateway: Address | None = None,
    pointopoint: Address | None = None,
    scope: Line | None = None,
    metric: int | None = None,
    mtu: int | None = None,
    hwaddr: Line | None = None,
    hostname: Name | None = None,
    dns: OneOrMany[Line] | None = None,
    search: OneOrMany[Line] | None = None,
    enable_ipv4: bool = True,
    enable_ipv6: bool | None = None,
    ipv6proto: Proto6 | None = None,
    ipv6ipaddr: Address | None = None,
    ipv6ipaddrs: OneOrMany[Address] | None = None,
    ipv6netmask: int | None = None,
    ipv6gateway: Address | None = None,
    accept_ra: int | bool | None = None,
    autoconf: int | bool | None = None,
    privext: int | None = None,
    master: Line | None = None,
    provider: Line | None = None,
    source: Line | None = None,
    hotplug: bool = False,
    noifupdown: bool = False,
    up_cmds: OneOrMany[Line] | None = None,
    down_cmds: OneOrMany[Line] | None = None,
    pre_up_cmds: OneOrMany[Line] | None = None,
    post_up_cmds: OneOrMany[Line] | None = None,
    pre_down_cmds: OneOrMany[Line] | None = None,
    post_down_cmds: OneOrMany[Line] | None = None,
    **options: Option,
) -> Planned:
    """Make sure that an interface is configured in /etc/network/interfaces, and up.

    name: the interface. enabled: it is brought up now and when the machine starts. hotplug: when it
    appears. type: what it is; `source` takes in the files that source or name tells. proto: how it
    gets its address; without it static where there is one, else manual. ipaddr, ipaddrs, netmask,
    broadcast, gateway, pointopoint, scope, metric, mtu, hwaddr, hostname, dns, search: as
    interfaces(5) has them. enable_ipv4, enable_ipv6: whether it has either; without enable_ipv6 it
    has the second if an argument is about it. ipv6proto, ipv6ipaddr, ipv6ipaddrs, ipv6netmask,
    ipv6gateway, accept_ra, autoconf, privext: the same for IPv6. master: the bond that it is a
    slave of. provider: the file of /etc/ppp/peers, for type pppoe. noifupdown: write the file
    alone. up_cmds, down_cmds, pre_up_cmds, post_up_cmds, pre_down_cmds, post_down_cmds: commands.

    Further arguments are options of cards (speed, duplex, autoneg, wol, rx, tx, tso, ...), bonds
    (mode, slaves, primary, miimon, ...) and bridges (ports, stp, fd, ...), and any option of
    interfaces(5) that has a hyphen.

        eth0:
          network.managed:
            - type: eth
            - proto: static
            - ipaddr: 10.1.0.7
            - netmask: 255.255.255.0
            - gateway: 10.1.0.1
            - dns: [10.1.0.2, 10.1.0.3]
        br0:
          network.managed:
            - type: bridge
            - proto: dhcp
            - ports: eth1 eth2

    Behaviour: Salt 3008's network.managed on a Debian; what others wrote in the file stays as it
    is.
    """
    if not os.path.isdir(os.path.dirname(ip.FILE)):
        raise StateFailed(
            "/etc/network cannot be written: there is no ifupdown here (the package of this name;"
            " for netplan and systemd-networkd write their files with file.managed)",
            missing=[("pkg", "ifupdown"), ("file", os.path.dirname(ip.FILE))],
        )
    if type_ == "source":
        return (yield from _sourced(name, source or name))
    more = option_lines(name, type_, options)
    more += format_options(
        {"up": up_cmds, "down": down_cmds, "pre-up": pre_up_cmds, "post-up": post_up_cmds}
    )
    more += format_options({"pre-down": pre_down_cmds, "post-down": post_down_cmds})
    tagged = type_ == "vlan" and "." in name and "vlan-raw-device" not in options
    four: dict[str, Any] = {"vlan-raw-device": name.partition(".")[0] if tagged else None}
    four |= {
        "address": [ipaddr, *(ipaddrs or [])],
        "netmask": netmask,
        "broadcast": broadcast,
        "gateway": gateway,
    }
    four |= {
        "pointopoint": pointopoint,
        "scope": scope,
        "metric": metric,
        "mtu": mtu,
        "hwaddress": hwaddr,
    }
    four |= {"hostname": hostname, "provider": provider, "bond-master": master}
    six: dict[str, Any] = {"address": [ipv6ipaddr, *(ipv6ipaddrs or [])], "netmask": ipv6netmask}
    six |= {
        "gateway": ipv6gateway,
        "accept_ra": accept_ra,
        "autoconf": autoconf,
        "privext": privext,
    }
    if enable_ipv6 is None:
        enable_ipv6 = bool(ipv6proto or list(format_options(six)))
    families = {"inet": (_method(name, proto, four), four)} if enable_ipv4 else {}
    families |= {"inet6": (_method(name, ipv6proto, six), six)} if enable_ipv6 else {}
    names = {
        "dns-nameservers": " ".join(dns) if dns else None,
        "dns-search": " ".join(search) if search else None,
    }
    starts = [*(["auto"] if enabled else []), *(["allow-hotplug"] if hotplug else [])]
    wanted = stanzas(name, starts, families, names, more)
    missing = [
        package for package in [NEEDED.get(type_)] if package and not pkg.is_installed(package)
    ]
    return (yield from _configure(name, wanted, missing, enabled, noifupdown or type_ == "slave"))


def _method(name: str, proto: str | None, options: Mapping[str, Any]) -> str:
    has_address = any(options["address"])
    if proto == "static" and not has_address:
        raise StateFailed(f"Interface {name} is static and has no address")
    return proto if proto not in (None, "none") else "static" if has_address else "manual"


def _configure(
    name: str, wanted: list[str], missing: list[str], enabled: bool, quiet: bool
) -> Planned:
    """Write the lines of an interface, and bring it up or down."""
    old = ip.get_interface(name)
    was_up = ip.is_up(name)
    changes: dict[str, Any] = {"packages": missing} if missing else {}
    difference = unified(
        *("".join(f"{line}\n" for line in lines).encode() for lines in (old, wanted))
    )
    if old != wanted:
        changes["interface"] = difference if old else "Added network interface."
    status = _status(name, enabled, was_up, old != wanted)
    if status and not quiet:
        changes["status"] = status
    if not changes:
        return f"Interface {name} is up to date."
    description = f"is set to be updated:\n{difference}" if old else "is set to be added."
    description = (
        description
        if old != wanted
        else "is up to date."
        if not status
        else f"is set to be {status.split()[-1]}."
    )
    yield Plan(changes, f"Interface {name} {description}", provides=[("network", name)])
    if missing:
        pkg.install(pkgs=missing)
    if status and was_up and not quiet:
        ip.down(name)
    if old != wanted:
        ip.put_interface(name, wanted)
    if status and enabled and not quiet:
        ip.up(name)
    return (
        f"Interface {name} {'is up to date' if old == wanted else 'updated' if old else 'added'}."
    )


def _status(name: str, enabled: bool, was_up: bool, differs: bool) -> str:
    """The comment on bringing it up or down; empty when neither is done."""
    if enabled and not was_up:
        return f"Interface {name} is up"
    if enabled and differs:
        return f"Interface {name} restart to validate"
    return f"Interface {name} down" if was_up and not enabled else ""


def _sourced(name: str, pattern: str) -> Planned:
    if ip.has_source(pattern):
        return f"Interface {name} is up to date."
    yield Plan(
        {"interface": "Added network interface."},
        f"Interface {name} is set to be added.",
        provides=[("network", name)],
    )
    ip.put_source(pattern)
    return f"Interface {name} added."
