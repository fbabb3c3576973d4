"""How the network is tried: on copies of this computer; tests/machine/test_network.py has a real
ifupdown.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario

FILES = (
    "mkdir -p /etc/network; printf 'auto lo eth7\\niface lo inet loopback\\n' >"
    " /etc/network/interfaces; "
)
OLD = (
    FILES + "printf '# mine\\niface eth7 inet dhcp\\n  hostname a\\n' >> /etc/network/interfaces; "
)
ROUTE = {
    "name": "far",
    "ipaddr": "10.2.0.0",
    "netmask": "255.255.255.0",
    "gateway": "10.1.0.3",
    "metric": 5,
}
SCRIPTS = (
    FILES + "mkdir -p /etc/network/if-up.d /etc/network/if-down.d; echo x >"
    " /etc/network/if-up.d/route-eth7; "
)
WORDS = {each: ["true"] for each in ("up_cmds", "pre_up_cmds", "post_up_cmds")}
WORDS |= dict.fromkeys(("down_cmds", "pre_down_cmds", "post_down_cmds"), "true")
FOUR = {
    "netmask": 24,
    "broadcast": "10.1.0.255",
    "gateway": "10.1.0.1",
    "pointopoint": "10.1.0.9",
    "scope": "link",
}
SIX = {
    "ipv6ipaddrs": ["2001:db8::7/64"],
    "ipv6netmask": 64,
    "ipv6gateway": "2001:db8::1",
    "accept_ra": 2,
}
BOND = {"slaves": ["eth0", "eth1"], "mode": "802.3ad"}


def managed(
    prepare: str = FILES, plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    given = {"name": "eth7", "noifupdown": True, **args}
    return Scenario(
        "network.managed", given, plans=plans, fails=fails, machine=True, prepare=prepare
    )


def on(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    return Scenario(function, args, plans=plans, fails=fails, machine=True, prepare=prepare)


SCENARIOS = [
    managed(
        type="eth",
        proto="dhcp",
        hostname="web",
        metric=5,
        mtu=1400,
        hwaddr="02:00:00:00:00:01",
        hotplug=True,
    ),
    managed(
        OLD,
        ipaddr="10.1.0.7",
        ipaddrs=["10.1.0.8/24"],
        dns=["10.1.0.2"],
        search="example.org",
        **FOUR,
        **WORDS,
    ),
    managed(OLD, plans=False, enabled=True, proto="dhcp", hostname="a"),
    managed(OLD, enabled=False, proto="none"),
    managed(
        ipv6ipaddr="2001:db8::3",
        ipv6proto="static",
        enable_ipv4=False,
        autoconf=False,
        privext=2,
        **SIX,
    ),
    managed(enable_ipv6=True, **{"dad-attempts": 3}),
    managed(type="slave", master="bond0", speed=1000, autoneg=False),
    managed(type="bond", fails="Option: mode, Expected: [0|1|2", **{**BOND, "mode": "fast"}),
    managed(type="pppoe", proto="ppp", provider="dsl"),
    managed(type="source", source="/etc/network/interfaces.d/*"),
    managed(FILES + "echo 'source eth7' >> /etc/network/interfaces", plans=False, type="source"),
    managed(proto="static", fails="is static and has no address"),
    managed("rm -rf /etc/network", fails="/etc/network cannot be written"),
    on(
        "network.routes",
        FILES,
        name="eth7",
        routes=[ROUTE, {"ipaddr": "default", "gateway": "10.1.0.1"}],
    ),
    on(
        "network.routes",
        SCRIPTS,
        name="eth7",
        routes=[{**ROUTE, "netmask": None, "ipaddr": "10.3.0.0/16"}],
    ),
    on("network.routes", SCRIPTS, name="eth7", noifupdown=True),
    on("network.routes", SCRIPTS, name="eth7", require_reboot=True),
    on("network.routes", FILES, plans=False, name="eth7", routes=[]),
    on(
        "network.routes",
        FILES,
        name="eth7",
        routes=[{"ipaddr": "nowhere"}],
        fails="the route 'nowhere' is none",
    ),
    on("network.routes", FILES, name="eth7", routes=[{"ip": "::"}], fails="a route has no 'ip'"),
    on(
        "network.system",
        name="x",
        hostname="web1.example.com",
        apply_hostname=True,
        retain_settings=True,
    ),
    on(
        "network.system",
        "echo web1 > /etc/hostname",
        plans=False,
        name="x",
        hostname="web1",
        require_reboot=True,
    ),
    on(
        "network.system",
        name="x",
        enabled=False,
        domain="example.org",
        search=["example.org", "example.net"],
    ),
    on(
        "network.system",
        plans=False,
        name="x",
        gateway="10.1.0.1",
        gatewaydev="eth0",
        nozeroconf=True,
        nisdomain="x",
    ),
]
