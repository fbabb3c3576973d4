# SPDX-License-Identifier: Apache-2.0
"""salt.utils.network: addresses and names."""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import Any

from runner.api import here
from runner.language.filters.network import (
    filter_by_networks,
    gen_mac,
    ip_host,
    ipaddr,
    ipv4,
    ipv6,
    ipwrap,
    is_ip,
    is_ipv4,
    is_ipv6,
    mac_str_to_bytes,
    network_hosts,
    network_size,
)

is_ip_filter, is_ipv6_filter = is_ip, is_ipv6


def is_ipv4_filter(value: Any, options: str | None = None) -> bool:
    """Return whether a text is an IPv4 address."""
    return is_ipv4(value, options)


def is_loopback(value: str) -> bool:
    """Return whether an address is of this machine alone."""
    return ipaddress.ip_address(value).is_loopback


def is_subnet(cidr: str) -> bool:
    """Return whether a text is a network."""
    try:
        return "/" in cidr and bool(ipaddress.ip_network(cidr))
    except ValueError:
        return False


is_ipv4_subnet = is_ipv6_subnet = is_subnet


def in_subnet(cidr: str, addr: Any = None) -> bool:
    """Return whether one of some addresses (this machine's without any) lies in a network."""
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        return False
    addresses = (
        [addr]
        if isinstance(addr, str)
        else addr
        if addr is not None
        else [*ip_addrs(), "127.0.0.1"]
    )
    return any(ipaddress.ip_address(address) in network for address in addresses)


def cidr_to_ipv4_netmask(cidr_bits: Any) -> str:
    """The mask of a number of bits."""
    try:
        bits = int(cidr_bits)
        return str(ipaddress.ip_network(f"0.0.0.0/{bits}").netmask) if 1 <= bits <= 32 else ""
    except ValueError:
        return ""


def interfaces() -> dict[str, Any]:
    """The network interfaces of this machine."""
    return dict(here.call("network.interfaces"))


def ip_addrs(
    interface: str | None = None, include_loopback: bool = False, **options: Any
) -> list[str]:
    """The IPv4 addresses of this machine."""
    return list(
        here.call("network.ip_addrs", interface=interface, include_loopback=include_loopback)
    )


def ip_addrs6(
    interface: str | None = None, include_loopback: bool = False, **options: Any
) -> list[str]:
    """The IPv6 addresses of this machine."""
    return list(
        here.call("network.ip_addrs6", interface=interface, include_loopback=include_loopback)
    )


def get_fqhostname() -> str:
    """The whole name of this machine."""
    return socket.getfqdn()


def host_to_ips(host: str) -> list[str] | None:
    """The addresses of a name."""
    try:
        addresses = [
            str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        ]
    except OSError:
        return None
    return list(dict.fromkeys(addresses)) or None


def sanitize_host(hostname: str, underscore_ok: bool = False) -> str:
    """A name without what no name may have."""
    return re.sub(r"[^0-9A-Za-z.\-_]" if underscore_ok else r"[^0-9A-Za-z.\-]", "", hostname)


def calc_net(ip_addr: str, netmask: str | None = None) -> str:
    """The network of an address and its mask."""
    text = str(ip_addr) if netmask is None else f"{ip_addr}/{netmask}"
    return str(ipaddress.ip_network(text, strict=False))


def get_net_start(ip_addr: str, netmask: str) -> str:
    """The first address of a network."""
    return str(ipaddress.ip_network(f"{ip_addr}/{netmask}", strict=False).network_address)


def get_net_size(mask: str) -> int:
    """The number of bits of a mask."""
    return ipaddress.ip_network(f"0.0.0.0/{mask}").prefixlen


def natural_ipv4_netmask(ip: str, fmt: str = "prefixlen") -> str:
    """The mask that the class of an address once meant."""
    first = int(ip.split(".")[0])
    bits = 8 if first < 128 else 16 if first < 192 else 24
    return cidr_to_ipv4_netmask(bits) if fmt == "netmask" else f"/{bits}"


def rpad_ipv4_network(ip: str) -> str:
    """An address of which only the beginning is written."""
    return ".".join([*ip.split("."), "0", "0", "0"][:4])


def hex2ip(hex_ip: str, invert: bool = False) -> str:
    """The address of hexadecimal digits, as /proc/net has it. invert: of each group of four
    bytes the last comes first.
    """
    data = bytes.fromhex(hex_ip)
    if invert:
        data = b"".join(data[at : at + 4][::-1] for at in range(0, len(data), 4))
    return str(ipaddress.ip_address(data))


def mac2eui64(mac: str, prefix: str | None = None) -> str:
    """The second half of an IPv6 address that a hardware address makes; with a prefix the whole."""
    digits = re.sub(r"[.:-]", "", mac).lower()
    eui = f"{int(digits[:2], 16) ^ 2:02x}{digits[2:6]}fffe{digits[6:]}"
    if prefix is None:
        return ":".join(re.findall(r".{4}", eui))
    network = ipaddress.ip_network(prefix, strict=False)
    address = ipaddress.ip_address(int(network.network_address) | int(eui, 16))
    return f"{address}/{network.prefixlen}"


def parse_host_port(host_port: str) -> tuple[str, int | None]:
    """The host and the port of `host:port`, `[address]:port` or a host alone. Raises ValueError for
    a port that is no number.
    """
    bracketed = re.fullmatch(r"\[(.+)\](?::(\d+))?", host_port)
    if bracketed:
        return bracketed[1], int(bracketed[2]) if bracketed[2] else None
    if host_port.count(":") != 1:
        return host_port, None
    host, _, port = host_port.partition(":")
    return host, int(port)


def ip_bracket(addr: Any, strip: bool = False) -> str:
    """An IPv6 address in brackets, any other one as it is. strip: without them."""
    text = str(addr).strip("[]")
    return f"[{text}]" if ":" in text and not strip else text


def ip_to_host(ip: str) -> str | None:
    """The name of an address."""
    try:
        return socket.gethostbyaddr(ip)[0]
    except OSError:
        return None


def subnets(interfaces: Any = None) -> list[str]:
    """The IPv4 networks of this machine."""
    return list(here.call("network.subnets"))


def subnets6() -> list[str]:
    """The IPv6 networks of this machine."""
    return list(here.call("network.subnets6"))


def hw_addr(iface: str) -> Any:
    """The hardware address of an interface."""
    return here.call("network.hw_addr", iface)


def interface(iface: str) -> Any:
    """The addresses of an interface."""
    return here.call("network.interface", iface)


def interface_ip(iface: str) -> Any:
    """The first address of an interface."""
    return here.call("network.interface_ip", iface)
