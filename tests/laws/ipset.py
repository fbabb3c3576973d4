# SPDX-License-Identifier: Apache-2.0
"""How ipset is tried: with the real one, in a network of its own."""

from __future__ import annotations

from laws import offline_too, on_machine

NET = "ipset create net hash:net comment; ipset add net 10.0.0.0/8 comment ours; "
SIX = "ipset create six hash:ip family inet6 counters timeout 600; ipset add six 2001:db8::1; "
LIST = NET + SIX + "ipset create all list:set; ipset add all net; "
KEPT = "mkdir -p /etc/iptables; ipset save >/etc/iptables/ipsets; ipset destroy"


on = on_machine("ipset.", layer="firewalls")


SCENARIOS = [
    on("set_present", name="net", set_type="hash:net", comment=True, maxelem=100),
    on("set_present", name="six", set_type="hash:ip", family="ipv6"),
    on("set_present", name="map", set_type="bitmap:ip", range="192.168.0.0/16"),
    on("set_present", NET, plans=False, name="net", set_type="hash:net"),
    on("set_present", NET, name="net", set_type="hash:ip", fails="there is one of the type"),
    on("set_present", name="bad", set_type="hash:bad", fails="Failed to create set bad"),
    on("set_present", name="bad", set_type="bitmap:ip", fails="Failed to create set bad"),
    on("set_present", name="bad", set_type="hash:ip", nonsense=1, fails="nonsense"),
    on("set_present", name="bad", set_type="hash:ip", maxelem="1 x", fails="is not one word"),
    on("set_absent", NET, name="net", family="ipv4"),
    on("set_absent", name="net", plans=False),
    on("set_absent", LIST, name="net", fails="a rule or another set uses it"),
    on("present", NET, name="net", entry=["10.0.0.0/8", "192.0.2.9/24"], comment="ours"),
    on("present", NET, plans=False, name="e", set_name="net", entry="10.1.2.3/8", comment="ours"),
    on("present", NET, name="net", entry="10.0.0.0/8", comment="theirs"),
    on("present", SIX, plans=False, name="six", entry="2001:0db8::1", family="ipv6"),
    on("present", SIX, name="six", entry="2001:db8::2", family="ipv6", timeout=60),
    on("present", LIST, name="all", entry=["net", "six"]),
    on("present", LIST, name="all", entry="nowhere", fails="Set nowhere does not exist"),
    on("present", NET, name="net", entry="nonsense", fails="cannot parse nonsense"),
    on("present", NET, name="net", fails="ipset entry must be specified"),
    on("present", name="net", entry="1.2.3.4", fails="Set net does not exist"),
    on("absent", NET, name="e", set_name="net", entry=["10.1.1.1/8", "1.2.3.4"]),
    on("absent", SIX, name="six", entries=["2001:db8:0::1"], family="ipv6"),
    on("absent", NET, plans=False, name="net", entry="1.2.3.4"),
    on("absent", plans=False, name="nowhere", entry="1.2.3.4"),
    on("flush", NET, name="net", family="ipv4"),
    on("flush", "ipset create net hash:net", plans=False, name="net"),
    on("flush", name="nowhere", fails="ipset set nowhere does not exist"),
]
SCENARIOS += offline_too(SCENARIOS, KEPT)
