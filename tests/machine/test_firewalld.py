# SPDX-License-Identifier: Apache-2.0
"""firewalld for real: the package, its daemon, and the rules that the kernel has at the end."""

from __future__ import annotations

from debian import Debian

TREE = """
firewalld:
  pkg.installed: []
  service.running:
    - enable: True
exporter:
  firewalld.service:
    - ports: [9100/tcp]
public:
  firewalld.present:
    - services: [ssh, exporter]
    - prune_services: True
    - ports: [8080/tcp]
    - rich_rules: ['rule family=ipv4 source address=10.9.8.0/24 drop']
    - port_fwd: ['2222:22:tcp:']
    - sources: [10.7.0.0/24]
site:
  firewalld.present:
    - default: True
    - masquerade: True
"""


def test_what_is_let_in(debian: Debian) -> None:
    debian.tree(wall=TREE)
    dry = debian.results("sls", "wall", "--test")
    assert {dry[name]["result"] for name in ("exporter", "public", "site")} == {None}
    assert debian.run("test -e /etc/firewalld", code=1)
    real = debian.results("sls", "wall")
    started = real["firewalld"]["result"], real["firewalld"]["changes"]
    assert (dry["firewalld"]["result"], dry["firewalld"]["changes"]) == started, "by the package"
    assert real["public"]["changes"]["services"] == {
        "old": ["dhcpv6-client", "ssh"],
        "new": ["ssh", "exporter"],
    }
    assert real["public"]["changes"]["port_fwd"]["new"][0]["Destination port"] == "22"
    now = debian.read(
        "firewall-cmd --list-all --zone=public; firewall-cmd --get-default-zone; firewall-cmd"
        " --list-all"
    )
    for part in (
        "services: exporter ssh",
        "ports: 8080/tcp",
        'address="10.9.8.0/24" drop',
        "\nsite\n",
        "masquerade: yes",
    ):
        assert part in now
    rules = debian.read(
        "/usr/bin/python3", "-c", "import nftables as n; print(n.Nftables().cmd('list ruleset')[1])"
    )
    assert "tcp dport 9100" in rules
    assert "10.9.8.0/24 drop" in rules
    assert not [name for name, each in debian.results("sls", "wall").items() if each["changes"]]
    for call, answer in {
        "get_zones": "site",
        "list_services public": "exporter",
        "list_ports public permanent=False": "8080/tcp",
        "get_sources zone=public": "10.7.0.0/24",
        "get_rich_rules public": "10.9.8.0/24",
        "get_service_ports exporter": "9100/tcp",
    }.items():
        assert answer in debian.runner("call", *f"firewalld.{call}".split()).stdout
    assert "- " not in debian.runner("call", "firewalld.get_interfaces", "public").stdout
