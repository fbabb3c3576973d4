# SPDX-License-Identifier: Apache-2.0
"""Names and addresses of this machine. No name server is ever asked."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from runner.language.grains.files import text_of

Grains = Mapping[str, Any]
Facts = dict[str, Any]


# ---------------------------------------------------------------- names


def names(grains: Grains) -> Facts:
    """Host name and domain, completed by /etc/hosts."""
    name = os.uname().nodename
    fqdn = full_name(name, text_of("/etc/hosts"), text_of("/etc/resolv.conf"))
    host, _, domain = fqdn.partition(".")
    return {"localhost": name, "fqdn": fqdn, "host": host, "domain": domain}


def full_name(name: str, hosts: str, resolv: str = "") -> str:
    """The name with its domain: as it is, from its line of /etc/hosts, or from `domain` in
    resolv.conf.
    """
    if "." in name:
        return name
    for _, words in _hosts(hosts):
        if name in words:
            longer = next((word for word in words if word.startswith(f"{name}.")), None)
            if longer:
                return longer
    domain = resolver_settings(resolv)["domain"]
    return f"{name}.{domain}" if domain else name


def _hosts(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) > 1:
            yield words[0], words[1:]


def addresses_of_name(grains: Grains) -> Facts:
    """The addresses of the full name in /etc/hosts; where it is not there, those of the interface
    to the outside.
    """
    fqdn = grains["fqdn"]
    listed = [address for address, words in _hosts(text_of("/etc/hosts")) if fqdn in words]
    four = [address for address in listed if ":" not in address]
    six = [address for address in listed if ":" in address]
    if not listed:
        outside = _outside_interface()
        four = grains["ip4_interfaces"].get(outside, [])
        six = [
            other
            for other in grains["ip6_interfaces"].get(outside, [])
            if not other.startswith("fe80")
        ]
    return {"fqdn_ip4": list(dict.fromkeys(four)), "fqdn_ip6": list(dict.fromkeys(six))}


def names_of_addresses(grains: Grains) -> Facts:
    """Needs a name server, so always empty, as in Salt where `enable_fqdns_grains` is off."""
    return {"fqdns": []}


# ---------------------------------------------------------------- addresses

GET_LINKS, GET_ADDRESSES = 18, 22  # RTM_GETLINK, RTM_GETADDR of <linux/rtnetlink.h>
ADDRESS, LOCAL, NAME, HARDWARE = 1, 2, 3, 1  # IFA_ADDRESS, IFA_LOCAL, IFLA_IFNAME, IFLA_ADDRESS


def interfaces(grains: Grains) -> Facts:
    """All interfaces with their addresses."""
    four: dict[str, list[str]] = {}
    six: dict[str, list[str]] = {}
    hardware: dict[str, str] = {}
    named: dict[int, str] = {}
    for index, name, address in _links():
        named[index] = name
        four[name], six[name] = [], []
        if address:
            hardware[name] = address
    for index, address in _addresses():
        if index in named:
            (six if ":" in address else four)[named[index]].append(address)
    return {
        "ip_interfaces": {name: four[name] + six[name] for name in four},
        "ip4_interfaces": four,
        "ip6_interfaces": six,
        "hwaddr_interfaces": hardware,
        "ipv4": _sorted(four, socket.AF_INET),
        "ipv6": _sorted(six, socket.AF_INET6),
    }


def _sorted(by_interface: Mapping[str, list[str]], family: int) -> list[str]:
    unique = {address for addresses in by_interface.values() for address in addresses}
    return sorted(unique, key=lambda address: socket.inet_pton(family, address))


def _links() -> Iterator[tuple[int, str, str]]:
    """(index, name, hardware address) of each interface."""
    for body in _ask_kernel(GET_LINKS):
        (index,) = struct.unpack_from("=4xi", body)
        attributes = _attributes(body, 16)
        name = attributes.get(NAME, b"").rstrip(b"\0").decode(errors="replace")
        yield index, name, ":".join(f"{byte:02x}" for byte in attributes.get(HARDWARE, b""))


def _addresses() -> Iterator[tuple[int, str]]:
    """(index of the interface, address)."""
    for body in _ask_kernel(GET_ADDRESSES):
        family, index = struct.unpack_from("=BxxxI", body)
        attributes = _attributes(body, 8)
        packed = attributes.get(LOCAL) or attributes.get(ADDRESS)
        if packed and family in (socket.AF_INET, socket.AF_INET6):
            yield index, socket.inet_ntop(family, packed)


def _attributes(body: bytes, start: int) -> dict[int, bytes]:
    attributes = {}
    while start + 4 <= len(body):
        length, kind = struct.unpack_from("=HH", body, start)
        if length < 4:
            break
        attributes[kind] = body[start + 4 : start + length]
        start += (length + 3) & ~3
    return attributes


def _ask_kernel(question: int) -> list[bytes]:
    """The bodies of a routing netlink dump; `ip` does the same, but is not on every machine."""
    bodies: list[bytes] = []
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
            kernel.settimeout(2)
            kernel.sendto(struct.pack("=IHHIIB3x", 20, question, 0x301, 1, 0, 0), (0, 0))
            while True:
                data = kernel.recv(262144)
                while len(data) >= 16:
                    length, kind = struct.unpack_from("=IH", data)
                    if kind in (2, 3) or length < 16:  # error, done
                        return bodies
                    bodies.append(data[16:length])
                    data = data[(length + 3) & ~3 :]
    except (OSError, AttributeError):
        return bodies


# ---------------------------------------------------------------- routes, resolver


def gateways(grains: Grains) -> Facts:
    """The default gateways; False where there is none."""
    four = default_gateway(text_of("/proc/net/route"))
    six = default_gateway6(text_of("/proc/net/ipv6_route"))
    return {"ip_gw": bool(four or six), "ip4_gw": four or False, "ip6_gw": six or False}


def default_gateway(routes: str) -> str | None:
    """Of /proc/net/route: the default route with the lowest metric."""
    rows = [line.split() for line in routes.splitlines()[1:]]
    defaults = [
        (int(row[6]), row[2]) for row in rows if len(row) > 7 and row[1] == row[7] == "00000000"
    ]
    gates = [gate for _, gate in sorted(defaults) if gate != "00000000"]
    return socket.inet_ntoa(struct.pack("=I", int(gates[0], 16))) if gates else None


def default_gateway6(routes: str) -> str | None:
    """Of /proc/net/ipv6_route."""
    rows = [line.split() for line in routes.splitlines()]
    zero = "0" * 32
    defaults = [
        (row[5], row[4])
        for row in rows
        if len(row) > 9 and row[0] == zero and row[1] == "00" and row[4] != zero
    ]
    return socket.inet_ntop(socket.AF_INET6, bytes.fromhex(min(defaults)[1])) if defaults else None


def _outside_interface() -> str:
    rows = [line.split() for line in text_of("/proc/net/route").splitlines()[1:]]
    return next((row[0] for row in rows if len(row) > 7 and row[1] == row[7] == "00000000"), "")


def resolver(grains: Grains) -> Facts:
    """The contents of /etc/resolv.conf."""
    return {"dns": resolver_settings(text_of("/etc/resolv.conf"))}


def resolver_settings(text: str) -> dict[str, Any]:
    """The settings of a resolv.conf."""
    servers: list[str] = []
    last: dict[str, list[str]] = {"search": [], "sortlist": [], "options": [], "domain": []}
    for line in text.splitlines():
        words = line.split() if line[:1] not in "#;" else []
        if words[:1] == ["nameserver"]:
            servers += words[1:2]
        elif words and words[0] in last:
            last[words[0]] = words[1:]
    return {
        "nameservers": servers,
        "ip4_nameservers": [server for server in servers if ":" not in server],
        "ip6_nameservers": [server for server in servers if ":" in server],
        "sortlist": last["sortlist"],
        "domain": last["domain"][0] if last["domain"] else "",
        "search": last["search"],
        "options": last["options"],
    }
