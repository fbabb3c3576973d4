# SPDX-License-Identifier: Apache-2.0
"""The network of this machine, for templates."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from contextlib import suppress
from typing import Any

from modules import cmd, file, hosts
from modules._machine.processes import needs
from modules._machine.resolver import resolve
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import plain_name
from modules.network._links import (
    addresses,
    hw_addr,
    ifacestartswith,
    interface,
    interface_ip,
    interfaces,
)
from modules.network._routes import arp, default_route, get_route, ip_neighs, ip_neighs6, routes
from modules.network._sockets import active_tcp, netstat
from runner.api import (
    CommandFailed,
    FormerState,
    StateFailed,
    Unforeseen,
    changer,
    for_states,
    here,
    reason_of,
)
from runner.api.offline import offline_as

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@for_states
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


FAMILIES = {"ipv4": 4, "ipv6": 6}


def get_hostname() -> str:
    """The name of this machine."""
    return planned_machine().kernel_parameters.get(RUNNING_NAME) or socket.gethostname()


def get_fqdn() -> str:
    """The full name of this machine, as the grain has it."""
    return str(here.grains.get("fqdn", ""))


def fqdns() -> dict[str, list[str]]:
    """All full names of this machine, as the grain has them."""
    return {"fqdns": list(here.grains.get("fqdns") or ())}


def connect(
    host: str,
    port: int | str | None = None,
    proto: str = "tcp",
    timeout: float = 5,
    family: str | None = None,
) -> dict[str, Any]:
    """Check whether a host takes connections at a port; {result, comment}.

    proto: tcp or udp (where only an answer counts). timeout: seconds. family: ipv4 or ipv6 only.

        {{ salt['network.connect']('db.example.com', 5432).result }}
    """
    for what, value in (("host", host), ("port", port)):
        if not value:
            return {"result": False, "comment": f"Required argument, {what}, is missing."}
    kind = "udp" if proto == "udp" else "tcp"
    at = f"on {kind} port {port}"
    addresses = resolve(host, FAMILIES.get(family or ""))
    if not addresses:
        return {"result": False, "comment": f"Unable to resolve host {host} {at}"}
    address = addresses[0]
    try:
        _connect(address, int(port or 0), kind, float(timeout))
    except (OSError, ValueError, OverflowError):
        return {"result": False, "comment": f"Unable to connect to {host} ({address}) {at}"}
    return {"result": True, "comment": f"Successfully connected to {host} ({address}) {at}"}


def _connect(address: str, port: int, kind: str, timeout: float) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        line.connect((address, port))
        if kind == "udp":
            line.send(b"")
            line.recv(1)


def ping(host: str, timeout: float | None = None, return_boolean: bool = False) -> str | bool:
    """The output of ping for a host; with return_boolean whether it answered. timeout: seconds to
    wait for each answer.
    """
    argv = ["ping", "-c", "4", *(["-W", str(int(timeout))] if timeout else []), "--", host]
    done = cmd.probe(argv, timeout=60)
    return done.retcode == 0 if return_boolean else done.stdout


def traceroute(host: str) -> list[dict[str, Any]]:
    """The way to a host: count, hostname, ip, and ms1 to ms3 of each step; what does not answer is
    `*`.

    runner call network.traceroute example.com
    """
    needs("traceroute", "traceroute")
    done = cmd.probe(["traceroute", "--", plain_name(host, "the host")], timeout=120)
    steps = (line.split() for line in done.or_fail("traceroute").stdout.splitlines()[1:])
    return [_step(words) for words in steps if words and words[0].isdigit()]


def _step(words: list[str]) -> dict[str, Any]:
    """A line of traceroute: number, name (address), and three times; a host that answers later has
    its name later.
    """
    names = [
        word for word in words[1:] if word[0] not in "(!*" and word != "ms" and not _is_time(word)
    ]
    addresses = [word.strip("()") for word in words if word.startswith("(")]
    times = [float(word) if _is_time(word) else None for word in words[1:] if _counts(word)]
    step: dict[str, Any] = {
        "count": int(words[0]),
        "hostname": names[0] if names else "*",
        "ip": addresses[0] if addresses else "*",
    }
    return step | {f"ms{number}": time for number, time in enumerate(times[:3], 1)}


def _is_time(word: str) -> bool:
    return re.fullmatch(r"\d+\.\d+", word) is not None


def _counts(word: str) -> bool:
    return word == "*" or _is_time(word)


@changer(touches=())
def wol(mac: str, bcast: str = "255.255.255.255", destport: int = 9) -> bool:
    """Wake a machine up by a packet to all (Wake on LAN). Raises CommandFailed for what is no
    hardware address, and when the packet cannot be sent.

    mac: its hardware address. bcast: the broadcast address of its network. destport: the port.

        runner call network.wol 02:fc:00:00:00:05
    """
    digits = re.sub(r"[:.-]", "", str(mac))
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise CommandFailed(f"{mac!r} is not a hardware address: expected 6 pairs of digits")
    packet = b"\xff" * 6 + bytes.fromhex(digits) * 16
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            line.sendto(packet, (bcast, int(destport)))
    except (OSError, ValueError, OverflowError) as problem:
        raise CommandFailed(f"{bcast} port {destport}: {reason_of(problem)}") from None
    return True


def dig(host: str) -> str:
    """The output of dig for a name."""
    return cmd.probe(["dig", "+time=3", "+tries=1", "--", host], timeout=15).stdout


def ip_in_subnet(ip_addr: str | list[str], cidr: str) -> bool:
    """Return whether an address (one of several) is in a network; what is no address is in none.

    {{ salt['network.ip_in_subnet']('10.1.2.3', '10.0.0.0/8') }}
    """
    network = network_of(cidr)
    for address in [ip_addr] if isinstance(ip_addr, str) else ip_addr:
        with suppress(ValueError):
            if network is not None and ipaddress.ip_address(address) in network:
                return True
    return False


def calc_net(ip_addr: str, netmask: str | int | None = None) -> str:
    """The network of an address. netmask: as `255.255.255.0` or as a number of bits."""
    text = ip_addr if netmask is None else f"{ip_addr}/{netmask}"
    return str(ipaddress.ip_network(text, strict=False))


def convert_cidr(cidr: str) -> dict[str, str]:
    """Network, mask and broadcast address of a network.

    {{ salt['network.convert_cidr']('172.31.0.0/16').netmask }}
    """
    network = ipaddress.ip_network(cidr, strict=False)
    return {
        "network": str(network.network_address),
        "netmask": str(network.netmask),
        "broadcast": str(network.broadcast_address),
    }


def is_private(ip_addr: str) -> bool:
    """Return whether an address is of a private network."""
    return ipaddress.ip_address(ip_addr).is_private


def is_loopback(ip_addr: str) -> bool:
    """Return whether an address means the machine itself."""
    return ipaddress.ip_address(ip_addr).is_loopback


def reverse_ip(ip_addr: str) -> str:
    """The name that an address is looked up by (`1.0.0.10.in-addr.arpa`)."""
    return ipaddress.ip_address(ip_addr).reverse_pointer


def iphexval(ip: str) -> str:
    """An IPv4 address as eight hexadecimal digits."""
    return f"{int(ipaddress.IPv4Address(ip)):08X}"


NAME = "/etc/hostname"
RUNNING_NAME = "/proc/sys/kernel/hostname"
OWN = "127.0.1.1"  # where Debian keeps the name of a machine without an address of its own


def kept_hostname() -> str:
    """The name that the machine starts with; empty where none is kept.

    {{ salt['network.kept_hostname']() }}
    """
    lines = (
        file.read_bytes(NAME).decode("utf-8", "replace").splitlines() if file.is_file(NAME) else []
    )
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")


def keep_hostname(hostname: str) -> None:
    """Keep a name for the next start, and have /etc/hosts know it instead of the old one."""
    hostname = plain_name(hostname, "the name of the machine")
    old = kept_hostname()
    file.write(NAME, f"{hostname}\n".encode(), mode=None if file.is_file(NAME) else "0644")
    names = tuple(dict.fromkeys((hostname, hostname.partition(".")[0])))
    known = hosts.lines()
    if any(hostname in line.names for line in known):
        return
    stale = {old, old.partition(".")[0]}
    others = tuple(
        host for line in known if line.ip == OWN for host in line.names if host not in stale
    )
    hosts.write(hosts.with_names(known, OWN, (*names, *others)))


@for_states
def former_hostname(*_: object) -> FormerState:
    """The running name of this machine as undo restores it."""
    return FormerState("hostname", "running", {"value": os.uname().nodename})


def _plan_hostname(hostname: str) -> bool:
    if os.geteuid():
        raise Unforeseen(hostname)
    keep_hostname(hostname)
    planned_machine().kernel_parameters[RUNNING_NAME] = hostname
    tell_otherwise(RUNNING_NAME, "hostname", "hostnamectl", "uname")
    return True


def _keep(hostname: str) -> bool:
    keep_hostname(hostname)
    return True


@changer(before=former_hostname, planned=_plan_hostname)
@offline_as(_keep)
def mod_hostname(hostname: str) -> bool:
    """Give the machine a name, now and for the next start. Raises StateFailed when the system
    refuses it.
    """
    keep_hostname(hostname)
    cmd.execute(["hostname", "--", hostname]).or_fail("the name cannot be set")
    return True


hwaddr = hw_addr
ipneighs = ip_neighs
ipneighs6 = ip_neighs6
