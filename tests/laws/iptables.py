# SPDX-License-Identifier: Apache-2.0
"""How rules of the packet filter are tried: with the real one, in a network of their own."""

from __future__ import annotations

from laws import offline_too, on_machine

HERE = "apt-get install -q -y iptables; "
SSH = {"chain": "INPUT", "proto": "tcp", "dport": 22, "connstate": "NEW", "jump": "ACCEPT"}
HAS = HERE + "iptables -A INPUT -p tcp -m state --state NEW -m tcp --dport 22 -j ACCEPT; "
NAT = {
    "table": "nat",
    "chain": "PREROUTING",
    "if": "lo",
    "protocol": "tcp",
    "dports": [80, 81],
    "jump": "DNAT",
    "to-destination": "127.0.0.1:8080",
}
LOG = {
    "chain": "INPUT",
    "source": "! 10.0.0.0/8",
    "match": ["limit"],
    "limit": "5/min",
    "jump": "LOG",
}
KEPT = """mkdir -p /etc/iptables
for six in '' 6; do
    ip${six}tables-save >/etc/iptables/rules.v${six:-4}
    for table in filter nat; do ip${six}tables -t $table -F; ip${six}tables -t $table -X; done
done
"""


on = on_machine("iptables.", HERE, name="rule")


SCENARIOS = [
    on("append", **SSH, save=True, table="filter", family="ipv4"),
    on("append", HAS, plans=False, **SSH),
    on("append", **NAT, save="/srv/rules"),
    on("append", **LOG, **{"log-prefix": "dropped: ", "comment": "why not"}),
    on("append", family="ipv6", **SSH),
    on("append", **SSH, position="last"),
    on("append", **{**SSH, "position": 1}),
    on("append", **{**SSH, "chain": "nowhere"}, fails="there is no chain nowhere"),
    on("append", jump="ACCEPT", fails="which chain is meant?"),
    on("append", chain="INPUT", nonsense="x", fails="Attempted rule was"),
    on("append", HAS, plans=False, rules=[{**SSH, "name": "a"}]),
    on("append", HAS, rules=[{**SSH, "name": "a"}, {**SSH, "name": "b", "dport": 23}]),
    on(
        "append",
        rules=[{**SSH, "name": "a"}, {"name": "b", "chain": "INPUT", "bad": 1}],
        fails="rule for b.",
    ),
    on("append", HAS, **SSH, save=True),
    on(
        "append",
        HAS + "mkdir /etc/iptables; iptables-save >/etc/iptables/rules.v4; ",
        plans=False,
        **SSH,
        save=True,
    ),
    on("insert", rules=[{**SSH, "name": "a", "position": 1}]),
    on("delete", HAS, rules=[{**SSH, "name": "a"}, {**SSH, "name": "b", "dport": 23}]),
    on("set_policy", chain="knocking", policy="DROP", fails="is not a built-in chain"),
    on("flush", chain="knocking", fails="Failed to flush iptables rules"),
    on("insert", HAS, chain="INPUT", position=1, jump="DROP", source="10.9.9.9", save=True),
    on("insert", HAS, chain="INPUT", position=-1, jump="DROP", family="ipv4", table="filter"),
    on("insert", HAS, plans=False, **SSH),
    on("delete", HAS, **SSH, save=True, table="filter", family="ipv4"),
    on("delete", plans=False, **SSH),
    on("delete", chain="INPUT", position=1, fails="position"),
    on("chain_present", name="knocking", table="nat"),
    on("chain_present", HERE + "iptables -N knocking", plans=False, name="knocking", family="ipv4"),
    on(
        "chain_absent", HERE + "iptables -N knocking; iptables -A knocking -j DROP", name="knocking"
    ),
    on("chain_absent", plans=False, name="knocking", table="nat", family="ipv6"),
    on("set_policy", chain="FORWARD", policy="DROP", save=True, table="filter"),
    on("set_policy", plans=False, chain="FORWARD", policy="ACCEPT", family="ipv6"),
    on("flush", HAS, chain="INPUT"),
    on("flush", plans=False, table="nat", family="ipv4"),
]
SCENARIOS += offline_too(SCENARIOS, KEPT)
