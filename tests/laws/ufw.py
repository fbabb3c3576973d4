# SPDX-License-Identifier: Apache-2.0
"""How ufw is tried: with the real one, in a network of its own."""

from __future__ import annotations

from typing import Any

from laws import offline_too, on_machine

HERE = ""  # it is off, and has no rules
ON = "ufw --force enable >&2; "
# in the words of another hand
HAS = (
    "ufw allow 22/tcp >&2; ufw deny out to 192.0.2.1 >&2; ufw allow OpenSSH >&2;"
    " ufw limit in on eth0 proto tcp from 10.0.0.0/8 to any port 23 comment x >&2; "
)
FULL: dict[str, Any] = {
    "port": "5432",
    "proto": "tcp",
    "source": "10.0.0.0/24",
    "destination": "10.0.0.1",
    "interface": "eth1",
    "direction": "in",
    "comment": "web servers",
}
KEPT = ""  # it has files alone


on = on_machine("ufw.", HERE, layer="firewalls")


SCENARIOS = [
    on("enabled", name="firewall"),
    on("enabled", ON, plans=False, name="firewall"),
    on("enabled", ON + "/lib/ufw/ufw-init force-stop >&2", name="firewall"),
    on("disabled", ON, name="firewall"),
    on("disabled", plans=False, name="firewall"),
    on("default", name="incoming", policy="allow"),
    on("default", ON, name="outgoing", policy="reject"),
    on("default", plans=False, name="routed", policy="deny"),
    on("allow", name="22/tcp"),
    on("allow", ON, name="22/tcp"),
    on("allow", HAS, plans=False, name="22/tcp"),
    on("allow", HAS, plans=False, name="ssh to here", port=22, proto="tcp"),
    on("allow", HAS, plans=False, name="OpenSSH"),
    on("allow", name="WWW Full"),
    on("allow", name="domain"),
    on("allow", name="from the office", port="any", source="2001:db8::/32"),
    on("allow", name="postgres", **FULL),
    on("allow", name="80,8000:8010/tcp"),
    on("allow", name="NoSuchApp", fails="Could not find a profile matching 'NoSuchApp'"),
    on("allow", name="99999/tcp", fails="Bad port"),
    on("allow", name="8000-8010/tcp"),
    on("allow", name="22/tcp", comment="it's mine", fails="ufw takes none with an apostrophe"),
    on("allow", name="22/tcp", others=1, **{"from": "10.0.0.1"}, fails="without it more packets"),
    on("allow", name="22/tcp", source="300.1.1.1", fails="Bad source address"),
    on("allow", name="22/tcp", destination="nowhere", fails="Bad destination address"),
    on("allow", name="22/tcp", interface="eth0 x", fails="interface: 'eth0 x' is not one word"),
    on("allow", name="22/tcp", proto="udp", fails="which protocol is meant?"),
    on("allow", name="22", proto="foo", fails="protocol"),
    on("deny", HAS, name="22/tcp"),  # instead of the one that allows
    on("deny", name="mail", **{**FULL, "direction": "out"}),
    on("deny", HAS, plans=False, name="x", port="any", direction="out", destination="192.0.2.1"),
    on("limit", name="telnet", **FULL),
    on(
        "limit", HAS, plans=False, name="23/tcp", interface="eth0", source="10.0.0.0/8", comment="x"
    ),
    on("reject", name="ident", **FULL),
    on("reject", ON, name="113/tcp"),
]
SCENARIOS += offline_too(SCENARIOS, KEPT)
