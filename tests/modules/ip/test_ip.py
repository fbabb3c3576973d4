# SPDX-License-Identifier: Apache-2.0
"""What the tools that configure the network are given to read, and what they are not.

recorded_ifcfg.json: ifcfg files as a real Salt 3008.3 writes them. The texts of the other tools are
read by these in tests/machine/test_network_tools.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere

from modules import ip, network
from modules.ip.configuration import NetworkTool, Route
from runner.api import StateFailed, running
from states.network._interface import Wanted, build

TOOLS = ("netplan", "networkmanager", "networkd", "ifcfg", "ifcfg_suse")
SALT = json.loads((Path(__file__).parent / "recorded_ifcfg.json").read_text())
STATIC = {"ipaddr": "10.1.0.7", "netmask": "255.255.255.0"}
LIST = ("dns", "search", "ipaddrs", "ipv6ipaddrs")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    links = {"eth0": {"hwaddr": "02:00:00:00:00:09"}}
    monkeypatch.setattr(network, "interfaces", lambda: links)
    with running(HarnessHere()):
        yield


def tool(name: str) -> NetworkTool:
    provider = ip.PROVIDERS.certain(name)
    assert provider is not None
    return provider


def texts(provider: str, name: str, kind: str = "eth", **arguments: Any) -> dict[str, str]:
    """The files of an interface, from the arguments of a state."""
    fields = {key: arguments.pop(key) for key in Wanted._fields if key in arguments}
    return dict(tool(provider).texts(build(name, kind, Wanted(**fields), arguments)))


@pytest.mark.parametrize("case", SALT, ids=lambda case: f"{case['name']}-{case['type']}")
def test_an_ifcfg_file_is_the_one_that_salt_writes(case: dict[str, Any]) -> None:
    arguments = case["arguments"]
    if isinstance(arguments.get("domain"), list):
        arguments = arguments | {"search": arguments["domain"]}
    path = f"/etc/sysconfig/network-scripts/ifcfg-{case['name']}"
    made = texts("ifcfg", case["name"], case["type"], **arguments)
    assert made == {path: "".join(f"{line}\n" for line in case["lines"])}


def test_one_interface_in_the_words_of_each_tool() -> None:
    arguments = {
        **STATIC,
        "gateway": "10.1.0.1",
        "ipv6ipaddr": "2001:db8::7/64",
        "dns": ["10.1.0.2"],
        "search": ["example.org"],
        "macaddr": "02:00:00:00:00:01",
        "enabled": False,
        "metric": 5,
    }
    assert texts("networkd", "eth0", **arguments) == {
        "/etc/systemd/network/10-eth0.network": "[Match]\nName=eth0\n\n"
        "[Link]\nMACAddress=02:00:00:00:00:01\nActivationPolicy=manual\n\n"
        "[Network]\nDNS=10.1.0.2\nDomains=example.org\n\n"
        "[Address]\nAddress=10.1.0.7/24\n\n[Route]\nGateway=10.1.0.1\nMetric=5\n\n"
        "[Address]\nAddress=2001:db8::7/64\n"
    }
    (keyfile,) = texts("networkmanager", "eth0", **arguments).values()
    sections = keyfile.split("\n\n")
    assert sections[0].endswith("\ntype=ethernet\ninterface-name=eth0\nautoconnect=false")
    assert sections[1:] == [
        "[ethernet]\ncloned-mac-address=02:00:00:00:00:01",
        "[ipv4]\nmethod=manual\naddress1=10.1.0.7/24\ngateway=10.1.0.1\nroute-metric=5\n"
        "dns=10.1.0.2;\ndns-search=example.org;",
        "[ipv6]\nmethod=manual\naddress1=2001:db8::7/64\nroute-metric=5\n",
    ]
    del arguments["dns"], arguments["search"], arguments["metric"]
    assert texts("ifcfg_suse", "eth0", **arguments) == {
        "/etc/sysconfig/network/ifcfg-eth0": "STARTMODE='manual'\nBOOTPROTO='static'\n"
        "IPADDR='10.1.0.7/24'\nIPADDR_1='2001:db8::7/64'\nLLADDR='02:00:00:00:00:01'\n",
        "/etc/sysconfig/network/routes": "default 10.1.0.1 - eth0\n",
    }


def test_bonds_bridges_and_vlans() -> None:
    bond = {"slaves": "eth0 eth1", "mode": 1, "miimon": 100, "primary": "eth1", "lacp_rate": 1}
    made = texts("networkd", "bond0", "bond", proto="dhcp", **bond)
    assert made["/etc/systemd/network/10-bond0.netdev"] == (
        "[NetDev]\nName=bond0\nKind=bond\n\n"
        "[Bond]\nMode=active-backup\nMIIMonitorSec=100ms\nLACPTransmitRate=fast\n"
    )
    assert made["/etc/systemd/network/10-eth1.network.d/bond0.conf"] == (
        "[Network]\nBond=bond0\nPrimarySlave=yes\n"
    )
    assert "/etc/systemd/network/20-bond0-eth0.network" in made
    made = texts("networkmanager", "br0", "bridge", proto="dhcp", ports=["eth0"], stp=False, fd=4)
    assert "[bridge]\nstp=false\nforward-delay=4\n" in made.popitem()[1]
    assert "master=br0\nslave-type=bridge\n" in made.popitem()[1]
    (document,) = texts("netplan", "vlan12", "vlan", parent="eth0", **STATIC).values()
    assert "  vlans:\n    vlan12:\n" in document and "id: 12\n      link: eth0" in document
    made = texts("ifcfg_suse", "bond0", "bond", **bond, **STATIC)
    assert "BONDING_SLAVE_1='eth1'\n" in made.popitem()[1]


ROUTES = [Route("far", "10.2.0.0/16", "10.1.0.3", "5"), Route("route", "default", "2001:db8::1")]


def test_routes() -> None:
    assert tool("ifcfg").route_texts("eth0", ROUTES) == {
        "/etc/sysconfig/network-scripts/route-eth0": "# far\n10.2.0.0/16 via 10.1.0.3 metric 5\n",
        "/etc/sysconfig/network-scripts/route6-eth0": "default via 2001:db8::1\n",
    }
    assert tool("ifcfg_suse").route_texts("eth0", ROUTES) == {
        "/etc/sysconfig/network/ifroute-eth0": "10.2.0.0/16 10.1.0.3 - eth0 metric 5\n"
        "default 2001:db8::1 - eth0\n"
    }
    for name in ("networkd", "networkmanager", "netplan"):
        with pytest.raises(StateFailed, match=r"configure it with\s+network.managed"):
            tool(name).route_texts("eth0", ROUTES)


@pytest.mark.parametrize("provider", TOOLS)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"proto": "ppp"}, "cannot express proto: 'ppp' is ifupdown's; write dhcp, static or none"),
        ({"kind": "ipsec"}, "cannot express type: 'ipsec' is not one of eth"),
        ({"pathcost": "eth0 4"}, "cannot express pathcost: leave it out"),
        ({"name": "eth/7"}, "'eth/7' is not the name of an interface"),
        ({"kind": "slave", "master": "-x"}, "'-x' is not the name of an interface"),
        ({"search": ["a.b;c"]}, "search: 'a.b;c' is none"),
        ({"dns": ["1.1.1.1], x: [y"]}, "dns: '1.1.1.1], x: [y' is none"),
        ({"hwaddr": "$(id)"}, "hwaddr: '$(id)' is none"),
        ({"kind": "vlan", "name": "office"}, "VLAN office has no number"),
        ({"ipaddr": "10.1.0.7"}, "The address 10.1.0.7 has no netmask"),
        (
            {"kind": "bond", "mode": "fast", "miimon": 1},
            "Option: mode, Expected: [0|1|2|3|4|5|6|ba",
        ),
    ],
)
def test_what_cannot_be_written_is_refused(
    provider: str, arguments: dict[str, Any], problem: str
) -> None:
    if provider == "ifcfg" and "ipaddr" in arguments:
        return  # ifup knows the classes of networks
    with pytest.raises(StateFailed) as failure:
        texts(provider, **{"name": "eth0", **arguments})
    assert problem in failure.value.message


@pytest.mark.parametrize(
    ("provider", "arguments", "problem"),
    [
        ("ifcfg", {"zone": "$(id)"}, "ZONE: '$' cannot be written"),
        ("ifcfg", {"kind": "bond"}, "at least one of these is required"),
        ("networkmanager", {"zone": "a;b"}, "zone: ';' cannot be written"),
        ("ifcfg_suse", {"dns": ["10.1.0.2"]}, "write NETCONFIG_DNS_STATIC_SERVERS"),
        ("netplan", {"kind": "bond", "lacp_rate": 7}, "expected one of slow, fast, not '7'"),
        ("networkd", {"kind": "bond", "miimon": "1\nx"}, "miimon: expected a number"),
        ("networkd", {"speed": 100}, "cannot express speed: leave it out, or write a file"),
        ("networkd", {"pointopoint": "10.1.0.9", **STATIC}, "cannot express pointopoint"),
    ],
)
def test_what_one_tool_lacks(provider: str, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(StateFailed) as failure:
        texts(provider, **{"name": "eth0", **arguments})
    assert problem in failure.value.message
