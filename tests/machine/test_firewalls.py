# SPDX-License-Identifier: Apache-2.0
"""nftables, ufw and ipset for real: what the kernel has at the end."""

from __future__ import annotations

import json
from typing import Any

from both_runs import assert_foreseen, unlike
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


def test_nftables(debian: Debian) -> None:
    debian.run("systemctl stop firewalld ufw; nft flush ruleset")
    debian.tree(rules=RULES)
    before = debian.read("nft list ruleset; cat /etc/nftables.conf")
    dry = debian.results("sls", "rules", "--test")
    assert {result["result"] for result in dry.values()} == {None}, dry
    assert debian.read("nft list ruleset; cat /etc/nftables.conf") == before
    debian.results("sls", "rules")
    chain = debian.read("nft list chain inet filter input")
    wanted = (
        "policy drop",
        "tcp dport { 22, 2222 } accept",
        "ct state { established, related } accept",
        "meta l4proto udp jump knocking",
    )
    positions = [chain.index(part) for part in wanted]
    assert positions == sorted(positions), chain
    again = debian.results("sls", "rules")
    assert not [name for name, result in again.items() if result["changes"]]
    debian.run("nft flush ruleset; nft -f /etc/nftables.conf")  # as at the next start
    assert debian.read("nft list chain inet filter input") == chain


def test_a_jump_that_leads_nowhere_is_named(debian: Debian) -> None:
    debian.run("systemctl stop firewalld ufw; nft flush ruleset; nft add table inet filter")
    debian.run("nft add chain inet filter input")
    rule = "\n  nftables.append: [{family: inet, chain: input, proto: tcp, dport: 22, jump: %s}]\n"
    debian.tree(rules=f"a:{rule % 'acept'}b:{rule % 'knocking'}")
    for arguments in (["--test"], []):
        results = debian.results("sls", "rules", *arguments, code=2)
        nowhere = "in table filter in family inet does not exist"
        assert f"Chain acept {nowhere}: did you mean accept?" in results["a"]["comment"]
        assert f"Chain knocking {nowhere}" in results["b"]["comment"]


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


def test_ufw(debian: Debian) -> None:
    debian.run("systemctl stop firewalld")
    debian.run("ufw --force disable; ufw default allow incoming")
    debian.tree(wall=UFW)
    files = "cat /etc/default/ufw /etc/ufw/*.rules /etc/ufw/ufw.conf; iptables-save | grep -v '^#'"
    before = debian.read(files)
    dry = debian.results("sls", "wall", "--test")
    assert {result["result"] for result in dry.values()} == {None}, dry
    assert debian.read(files) == before
    real = debian.results("sls", "wall")
    assert unlike(dry, real) == {}
    assert real["incoming"]["changes"] == {"incoming": {"old": "allow", "new": "deny"}}
    now = debian.read("iptables-save")
    for part in (
        ":INPUT DROP",
        "-A ufw-user-input -s 10.7.0.0/24 -p tcp -m tcp --dport 443 -j ACCEPT",
        "-A ufw-user-output -d 1.2.3.4/32 -j REJECT",
        "--update --seconds 30 --hitcount 6",
    ):
        assert part in now
    assert not [name for name, again in debian.results("sls", "wall").items() if again["changes"]]


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
while:
  ipset.set_present:
    - set_type: hash:ip
    - timeout: 0
    - comment: True
its entries:
  ipset.present:
    - set_name: while
    - entry: [192.0.2.1 comment own, 192.0.2.2]
    - comment: ours
    - timeout: 5000
who knocks:
  iptables.append:
    - chain: INPUT
    - jump: SET
    - add-set: while src
    - timeout: 60
