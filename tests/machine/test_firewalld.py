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


WRITTEN = """
work:
  firewalld.present:
    - ports: [http/tcp, 4505-4506/tcp, 4507/tcp, 4600-4600/tcp]
    - prune_ports: True
drop:
  firewalld.present:
    - prune_rich_rules: True
    - rich_rules:
      - rule family="ipv4" source address="10.0.0.0/8" port protocol="tcp" port="22" accept
      - rule service name='http' limit value=5/minute accept
      - rule family=ipv4 source NOT address=10.0.0.1 log prefix="a b" limit value=3/second drop
"""
REFUSED = """
unknown element acept: {firewalld.present: [name: work, rich_rules: rule family=ipv4 acept]}
"'sshd': did you mean ssh?":
  firewalld.present: [{name: work, rich_rules: [rule service name=sshd accept]}]
"INVALID_PORT: 22x": {firewalld.present: [{name: work, port_fwd: "22x:22:tcp:"}]}
"""


def test_what_firewalld_writes_in_its_own_way_is_there(debian: Debian) -> None:
    """A rule or a port that it writes otherwise than the SLS would be added and pruned in turns."""
    debian.run("apt-get -q install firewalld; systemctl start firewalld")
    debian.tree(wall=WRITTEN, refused=REFUSED)
    kept = "cat /etc/firewalld/zones/*.xml; firewall-cmd --zone=drop --list-all"
    assert debian.results("sls", "wall")["drop"]["changes"]
    before = debian.read(kept)
    assert not [name for name, each in debian.results("sls", "wall").items() if each["changes"]]
    assert debian.read(kept) == before
    debian.tree(typo="pubic: firewalld.present\npublic2: firewalld.present\n")
    warned = [it.get("warnings") for it in debian.results("sls", "typo", "--test").values()]
    assert warned == [["there is no zone pubic yet: did you mean public?"], None]
    for arguments in (["--test"], []):
        results = debian.results("sls", "refused", *arguments, code=2)
        assert [name in it["comment"] for name, it in results.items()] == [True] * 3, results
    assert debian.read(kept) == before


def test_what_is_kept_but_not_in_force_is_put_in_force(debian: Debian) -> None:
    """As after a run that was killed before firewalld took what it had written."""
    debian.run("apt-get -q install firewalld; systemctl start firewalld")
    debian.tree(wall=WRITTEN)
    debian.results("sls", "wall")
    in_force = "firewall-cmd --zone=drop --list-all; firewall-cmd --zone=work --list-all"
    before = debian.read(in_force)
    debian.run("firewall-cmd --zone=work --remove-port=80/tcp")
    debian.run(
        "firewall-cmd --zone=drop --remove-rich-rule='rule service name=http accept limit"
        " value=5/m'"
    )
    dry = debian.results("sls", "wall", "--test")
    assert "80/tcp" in dry["work"]["changes"]["ports"]["new"]
    assert [it["result"] for it in dry.values()] == [None, True], "the first one has all reloaded"
    real = debian.results("sls", "wall")
    assert [bool(it["changes"]) for it in real.values()] == [True, False]
    assert sorted(debian.read(in_force).split()) == sorted(before.split())
