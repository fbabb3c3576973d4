# SPDX-License-Identifier: Apache-2.0
"""network.*: addresses, networks, routes and reaching others."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from harness import HarnessHere
from starting import PATIENCE

from modules import cmd, network
from modules._machine import resolver
from modules.network import _routes
from runner.api import StateFailed, running

LINKS = """[
 {"ifname": "lo", "flags": ["LOOPBACK", "UP"], "address": "00:00:00:00:00:00", "addr_info": [
   {"family": "inet", "local": "127.0.0.1", "prefixlen": 8, "label": "lo"},
   {"family": "inet6", "local": "::1", "prefixlen": 128}]},
 {"ifname": "eth0", "flags": ["UP"], "address": "02:00:00:00:00:01", "addr_info": [
   {"family": "inet", "local": "10.1.2.3", "prefixlen": 24, "broadcast": "10.1.2.255",
    "label": "eth0"},
   {"family": "inet", "local": "8.8.4.4", "prefixlen": 30, "label": "eth0:1"},
   {"family": "inet6", "local": "fd00::2", "prefixlen": 64},
   {"family": "inet6", "local": "fe80::2", "prefixlen": 64}]},
 {"ifname": "idle", "flags": [], "address": "02:00:00:00:00:02", "addr_info": []}]"""
UNKNOWN = 'Interface "no" not in available interfaces: "lo", "eth0", "idle"'


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[HarnessHere]:
    real = cmd.probe

    def probe(argv: list[str], **options: Any) -> Any:
        if argv[:3] == ["ip", "-json", "address"]:
            return cmd.Completed(0, LINKS, "")
        return real(argv, **options)

    monkeypatch.setattr(cmd, "probe", probe)
    current = HarnessHere(grains={"fqdn": "m1.example.com", "fqdns": ["m1.example.com"]})
    with running(current):
        yield current


CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("ip_addrs", (), {}, ["8.8.4.4", "10.1.2.3"]),
    ("ip_addrs", (), {"type": "private"}, ["10.1.2.3"]),
    ("ip_addrs", (), {"type": "public"}, ["8.8.4.4"]),
    ("ip_addrs", (), {"cidr": "10.0.0.0/8"}, ["10.1.2.3"]),
    ("ip_addrs", (), {"cidr": ["10.0.0.0/8", "8.8.4.0/24"]}, ["8.8.4.4", "10.1.2.3"]),
    (
        "ip_addrs",
        (),
        {"cidr": "10.1.2.3/24"},
        [],
    ),  # as Salt: no network, since it has bits after its prefix
    ("ip_addrs", (), {"cidr": "rubbish"}, []),
    ("ip_addrs", (), {"cidr": ""}, ["8.8.4.4", "10.1.2.3"]),
    ("ip_addrs", ("lo",), {}, []),
    ("ip_addrs", ("lo", True), {}, ["127.0.0.1"]),
    ("ip_addrs", ("eth*",), {}, ["8.8.4.4", "10.1.2.3"]),
    ("ip_addrs", (["idle", "lo"],), {"include_loopback": True}, ["127.0.0.1"]),
    ("ip_addrs", ("no",), {}, []),
    ("ipaddrs", (), {"cidr": "10.0.0.0/8"}, ["10.1.2.3"]),
    ("ip_addrs6", (), {}, ["fd00::2", "fe80::2"]),
    ("ip_addrs6", (), {"cidr": "fe80::/10"}, ["fe80::2"]),
    ("ip_addrs6", ("lo", True), {}, ["::1"]),
    ("ip_networks", (), {}, ["8.8.4.4/30", "10.1.2.0/24"]),
    ("ip_networks", (), {"include_loopback": True, "interface": "lo"}, ["127.0.0.0/8"]),
    ("ip_networks6", (), {}, ["fd00::/64", "fe80::/64"]),
    ("subnets", (), {}, ["8.8.4.4/30", "10.1.2.0/24"]),
    ("subnets", (["idle"],), {}, []),
    ("subnets6", (), {}, ["fd00::/64", "fe80::/64"]),
    ("in_subnet", ("10.0.0.0/8",), {}, True),
    ("in_subnet", ("127.0.0.0/8",), {}, False),
    ("in_subnet", ("11.0.0.0/8",), {}, False),
    ("in_subnet", ("rubbish",), {}, False),
    ("interface_ip", ("eth0",), {}, "10.1.2.3"),
    ("interface_ip", ("idle",), {}, ""),
    ("interface_ip", ("no",), {}, UNKNOWN),
    ("interface", ("idle",), {}, ""),
    ("interface", ("no",), {}, UNKNOWN),
    ("hw_addr", ("eth0",), {}, "02:00:00:00:00:01"),
    ("hwaddr", ("eth0",), {}, "02:00:00:00:00:01"),
    ("hw_addr", ("no",), {}, UNKNOWN),
    ("ifacestartswith", ("10.1",), {}, ["eth0"]),
    ("ip_in_subnet", ("10.1.2.3", "10.0.0.0/8"), {}, True),
    ("ip_in_subnet", ("11.1.2.3", "10.0.0.0/8"), {}, False),
    ("ip_in_subnet", ("10.1.2.3", "fe80::/10"), {}, False),
    ("ip_in_subnet", ("10.1.2.3", "rubbish"), {}, False),
    ("ip_in_subnet", ("rubbish", "10.0.0.0/8"), {}, False),
    ("ip_in_subnet", (["rubbish", "10.1.2.3"], "10.0.0.0/8"), {}, True),
    ("ip_in_subnet", (["11.1.2.3", "10.1.2.3"], "10.0.0.0/8"), {}, True),
    ("calc_net", ("172.17.0.5", "255.255.255.240"), {}, "172.17.0.0/28"),
    ("calc_net", ("172.17.0.5", 24), {}, "172.17.0.0/24"),
    ("calc_net", ("2a02:f6e:a000:80::1/60",), {}, "2a02:f6e:a000:80::/60"),
    ("calc_net", ("10.1.2.3",), {}, "10.1.2.3/32"),
    (
        "convert_cidr",
        ("172.31.0.9/16",),
        {},
        {"network": "172.31.0.0", "netmask": "255.255.0.0", "broadcast": "172.31.255.255"},
    ),
    ("is_private", ("10.0.0.3",), {}, True),
    ("is_private", ("8.8.8.8",), {}, False),
    ("is_loopback", ("127.9.9.9",), {}, True),
    ("is_loopback", ("10.0.0.1",), {}, False),
    ("reverse_ip", ("10.0.0.1",), {}, "1.0.0.10.in-addr.arpa"),
    ("iphexval", ("192.0.2.2",), {}, "C0000202"),
    ("get_hostname", (), {}, socket.gethostname()),
    ("get_fqdn", (), {}, "m1.example.com"),
    ("fqdns", (), {}, {"fqdns": ["m1.example.com"]}),
    ("connect", ("",), {}, {"result": False, "comment": "Required argument, host, is missing."}),
    (
        "connect",
        ("127.0.0.1",),
        {},
        {"result": False, "comment": "Required argument, port, is missing."},
    ),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "wanted"), CASES)
def test_answers(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Any) -> None:
    assert getattr(network, name)(*args, **kwargs) == wanted


@pytest.mark.parametrize(
    "name", ["is_private", "is_loopback", "calc_net", "convert_cidr", "reverse_ip", "get_route"]
)
def test_what_is_no_address_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be an IPv4 or IPv6"):
        getattr(network, name)("rubbish")


def test_interfaces_have_salts_shape() -> None:
    found = network.interfaces()
    assert found["eth0"]["inet"] == [
        {
            "address": "10.1.2.3",
            "netmask": "255.255.255.0",
            "broadcast": "10.1.2.255",
            "label": "eth0",
        },
        {"address": "8.8.4.4", "netmask": "255.255.255.252", "broadcast": None, "label": "eth0:1"},
    ]
    assert found["eth0"]["inet6"][1] == {"address": "fe80::2", "prefixlen": "64", "scope": "link"}
    assert found["lo"]["inet6"] == [{"address": "::1", "prefixlen": "128", "scope": "host"}]
    assert found["idle"] == {"up": False, "hwaddr": "02:00:00:00:00:02"}
    assert network.interface("eth0") == found["eth0"]["inet"]
    assert network.ip_networks(verbose=True)["10.1.2.0/24"]["num_addresses"] == 256  # type: ignore[call-overload]


ROUTES4 = """Iface Destination Gateway Flags RefCnt Use Metric Mask
eth0 00000000 010200C0 0003 0 0 0 00000000
eth0 000200C0 00000000 0001 0 0 0 00FFFFFF"""
ROUTES6 = f"""{"0" * 32} 00 {"0" * 32} 00 fd{"0" * 29}1 00000400 2 0 00000003 eth0
{"0" * 32} 00 {"0" * 32} 00 {"0" * 32} ffffffff 1 0 00200200 lo"""


def test_routes_have_salts_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(path: str) -> list[list[str]]:
        return [line.split() for line in (ROUTES6 if "ipv6" in path else ROUTES4).splitlines()]

    monkeypatch.setattr(_routes, "_rows", rows)
    assert network.default_route("inet") == [
        {
            "addr_family": "inet",
            "destination": "0.0.0.0",
            "gateway": "192.0.2.1",
            "netmask": "0.0.0.0",
            "flags": "UG",
            "interface": "eth0",
        }
    ]
    assert [route["destination"] for route in network.routes("inet")] == ["0.0.0.0", "192.0.2.0"]
    sixth = [
        (route["gateway"], route["flags"], route["interface"])
        for route in network.default_route("inet6")
    ]
    assert sixth == [("fd00::1", "UG", "eth0"), ("::", "!n", "lo")]
    assert len(network.routes()) == 4
    with pytest.raises(StateFailed, match="Invalid address family bogus"):
        network.routes("bogus")


def test_the_neighbours_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ["192.0.2.1", "0x1", "0x2", "02:fc:00:00:00:05", "*", "eth0"]
    monkeypatch.setattr(_routes, "_rows", lambda path: [["IP"], row])
    assert network.arp() == network.ip_neighs() == {"02:fc:00:00:00:05": "192.0.2.1"}


def test_connect_says_what_salt_says() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = network.connect("localhost", str(port), family="ipv4")
        assert found["result"] is True
        assert (
            found["comment"]
            == f"Successfully connected to localhost (127.0.0.1) on tcp port {port}"
        )
        assert network.connect("127.0.0.1", port, family="ipv6")["comment"].startswith(
            "Unable to resolve host 127.0.0.1"
        )
    refused = {
        "result": False,
        "comment": f"Unable to connect to 127.0.0.1 (127.0.0.1) on tcp port {port}",
    }
    assert network.connect("127.0.0.1", port) == refused
    for bad in ("http!", 99999):
        assert network.connect("127.0.0.1", bad)["result"] is False
    assert network.connect("127.0.0.1", port, timeout="soon")["result"] is False  # type: ignore[arg-type]


def test_udp_counts_only_an_answer() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        found = network.connect("127.0.0.1", port, proto="udp", timeout=0.05)
    assert found == {
        "result": False,
        "comment": f"Unable to connect to 127.0.0.1 (127.0.0.1) on udp port {port}",
    }


def test_a_resolver_that_is_silent_holds_nobody_up(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "getent"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(resolver, "SECONDS", 0.1)
    began = time.monotonic()
    assert resolver.resolve("example.invalid") == []
    assert time.monotonic() - began < PATIENCE