"""


def test_ipset(debian: Debian) -> None:
    debian.run("systemctl stop firewalld")
    debian.tree(sets=SETS)
    dry = debian.results("sls", "sets", "--test", code=None)
    assert {result["result"] for result in dry.values()} == {None}, dry
    assert debian.read("ipset list -name") == ""
    debian.results("sls", "sets")
    entries = debian.read("ipset save blocked").splitlines()[1:]
    assert sorted(entries) == [
        'add blocked 192.0.2.0/24 comment "not here"',
        'add blocked 198.51.100.7 comment "not here"',
    ]
    rules = debian.read("iptables -S INPUT")
    assert (
        "--match-set blocked src -j DROP" in rules and "--add-set while src --timeout 60" in rules
    )
    kept = debian.read("ipset save while")
    assert " timeout 0 " in kept.splitlines()[0] and 'comment "own"' in kept and "ours" in kept
    assert kept.count(" timeout ") == 3, kept
    assert not [name for name, again in debian.results("sls", "sets").items() if again["changes"]]


# function, arguments, answer, one after another; NFT: Salt's {result, comment}
NFT = {"result": True}
CALLS: list[tuple[str, dict[str, object], object]] = [
    ("iptables.new_chain", {"table": "filter", "chain": "knock"}, True),
    ("iptables.append", {"chain": "knock", "rule": '-m comment --comment "a b" -j DROP'}, True),
    ("iptables.insert", {"chain": "knock", "position": 1, "rule": "-i lo -j ACCEPT"}, ""),
    ("iptables.check", {"chain": "knock", "rule": "-i lo -j ACCEPT"}, True),
    ("iptables.delete", {"table": "filter", "chain": "knock", "position": 1}, ""),
    ("iptables.check", {"chain": "knock", "rule": "-i lo -j ACCEPT"}, False),
    ("iptables.set_policy", {"chain": "FORWARD", "policy": "DROP"}, ""),
    ("iptables.get_policy", {"chain": "FORWARD"}, "DROP"),
    ("iptables.flush", {"chain": "knock"}, ""),
    ("iptables.delete_chain", {"chain": "knock"}, True),
    ("nftables.new_table", {"table": "mine", "family": "inet"}, NFT),
    ("nftables.new_chain", {"table": "mine", "chain": "c", "family": "inet"}, NFT),
    (
        "nftables.new_chain",
        {
            "table": "mine",
            "chain": "in",
            "family": "inet",
            "table_type": "filter",
            "hook": "input",
            "priority": 0,
        },
        NFT,
    ),
    ("nftables.append", {"table": "mine", "chain": "c", "rule": "drop", "family": "inet"}, NFT),
    (
        "nftables.insert",
        {"table": "mine", "chain": "c", "rule": "tcp dport 22 accept", "family": "inet"},
        NFT,
    ),
    ("nftables.delete", {"table": "mine", "chain": "c", "rule": "drop", "family": "inet"}, NFT),
    (
        "nftables.set_policy",
        {"table": "mine", "chain": "in", "policy": "drop", "family": "inet"},
        True,
    ),
    ("nftables.get_policy", {"table": "mine", "chain": "in", "family": "inet"}, "drop"),
    ("nftables.flush", {"table": "mine", "chain": "c", "family": "inet"}, NFT),
    ("nftables.delete_chain", {"table": "mine", "chain": "c", "family": "inet"}, NFT),
    ("nftables.delete_table", {"table": "mine", "family": "inet"}, NFT),
    (
        "ipset.new_set",
        {"name": "bad", "set_type": "hash:net", "comment": True, "timeout": 90},
        True,
    ),
    ("ipset.add", {"name": "bad", "entry": "192.0.2.0/24", "comment": "a b"}, "Success"),
    ("ipset.test", {"name": "bad", "entry": "192.0.2.7"}, True),
    ("ipset.rename_set", {"name": "bad", "new_set": "worse"}, True),
    ("ipset.delete", {"name": "worse", "entry": "192.0.2.0/24"}, "Success"),
    ("ipset.test", {"name": "worse", "entry": "192.0.2.7"}, False),
    ("ipset.delete_set", {"name": "worse"}, True),
]


def test_execution_functions(debian: Debian) -> None:
    debian.run("systemctl stop firewalld; iptables -P FORWARD ACCEPT")
    states = {
        f"call {number}": {"module.run": [{function: [arguments]}]}
        for number, (function, arguments, _) in enumerate(CALLS)
    }
    debian.tree(calls=json.dumps(states))
    look = "iptables-save | grep -v '^#'; nft list tables; ipset list -name"
    before = debian.read(look)
    dry = debian.results("sls", "calls", "--test").values()
    assert {result["result"] for result in dry} == {None} and debian.read(look) == before
    results = debian.results("sls", "calls", code=None)
    for (function, _, answer), result in zip(CALLS, results.values(), strict=True):
        done = result["changes"].get(function, result["result"])
        wanted = {**done, **NFT} if answer is NFT else answer
        assert done == wanted, result
    assert debian.read(look).replace(":FORWARD DROP", ":FORWARD ACCEPT") == before


def rules_of(kind: str, *states: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        f"{kind} {number}": {f"{kind}.{function}": [given]}
        for number, (function, given) in enumerate(states)
    }


HERE = {"chain": "INPUT"}
SSH = {**HERE, "proto": "tcp", "dport": 22, "jump": "ACCEPT"}
LOOP = {**HERE, "in-interface": "lo", "jump": "ACCEPT"}
OLD, NEW = {**SSH, "table": "old", "chain": "c"}, {**SSH, "table": "new", "chain": "d"}
ENTRY = {"set_name": "own", "entry": "10.0.0.1"}
IPTABLES = {
    **rules_of(
        "ipset",
        ("set_present", {"name": "own", "set_type": "hash:ip"}),
        ("flush", {"name": "own"}),
        ("present", ENTRY),
        ("present", ENTRY),
        ("absent", {**ENTRY, "entry": "10.0.0.2"}),
    ),
    **rules_of(
        "iptables",
        ("flush", HERE),
        ("append", SSH),
        ("append", SSH),
        ("chain_present", {"name": "OWN"}),
        ("append", {"chain": "OWN", "jump": "DROP", "source": "10.0.0.1"}),
        ("append", {**HERE, "jump": "OWN", "match-set": "own src"}),
        ("insert", {**LOOP, "position": 1}),
        ("delete", LOOP),
        ("set_policy", {**HERE, "policy": "DROP"}),
        ("set_policy", {**HERE, "policy": "DROP"}),
    ),
}
NFTABLES = rules_of(
    "nftables",
    ("flush", {"table": "old", "chain": "c"}),
    ("append", OLD),
    ("append", OLD),
    ("table_present", {"name": "new"}),
    ("chain_present", {"name": "d", "table": "new"}),
    ("append", NEW),
    ("delete", NEW),
    ("delete", NEW),
)


def test_rules_of_a_packet_filter_are_foreseen_one_after_the_other(debian: Debian) -> None:
    debian.run("systemctl stop firewalld; nft flush ruleset")
    debian.run("nft add table ip old; nft add chain ip old c")
    debian.run("nft add rule ip old c tcp dport 22 accept")
    shown = "iptables -S; ipset save; nft list table ip old"
    debian.tree(nftables=json.dumps(NFTABLES), iptables=json.dumps(IPTABLES))
    before = debian.read(shown)
    debian.runner("sls", "nftables,iptables", "--test")
    assert debian.read(shown) == before
    for _ in range(2):
        assert_foreseen(debian, NFTABLES)
    debian.run("iptables -A INPUT -p tcp --dport 22 -j ACCEPT")
    for _ in range(2):
        assert_foreseen(debian, IPTABLES)
    # what iptables has set with modules of its own nft cannot try
    dry = debian.results("sls", "nftables", "--test")
    assert dry["nftables 0"]["changes"] and not dry["nftables 1"]["changes"]
    assert "cannot be tried" in dry["nftables 1"]["comment"]
    assert dry["nftables 1"]["result"] is None
