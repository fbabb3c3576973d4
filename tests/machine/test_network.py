# SPDX-License-Identifier: Apache-2.0
"""The network for real: a name that systemd and sudo know, interfaces that ifup brings up, routes
of the kernel.
"""

from __future__ import annotations

import pytest
from debian import Debian

TREE = """
ifupdown:
  pkg.installed: []
name:
  network.system:
    - hostname: web1.example.org
    - apply_hostname: True
veth7:
  network.managed:
    - proto: static
    - ipaddr: 10.7.0.2
    - netmask: 255.255.255.0
    - ipv6ipaddr: 2001:db8::7/64
    - mtu: {mtu}
    - up_cmds: echo $IFACE >>/run/came-up
    - enabled: {enabled}
its slave:
  network.managed:
    - name: veth9
    - type: slave
    - master: bond9
    - noifupdown: true
far:
  network.routes:
    - name: veth7
    - routes:
      - ipaddr: 10.8.0.0
        netmask: 255.255.0.0
        gateway: 10.7.0.1
"""
LOOK = (
    "cat /etc/hostname /etc/hosts /etc/network/interfaces; ls /etc/network/*; hostname; ip addr; ip"
    " route"
)


@pytest.fixture
def machine(debian: Debian) -> Debian:
    debian.run("ip link add veth7 type veth peer name veth8; ip link set veth8 up")
    return debian


def say(machine: Debian, mtu: int = 1400, enabled: bool = True) -> None:
    machine.tree(net=TREE.format(mtu=mtu, enabled=enabled))


def test_an_interface_with_its_routes_and_a_name(machine: Debian) -> None:
    say(machine)
    before = machine.run(LOOK, code=None).stdout
    dry = machine.results("sls", "net", "--test")
    assert machine.run(LOOK, code=None).stdout == before, "a dry run touches nothing"
    assert {name: each["result"] for name, each in dry.items()} == dict.fromkeys(dry), (
        "the package brings /etc/network"
    )
    real = machine.results("sls", "net")
    assert real["veth7"]["changes"] == {
        "interface": "Added network interface.",
        "status": "Interface veth7 is up",
    }
    assert real["far"]["changes"] == {"network_routes": "Added interface veth7 routes."}
    assert "10.7.0.2/24" in machine.read("ip -4 addr show veth7")
    assert "2001:db8::7/64" in machine.read("ip -6 addr show veth7")
    assert "mtu 1400" in machine.read("ip link show veth7")
    assert "10.8.0.0/16 via 10.7.0.1 dev veth7" in machine.read("ip route")
    assert machine.read("cat /run/came-up") == "veth7"
    assert machine.read("hostname; hostname -f; hostnamectl --static") == "\n".join(
        ["web1.example.org"] * 3
    )
    assert "127.0.1.1" in machine.read("getent hosts web1")
    assert not [each for each in machine.results("sls", "net").values() if each["changes"]]


def test_a_change_takes_it_down_and_up_again(machine: Debian) -> None:
    say(machine)
    machine.results("sls", "net")
    say(machine, mtu=1300)
    changes = machine.results("sls", "net")["veth7"]["changes"]
    assert changes["status"] == "Interface veth7 restart to validate"
    assert "+    mtu 1300" in changes["interface"]
    assert "mtu 1300" in machine.read("ip link show veth7")
    assert "10.8.0.0/16 via 10.7.0.1" in machine.read("ip route")
    say(machine, mtu=1300, enabled=False)
    assert machine.results("sls", "net")["veth7"]["changes"]["status"] == "Interface veth7 down"
    assert "10.7.0.2" not in machine.read("ip addr show veth7")
    assert not [each for each in machine.results("sls", "net").values() if each["changes"]]
