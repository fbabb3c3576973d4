# SPDX-License-Identifier: Apache-2.0
"""How rules of nftables are written."""

from __future__ import annotations

from typing import Any

import pytest

from modules.firewalls import nftables
from runner.api import CommandFailed

RULES: list[tuple[dict[str, Any], str]] = [
    # as Salt writes them
    ({"proto": "tcp", "dport": "22:25", "jump": "accept"}, "tcp dport { 22-25 } accept"),
    ({"match": "state", "connstate": "NEW", "jump": "DROP"}, "ct state { new } drop"),
    (
        {"of": "b", "if": "a", "destination": "1.2.3.4", "counter": True, "jump": "drop"},
        "meta iifname a meta oifname b counter ip daddr 1.2.3.4 drop",
    ),
    (
        {"icmp-type": "echo-request", "proto": "icmp", "jump": "accept"},
        "icmp type { echo-request } meta l4proto icmp accept",
    ),
    # what Salt leaves out, or writes so that nft refuses it
    ({"proto": "udp", "jump": "accept"}, "meta l4proto udp accept"),
    ({"proto": "udp", "dport": "! 53", "jump": "knocking"}, "udp dport != { 53 } jump knocking"),
    ({"proto": "tcp", "dports": [22, 80], "goto": "web"}, "tcp dport { 22, 80 } goto web"),
    ({"source": "2001:db8::/32", "jump": "drop"}, "ip6 saddr 2001:db8::/32 drop"),
    ({"source": "!=10.0.0.1", "jump": "drop"}, "ip saddr != 10.0.0.1 drop"),
    ({"jump": "redirect", "to-port": 80}, "redirect to :80"),
    ({"jump": "reject", "reject-with": "tcp reset"}, "reject with tcp reset"),
    ({"jump": "LOG", "log-prefix": "in: "}, 'log prefix "in: "'),
    ({"log": True, "limit": "5/minute", "comment": "a b"}, 'limit rate 5/minute log comment "a b"'),
    ({"rule": "tcp dport 1", "jump": "accept"}, "tcp dport 1 accept"),
]


@pytest.mark.parametrize(("given", "rule"), RULES)
def test_rules(given: dict[str, Any], rule: str) -> None:
    assert nftables.rule(given) == rule


ENDS = ['x" drop', "x\ndrop", ""]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("comment", "log-prefix") for value in ENDS),
        *(
            (key, value)
            for key in ("source", "jump", "goto", "dport", "if", "limit", "connstate", "to-port")
            for value in (*ENDS, "1; flush ruleset", "{ 1 }", "1 # x")
        ),
    ],
)
def test_a_value_is_no_second_statement(key: str, value: str) -> None:
    with pytest.raises(CommandFailed, match=key):
        nftables.rule({"proto": "tcp", "jump": "redirect", key: value})
