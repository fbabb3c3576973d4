"""nftables, ufw and ipset for real: what the kernel has at the end."""

from __future__ import annotations

from debian import Debian

LAYER = "firewalls"
RULES = """
filter:
  nftables.table_present:
    - family: inet
input:
  nftables.chain_present:
    - family: inet
    - table_type: filter
    - hook: input
    - priority: 0
knocking:
  nftables.chain_present:
    - family: inet
known connections:
  nftables.append:
    - family: inet
    - chain: input
    - connstate: [established, related]
    - jump: accept
to knocking:
  nftables.append:
    - family: inet
    - chain: input
    - proto: udp
    - jump: knocking
ssh comes first:
  nftables.insert:
    - family: inet
    - chain: input
    - proto: tcp
    - dport: [22, 2222]
    - jump: ACCEPT
nothing else:
  nftables.set_policy:
    - family: inet
    - chain: input
    - policy: drop
    - save: True
"""


def test_nftables(fresh: Debian) -> None:
    fresh.run("systemctl stop firewalld ufw; nft flush ruleset")
    fresh.tree(rules=RULES)
    before = fresh.read("nft list ruleset; cat /etc/nftables.conf")
    dry = fresh.results("sls", "rules", "--test")
    assert {result["result"] for result in dry.values()} == {None}, dry
    assert fresh.read("nft list ruleset; cat /etc/nftables.conf") == before
    fresh.results("sls", "rules")
    chain = fresh.read("nft list chain inet filter input")
    wanted = (
        "policy drop",
        "tcp dport { 22, 2222 } accept",
        "ct state { established, related } accept",
        "meta l4proto udp jump knocking",
    )
    positions = [chain.index(part) for part in wanted]
    assert positions == sorted(positions), chain
    again = fresh.results("sls", "rules")
    assert not [name for name, result in again.items() if result["changes"]]
    fresh.run("nft flush ruleset; nft -f /etc/nftables.conf")  # as at the next start
    assert fresh.read("nft list chain inet filter input") == chain


UFW = """
incoming:
  ufw.default:
    - policy: deny
OpenSSH:
  ufw.limit: []
the office:
  ufw.allow:
    - port: 443
    - proto: tcp
    - source: 10.7.0.0/24
1.2.3.4 is not asked:
  ufw.reject:
    - port: any
    - destination: 1.2.3.4
    - direction: out
firewall:
  ufw.enabled:
    - require:
      - ufw: OpenSSH
"""


def test_ufw(fresh: Debian) -> None:
    fresh.run("systemctl stop firewalld")
    fresh.run("ufw --force disable; ufw default allow incoming")
    fresh.tree(wall=UFW)
    files = "cat /etc/default/ufw /etc/ufw/*.rules /etc/ufw/ufw.conf; iptables-save | grep -v '^#'"
    before = fresh.read(files)
    dry = fresh.results("sls", "wall", "--test")
    assert {result["result"] for result in dry.values()} == {None}, dry
    assert fresh.read(files) == before
    real = fresh.results("sls", "wall")
    assert {name: result["changes"] for name, result in real.items()} == {
        name: result["changes"] for name, result in dry.items()
    }
    assert real["incoming"]["changes"] == {"incoming": {"old": "allow", "new": "deny"}}
    now = fresh.read("iptables-save")
    for part in (
        ":INPUT DROP",
        "-A ufw-user-input -s 10.7.0.0/24 -p tcp -m tcp --dport 443 -j ACCEPT",
        "-A ufw-user-output -d 1.2.3.4/32 -j REJECT",
        "--update --seconds 30 --hitcount 6",
    ):
        assert part in now
    assert not [name for name, again in fresh.results("sls", "wall").items() if again["changes"]]


SETS = """
blocked:
  ipset.set_present:
    - set_type: hash:net
    - comment: True
bad networks:
  ipset.present:
    - set_name: blocked
    - entry: [192.0.2.9/24, 198.51.100.7]
    - comment: not here
drop them:
  iptables.append:
    - chain: INPUT
    - match-set: blocked src
    - jump: DROP
"""


def test_ipset(fresh: Debian) -> None:
    fresh.run("systemctl stop firewalld")
    fresh.tree(sets=SETS)
    dry = fresh.results("sls", "sets", "--test", code=None)
    assert [dry[name]["result"] for name in ("blocked", "bad networks")] == [None, None], dry
    assert fresh.read("ipset list -name") == ""
    fresh.results("sls", "sets")
    entries = fresh.read("ipset save blocked").splitlines()[1:]
    assert sorted(entries) == [
        'add blocked 192.0.2.0/24 comment "not here"',
        'add blocked 198.51.100.7 comment "not here"',
    ]
    assert "--match-set blocked src -j DROP" in fresh.read("iptables -S INPUT")
    assert not [name for name, again in fresh.results("sls", "sets").items() if again["changes"]]
