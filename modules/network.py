"""The network of this machine, for templates."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import Any

from modules import cmd
from runner.api import here, look_once

Address = ipaddress.IPv4Interface | ipaddress.IPv6Interface


@look_once("network")
def _interfaces() -> dict[str, dict[str, Any]]:
    """Each interface with its addresses, as `ip` tells them."""
    import json

    done = cmd.probe(["ip", "-json", "address", "show"])
    found: dict[str, dict[str, Any]] = {}
    for link in json.loads(done.stdout or "[]") if done.retcode == 0 else ():
        entry: dict[str, Any] = {
            "up": "UP" in link.get("flags", ()),
            "hwaddr": link.get("address", ""),
            "addresses": [],
        }
        for each in link.get("addr_info", ()):
            address = ipaddress.ip_interface(f"{each['local']}/{each['prefixlen']}")
            entry["addresses"].append((address, each.get("broadcast"), each.get("label")))
        found[link["ifname"]] = entry
    return found


def interfaces() -> dict[str, dict[str, Any]]:
    """Each interface with its addresses, in Salt's shape.

    {{ salt['network.interfaces']().eth0.inet[0].address }}
    """
    found = {}
    for name, entry in _interfaces().items():
        shaped: dict[str, Any] = {"up": entry["up"]}
        if entry["hwaddr"]:
            shaped["hwaddr"] = entry["hwaddr"]
        for address, broadcast, label in entry["addresses"]:
            if address.version == 4:
                item = {
                    "address": str(address.ip),
                    "netmask": str(address.netmask),
                    "broadcast": broadcast,
                    "label": label or name,
                }
                shaped.setdefault("inet", []).append(item)
            else:
                scope = "link" if address.ip.is_link_local else "host" if address.ip.is_loopback else "global"
                item = {"address": str(address.ip), "prefixlen": str(address.network.prefixlen), "scope": scope}
                shaped.setdefault("inet6", []).append(item)
        found[name] = shaped
    return found


def interface(iface: str) -> list[dict[str, Any]] | None:
    """The IPv4 addresses of an interface; nothing when there is none of that name."""
    found = interfaces().get(iface)
    return found.get("inet") if found else None


def interface_ip(iface: str) -> str:
    """The first IPv4 address of an interface; empty when it has none.

    {{ salt['network.interface_ip']('eth0') }}
    """
    return next((str(address.ip) for address, _, _ in _of(iface) if address.version == 4), "")


def hw_addr(iface: str) -> str:
    """The MAC address of an interface."""
    return str(_interfaces().get(iface, {}).get("hwaddr", ""))


def _of(iface: str | None) -> list[tuple[Address, Any, Any]]:
    links = _interfaces()
    chosen = links.values() if iface is None else [links[iface]] if iface in links else []
    return [each for link in chosen for each in link["addresses"]]


def _addresses(
    version: int, iface: str | None, loopback: bool, cidr: str | list[str] | None, kind: str | None
) -> list[str]:
    networks = [ipaddress.ip_network(each, strict=False) for each in ([cidr] if isinstance(cidr, str) else cidr or ())]
    found = []
    for address, _, _ in _of(iface):
        ip = address.ip
        if ip.version != version or (ip.is_loopback and not loopback and not networks):
            continue
        if networks and not any(ip in network for network in networks if network.version == version):
            continue
        if kind and ip.is_private is not (kind == "private"):
            continue
        found.append(ip)
    return [str(ip) for ip in sorted(set(found))]


def ip_addrs(
    interface: str | None = None,
    include_loopback: bool = False,
    cidr: str | list[str] | None = None,
    type: str | None = None,
) -> list[str]:
    """The IPv4 addresses of this machine.

    interface: of one interface. include_loopback: 127.0.0.1, too. cidr: only those in these networks. type: private or
    public ones.

        {{ salt['network.ip_addrs'](cidr='10.0.0.0/8')[0] }}
    """
    return _addresses(4, interface, include_loopback, cidr, type)


def ip_addrs6(
    interface: str | None = None, include_loopback: bool = False, cidr: str | list[str] | None = None
) -> list[str]:
    """The IPv6 addresses of this machine; arguments as those of ip_addrs."""
    return _addresses(6, interface, include_loopback, cidr, None)


def subnets(interfaces: str | list[str] | None = None) -> list[str]:
    """The IPv4 networks that this machine is in."""
    names = [interfaces] if isinstance(interfaces, str) else interfaces
    found = [each for name in names for each in _of(name)] if names else _of(None)
    nets = {address.network for address, _, _ in found if address.version == 4 and not address.ip.is_loopback}
    return [str(net) for net in sorted(nets)]


def subnets6() -> list[str]:
    """The IPv6 networks that this machine is in."""
    nets = {
        each.network
        for each, _, _ in _of(None)
        if each.version == 6 and not (each.ip.is_loopback or each.ip.is_link_local)
    }
    return [str(net) for net in sorted(nets)]


def in_subnet(cidr: str) -> bool:
    """Whether this machine is in a network."""
    network = ipaddress.ip_network(cidr, strict=False)
    return any(address.ip in network for address, _, _ in _of(None) if address.version == network.version)


def ip_in_subnet(ip_addr: str, cidr: str) -> bool:
    """Whether an address is in a network.

    {{ salt['network.ip_in_subnet']('10.1.2.3', '10.0.0.0/8') }}
    """
    return ipaddress.ip_address(ip_addr) in ipaddress.ip_network(cidr, strict=False)


def calc_net(ip_addr: str, netmask: str | None = None) -> str:
    """The network of an address."""
    return str(ipaddress.ip_interface(f"{ip_addr}/{netmask}" if netmask else ip_addr).network)


def convert_cidr(cidr: str) -> dict[str, str | None]:
    """Network, mask and broadcast address of a network."""
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return {"network": None, "netmask": None, "broadcast": None}
    mask, broadcast = str(network.netmask), str(network.broadcast_address)
    return {"network": str(network.network_address), "netmask": mask, "broadcast": broadcast}


def netmask_to_prefix(netmask: str) -> int:
    """How many bits a mask has."""
    return ipaddress.ip_network(f"0.0.0.0/{netmask}").prefixlen


def is_private(ip_addr: str) -> bool:
    """Whether an address is of a private network."""
    return ipaddress.ip_address(ip_addr).is_private


def is_loopback(ip_addr: str) -> bool:
    """Whether an address is this machine's own."""
    return ipaddress.ip_address(ip_addr).is_loopback


