# SPDX-License-Identifier: Apache-2.0
"""NetworkManager, systemd-networkd and netplan for real: each brings up the same interface with
its routes and a bridge, changes one of them alone, and refuses what it would not read.
"""

from __future__ import annotations

import pytest
from debian import Debian

LAYER = "networks"
TREE = """
veth7:
  network.managed:
    - ipaddr: 10.7.0.2
    - netmask: 255.255.255.0
    - ipv6ipaddr: 2001:db8::7/64
    - gateway: 10.7.0.1
    - dns: 10.7.0.1
    - search: example.org
    - mtu: {mtu}
far:
  network.routes:
    - name: veth7
    - routes:
      - ipaddr: 10.8.0.0
        netmask: 255.255.0.0
        gateway: 10.7.0.1
br7:
  network.managed:
    - type: bridge
    - ports: veth5
    - stp: {stp}
    - ipaddr: 10.9.0.1/24
"""
INSTALLED = """# made by an installer
network:
  version: 2
  ethernets:
    veth7:
      dhcp4: true
    veth5:
      dhcp4: false  # a comment
"""
START = {
    "networkmanager": "systemctl start NetworkManager",
    "networkd": "systemctl -q enable --now systemd-networkd",
    "netplan": "true",
}
STOP = {
    "networkmanager": "systemctl -q disable --now NetworkManager",
    "networkd": "rm -r /etc/systemd/network/*; networkctl reload;"
    " systemctl -q disable systemd-networkd",
    "netplan": "true",
}
LINKS = (
    "for n in 5 7; do ip link add veth$n type veth peer name peer$n; ip link set peer$n up; done"
)
FILES = "cat /etc/netplan/* /etc/NetworkManager/system-connections/* /etc/systemd/network/* 2>&1"


def tree(machine: Debian, mtu: int = 1400, stp: bool = False) -> None:
    machine.tree(net=TREE.format(mtu=mtu, stp=stp))


def change_a_setting(machine: Debian) -> None:
    """The interface that it belongs to is restarted, and has its routes again."""
    index = machine.read("cat /sys/class/net/br7/ifindex")
    tree(machine, mtu=1300)
    changed = machine.results("sls", "net")
    status = {name: result["changes"].get("status") for name, result in changed.items()}
    assert status == {"veth7": "Interface veth7 restart to validate", "far": None, "br7": None}
    assert "1300" in changed["veth7"]["changes"]["interface"]
    assert "mtu 1300" in machine.read("ip link show veth7")
    assert "10.8.0.0/16 via 10.7.0.1 dev veth7" in machine.read("ip route")
    assert machine.read("cat /sys/class/net/br7/ifindex") == index


def make_the_bridge_anew(machine: Debian) -> None:
    """A bridge that exists cannot be changed; it gets its members back, and the others stay up."""
    index = machine.read("cat /sys/class/net/br7/ifindex")
    machine.run("journalctl --rotate --vacuum-time=1s")
    tree(machine, stp=True)
    machine.results("sls", "net")
    assert machine.read("cat /sys/class/net/br7/ifindex") != index
    assert machine.read("cat /sys/class/net/br7/bridge/stp_state") == "1"
    assert "master br7" in machine.read("ip link show veth5")
    journal = machine.read("journalctl -u systemd-networkd")
    assert "br7: Link UP" in journal and "veth7: Reconf" not in journal, journal


# or the next tool would make the interfaces of this one
FORGET = (
    "grep -lsE 'br7|veth[57]' /etc/netplan/* /etc/NetworkManager/system-connections/*"
    " /etc/systemd/network/* /run/systemd/network/* | xargs -r rm"
)
CHANGE = {
    "networkmanager": change_a_setting,
    "networkd": change_a_setting,
    "netplan": make_the_bridge_anew,
}


@pytest.mark.parametrize("tool", ["networkmanager", "networkd", "netplan"])
def test_an_interface_with_routes_and_a_bridge(debian: Debian, tool: str) -> None:
    debian.run(f"{LINKS}; {START[tool]}")
    if tool == "netplan":
        debian.write("/etc/netplan/50-cloud-init.yaml", INSTALLED, 0o600)
    tree(debian)
    before = debian.run(FILES, code=None).stdout
    dry = debian.results("sls", "net", "--test") if tool == "netplan" else {}
    assert debian.run(FILES, code=None).stdout == before
    real = debian.results("sls", "net")
    assert real["br7"]["changes"] == {
        "interface": "Added network interface.",
        "status": "Interface br7 is up",
    }
    assert real["far"]["changes"] == {"network_routes": "Added interface veth7 routes."}
    assert all(dry[name]["changes"] == real[name]["changes"] for name in ("veth7", "br7") if dry)
    addresses = debian.read("ip -br addr")
    assert "10.7.0.2/24" in addresses and "2001:db8::7/64" in addresses, addresses
    assert "10.9.0.1/24" in addresses
    assert "master br7" in debian.read("ip link show veth5")
    assert "mtu 1400" in debian.read("ip link show veth7")
    routes = debian.read("ip route")
    assert "10.8.0.0/16 via 10.7.0.1 dev veth7" in routes
    assert "default via 10.7.0.1 dev veth7" in routes
    modes = debian.read(
        "stat -c %a /etc/NetworkManager/system-connections/* /etc/netplan/* || true"
    )
    assert set(modes.split()) <= {"600"}, modes
    if tool == "netplan":
        left = INSTALLED.replace("    veth7:\n      dhcp4: true\n", "")
        assert debian.read("cat /etc/netplan/50-cloud-init.yaml") == left.rstrip()
    CHANGE[tool](debian)
    assert not [name for name, done in debian.results("sls", "net").items() if done["changes"]]
    debian.run(f"{STOP[tool]}; {FORGET}; ip link del br7; ip link del veth5; ip link del veth7")


def test_an_argument_that_the_tool_cannot_express_has_its_place(debian: Debian) -> None:
    debian.write("/etc/netplan/50-cloud-init.yaml", INSTALLED, 0o600)
    debian.tree(
        bad="veth9:\n  network.managed:\n    - type: bond\n    - use_carrier: 1\n",
        commands="veth9:\n  network.managed:\n    - up_cmds: echo\n",
    )
    comment = debian.results("sls", "bad", "--test", code=2)["veth9"]["comment"]
    assert comment.startswith("netplan cannot express use_carrier (/srv/runner/states/bad.sls:4:")
    problem = debian.runner("check", "commands", code=1).stdout
    assert "up_cmds needs the feature commands, which the provider netplan lacks" in problem
    assert "commands.sls:3" in problem
