# SPDX-License-Identifier: Apache-2.0
"""How nftables is tried: with the real one, in a network of its own."""

from __future__ import annotations

from typing import Any

from laws import offline_too, on_machine

HERE = "nft flush ruleset; "
CHAIN = HERE + (
    "nft add table inet filter; nft 'add chain inet filter input { type filter hook input priority"
    " 0; policy accept; }'; "
)
IPV4 = HERE + "nft add table ip filter; nft add chain ip filter input; "
IPV6 = HERE + "nft add table ip6 filter; nft add chain ip6 filter input; "
# as another hand would write it, with a counter that has counted, and after another rule
HAS = CHAIN + (
    "nft add rule inet filter input tcp dport 25 drop; "
    "nft add rule inet filter input ct state { new } tcp dport 22 counter packets 3 bytes 9"
    " accept; "
)
HAS = HAS.replace("{ new }", "'{ new }'")
NAT = HERE + (
    "nft add table ip nat; nft 'add chain ip nat prerouting { type nat hook prerouting priority"
    " dstnat; }'; "
)
WEB: dict[str, Any] = {"chain": "input", "proto": "tcp", "dport": 80, "jump": "accept"}
SSH: dict[str, Any] = {
    "chain": "input",
    "rule": "ct state new tcp dport ssh counter",
    "jump": "ACCEPT",
}
DNAT: dict[str, Any] = {
    "table": "nat",
    "chain": "prerouting",
    "if": "lo",
    "proto": "tcp",
    "dports": [80, 81],
    "jump": "dnat",
    "to-destination": "127.0.0.1:8080",
    "family": "ip",
}
LOG: dict[str, Any] = {
    "chain": "input",
    "source": ["! 10.0.0.0/8", "192.168.0.0/16"],
    "limit": "5/minute",
    "log-prefix": "dropped: ",
    "log-level": "info",
    "comment": "why not",
    "jump": "drop",
}
STATES: dict[str, Any] = {"connstate": "RELATED,ESTABLISHED", "jump": "ACCEPT", "match": "state"}
KEPT = """{ echo flush ruleset; nft list ruleset; } >/etc/nftables.conf; nft flush ruleset
"""


on = on_machine("nftables.", CHAIN, layer="firewalls", name="rule", family="inet")


CHAINS: dict[str, Any] = {"name": "input", "table_type": "filter", "hook": "input", "priority": 0}
SCENARIOS = [
    on("append", **WEB, position=1),
    on("append", **WEB, save=True, table="filter"),
    on("append", IPV4, **LOG, family="ipv4"),
    on("append", IPV4, **LOG, family="ip4"),
    on("append", IPV6, **STATES, chain="input", family="ipv6"),
    on("append", NAT, **DNAT, save="/srv/rules"),
    on("append", HAS, plans=False, **SSH),
    on("append", HAS, **SSH, save=True),
    on("append", NAT, **{**DNAT, "proto": "icmp"}, fails="dports: of which protocol?"),
    on("append", **{**WEB, "chain": "nowhere"}, fails="Chain nowhere in table filter"),
    on("append", **{**WEB, "table": "nowhere"}, fails="Table nowhere in family inet does not"),
    on("append", **{**WEB, "dport": 70000}, fails="dport: '70000' is no port"),
    on("append", **WEB, source="300.1.1.1", fails="Could not resolve hostname"),
    on("append", **WEB, source="1.2.3.4; flush ruleset", fails="is no value for a rule"),
    on("append", **WEB, nonsense="x", fails="nonsense: nftables.* has no such argument"),
    on("append", **{**WEB, "jump": "knocking"}, fails="Chain knocking in table filter"),
    on("append", jump="accept", fails="which chain is meant?"),
    on("append", chain="input", fails="it says nothing"),
    on("insert", HAS, **WEB, position=2, save=True, table="filter"),
    on("insert", HAS, **WEB, position=-1),
    on("insert", HAS, **WEB, position=9),
    on("insert", HAS, plans=False, **SSH),
    on("insert", **WEB, position=0, fails="there is no 0"),
    on("delete", HAS, **SSH, save=True, table="filter"),
    on("delete", plans=False, **WEB),
    on("delete", chain="input", position=1, fails="position"),
    on("flush", HAS, chain="input", table="filter", ignore_absence=False),
    on("flush", HAS),
    on("flush", plans=False, chain="input"),
    on("flush", chain="nowhere", fails="Failed to flush chain nowhere in table filter"),
    on("flush", table="nowhere", fails="Failed to flush table nowhere in family inet"),
    on("flush", plans=False, table="nowhere", ignore_absence=True),
    on("set_policy", chain="input", policy="DROP", save=True, table="filter"),
    on("set_policy", plans=False, chain="input", policy="accept"),
    on("set_policy", IPV4, chain="input", policy="drop", family="ipv4", fails="has no hook"),
    on("set_policy", chain="nowhere", policy="drop", fails="does not exist"),
    on("chain_present", HERE + "nft add table inet filter", **CHAINS, table="filter"),
    on("chain_present", name="knocking"),
    on("chain_present", plans=False, **CHAINS),
    on("chain_present", plans=False, **{**CHAINS, "priority": "filter"}),
    on("chain_present", **{**CHAINS, "hook": "output"}, fails="there is one with hook input"),
    on("chain_present", **{**CHAINS, "name": "x", "hook": "nohook"}, fails="nohook"),
    on("chain_present", name="x", hook="input", fails="belong together"),
    on("chain_present", HERE, **CHAINS, fails="Table filter in family inet does not exist"),
    on("chain_absent", HAS, name="input", table="filter"),
    on("chain_absent", HERE, plans=False, name="input"),
    on(
        "chain_absent",
        CHAIN + "nft add chain inet filter used; nft add rule inet filter input jump used",
        name="used",
        fails="do rules still lead to it?",
    ),
    on("table_present", HERE, name="filter"),
    on("table_present", plans=False, name="filter"),
    on("table_absent", HAS, name="filter"),
    on("table_absent", HERE, plans=False, name="filter"),
]
SCENARIOS += offline_too(SCENARIOS, KEPT)
