# SPDX-License-Identifier: Apache-2.0
"""How the network is tried: on copies of this computer; tests/machine/test_network.py has a real
ifupdown, test_network_tools.py the other tools.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario, on_machine

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
STATIC = {"ipaddr": "10.1.0.7", "netmask": "255.255.255.0"}
NAMES = {"dns": ["10.1.0.2", "2001:db8::1"], "search": "example.org"}
BOND = {"slaves": ["eth0", "eth1"], "mode": "802.3ad"}


ETH7 = {"name": "eth7", "noifupdown": True}
on = on_machine()


def managed(prepare: str = FILES, **given: Any) -> Scenario:
    return on("network.managed", prepare, **{**ETH7, **given})


def with_tool(
    tool: str, prepare: str = "", function: str = "network.managed", **given: Any
) -> Scenario:
    """A scenario of a tool that the layer `networks` has, or that is recorded: it needs none."""
    return on(function, prepare, layer="networks", **{**ETH7, "provider": tool, **given})


SCENARIOS = [
    managed(name=" eth7 ", dns=" 10.1.0.2 ", search=" a.org  b.org ", zone=""),
    managed(hwaddr="02:00:00:00:00:01\\", fails="a backslash at its end joins the next line"),
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
        "network.routes name=eth7",
        FILES,
        routes=[ROUTE, {"ipaddr": "default", "gateway": "10.1.0.1"}],
    ),
    on(
        "network.routes name=eth7",
        SCRIPTS,
        routes=[{**ROUTE, "netmask": None, "ipaddr": "10.3.0.0/16"}],
    ),
    on("network.routes name=eth7 noifupdown=true", SCRIPTS),
    on("network.routes name=eth7 require_reboot=true", SCRIPTS),
    on("network.routes name=eth7 routes=[]", FILES, plans=False),
    on(
        "network.routes name=eth7 routes='[{ipaddr: nowhere}]'",
        FILES,
        fails="the route 'nowhere' is none",
    ),
    on("network.routes name=eth7", FILES, routes=[{"ip": "::"}], fails="a route has no 'ip'"),
    *(
        scenario
        for tool in ("netplan", "networkmanager", "networkd", "ifcfg")
        for scenario in (
            with_tool(tool, **STATIC, **dict(list(SIX.items())[:3]), **NAMES, mtu=1400),
            with_tool(tool, name="bond0", type="bond", proto="dhcp", miimon=100, **BOND),
        )
    ),
    with_tool("ifcfg_suse", name="br0", type="bridge", ports="eth0", gateway="10.1.0.1", **STATIC),
    with_tool(
        "netplan",
        "printf 'network: {version: 2, ethernets: {eth7: {dhcp4: true}}}' >"
        " /etc/netplan/50-cloud-init.yaml",
        fails="configures eth7, too, in braces",
    ),
    with_tool(
        "netplan",
        type="bond",
        primary="eth9",
        fails="netplan refuses /etc/netplan/90-salt-eth7.yaml",
    ),
    with_tool(
        "networkd",
        "mkdir -p /etc/systemd/network; printf '[Match]\\nName=eth*\\n' >"
        " /etc/systemd/network/05-all.network",
        fails="/05-all.network configures eth7, too",
    ),
    *(
        with_tool(tool, function="network.routes", routes=[ROUTE])
        for tool in ("ifcfg", "ifcfg_suse")
    ),
    with_tool(
        "networkd", function="network.routes", routes=[ROUTE], fails="is missing: the routes"
    ),
    Scenario(
        "network.system name=x provider=ifcfg hostname=web1.example.org gateway=10.1.0.1"
        " nozeroconf=true",
        machine=True,
    ),
    Scenario(
        "network.system name=x provider=networkd enabled=false",
        fails="has no switch for all interfaces",
        machine=True,
    ),
    on("network.system name=x hostname=web1.example.com apply_hostname=true retain_settings=true"),
    on(
        "network.system name=x hostname=web1 require_reboot=true",
        "echo web1 > /etc/hostname",
        plans=False,
    ),
    on("network.system name=x enabled=false domain=example.org search=[example.org,example.net]"),
    on(
        "network.system name=x gateway=10.1.0.1 gatewaydev=eth0 nozeroconf=true nisdomain=x",
        plans=False,
    ),
]