def default_route(family: str | None = None) -> list[dict[str, Any]]:
    """The default routes.

    family: inet or inet6.

        {{ salt['network.default_route']('inet')[0].gateway }}
    """
    return [route for route in routes(family) if route["destination"] in ("0.0.0.0", "::/0")]


def routes(family: str | None = None) -> list[dict[str, Any]]:
    """The routes of this machine, in Salt's shape."""
    found = [] if family == "inet6" else _routes4()
    return found + ([] if family == "inet" else _routes6())


def _routes4() -> list[dict[str, Any]]:
    try:
        with open("/proc/net/route", encoding="ascii") as file:
            rows = [line.split() for line in file.read().splitlines()[1:]]
    except OSError:
        return []

    def dotted(value: str) -> str:
        return socket.inet_ntoa(struct.pack("<L", int(value, 16)))

    return [
        {
            "addr_family": "inet",
            "destination": dotted(row[1]),
            "gateway": dotted(row[2]),
            "netmask": dotted(row[7]),
            "flags": "UG" if int(row[3], 16) & 2 else "U",
            "interface": row[0],
        }
        for row in rows
    ]


def _routes6() -> list[dict[str, Any]]:
    try:
        with open("/proc/net/ipv6_route", encoding="ascii") as file:
            rows = [line.split() for line in file.read().splitlines()]
    except OSError:
        return []
    found = []
    for row in rows:
        destination = ipaddress.ip_address(bytes.fromhex(row[0]))
        found.append(
            {
                "addr_family": "inet6",
                "destination": f"{destination}/{int(row[1], 16)}",
                "gateway": str(ipaddress.ip_address(bytes.fromhex(row[4]))),
                "netmask": "",
                "flags": "U",
                "interface": row[9],
            }
        )
    return found


def get_hostname() -> str:
    """The name of this machine."""
    return socket.gethostname()


def get_fqdn() -> str:
    """The full name of this machine, as the grain has it."""
    return str(here.grains.get("fqdn", ""))


def connect(host: str, port: int, timeout: float = 5, **_: Any) -> dict[str, Any]:
    """Whether a host takes connections at a port. timeout: seconds."""
    try:
        with socket.create_connection((host, int(port)), timeout=timeout):
            return {"result": True, "comment": f"Successfully connected to {host} (tcp) on port {port}"}
    except OSError as problem:
        return {"result": False, "comment": f"Unable to connect to {host} (tcp) on port {port}: {problem}"}


def ping(host: str, timeout: float | None = None, return_boolean: bool = False, **_: Any) -> Any:
    """What ping says of a host; with return_boolean whether it answered."""
    argv = ["ping", "-c", "4", *(["-W", str(int(timeout))] if timeout else []), "--", host]
    done = cmd.probe(argv, timeout=60)
    return done.retcode == 0 if return_boolean else done.stdout


def dig(host: str) -> str:
    """What dig says of a name."""
    return cmd.probe(["dig", "+time=3", "+tries=1", "--", host], timeout=15).stdout


__func_alias__ = {"hw_addr": "hwaddr"}
