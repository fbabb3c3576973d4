# SPDX-License-Identifier: Apache-2.0
"""The network: the machine's name, interfaces, routes."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from modules import file, ip, network, pkg
from modules.ip import ifupdown
from modules.ip.configuration import Action, Interface, NetworkTool, Route, Texts
from runner.api import (
    Check,
    Column,
    Group,
    Line,
    Name,
    Named,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    WordsLine,
    here,
    line_problem,
    requires_feature,
    split_lines,
)
from runner.api.kinds import comes_after
from runner.api.offline import at_boot, is_offline, offline_as, offline_with
from states.file._diff import unified
from states.network import _interface
from states.network._arguments import Address, Hostname
from states.network._interface import Wanted

DECIDES = {"managed": "type proto ipaddr gateway", "system": "* hostname gateway"}

Commands = Annotated[OneOrMany[WordsLine] | None, requires_feature("commands")]


def _is_option(value: Any) -> str | None:
    if isinstance(value, dict):
        return "expected a value or a list of them"
    return next(
        (
            problem
            for item in (value if isinstance(value, list) else [value])
            if (problem := line_problem(str(item)))
        ),
        None,
    )


Option = Annotated[Any, Check(_is_option), Named(_interface.is_known)]
Type = Literal[
    "eth", "bond", "bridge", "vlan", "slave", "alias", "clone", "ipsec", "dialup", "pppoe", "source"
]

STATUS = {
    "up": "Interface {} is up",
    "restart": "Interface {} restart to validate",
    "down": "Interface {} down",
}


class UpAndDown(Record):
    """Commands that ifupdown runs.

    up_cmds: Commands that ifupdown runs when it brings it up.
    down_cmds: Commands that ifupdown runs when it takes it down.
    pre_up_cmds: Commands that ifupdown runs before it brings it up.
    post_up_cmds: Commands that ifupdown runs after it has brought it up.
    pre_down_cmds: Commands that ifupdown runs before it takes it down.
    post_down_cmds: Commands that ifupdown runs after it has taken it down.
    """

    up_cmds: Commands = None
    down_cmds: Commands = None
    pre_up_cmds: Commands = None
    post_up_cmds: Commands = None
    pre_down_cmds: Commands = None
    post_down_cmds: Commands = None


def _brought_up(name: str, type_: str = "eth", how: Wanted = Wanted(), **_: object) -> str:
    comes = how.enabled and type_ not in ("source", "slave")
    return f"Interface {name} is brought up at boot" if comes else ""


@file.validated
@at_boot(_brought_up)
def managed(
    name: Column,
    type_: Type = "eth",
    provider: Line | None = None,
    source: Annotated[Line | None, requires_feature("sources")] = None,
    noifupdown: bool = False,
    how: Annotated[Wanted, Group()] = Wanted(),
    commands: Annotated[UpAndDown, Group()] = UpAndDown(),
    **options: Option,
) -> Planned:
    """Make sure that an interface is configured, and up.

    The tool is the one that this machine uses: netplan where /etc/netplan has files, NetworkManager
    where it runs, systemd-networkd where it is enabled, ifcfg files of the Red Hat and SUSE
    families, else ifupdown; `provider` names another one (netplan, networkmanager, networkd, ifcfg,
    ifcfg_suse, ifupdown).

    Any other argument is an option of cards (speed, duplex, autoneg, wol, rx, tx, tso, ...), bonds
    (mode, slaves, primary, miimon, ...), bridges (ports, stp, fd, ...) and VLANs (vlan_id, parent),
    any option of interfaces(5) that has a hyphen, and those of ifcfg files (zone, peerdns,
    defroute, bridge, nm_controlled, ...). What a tool cannot express fails, with what to write.

    name: The interface.
    type: What it is, such as `eth`, `bond`, `bridge`, `vlan`, `pppoe`; `source` has ifupdown take
      in other files.
    provider: The tool, instead of the one that this machine uses; for type pppoe the file of
      /etc/ppp/peers.
    source: The files that ifupdown takes in, for type `source`; without it `name`.
    noifupdown: Write the files alone.

        eth0:
          network.managed:
            - type: eth
            - proto: static
            - ipaddr: 10.1.0.7
            - netmask: 255.255.255.0
            - gateway: 10.1.0.1
            - dns: [10.1.0.2, 10.1.0.3]
        br0:
          network.managed:
            - type: bridge
            - proto: dhcp
            - ports: eth1 eth2

    Behaviour: Salt 3008's network.managed; what others wrote for other interfaces stays as it is.
    """
    tool = ip.peers_or_provider(provider) if type_ == "pppoe" else ip.provider()
    if type_ == "source":
        return (yield from _sourced(name, source or name, tool))
    extra = {key: value for key, value in options.items() if value is not None}
    extra |= {key: value for key, value in commands._asdict().items() if value is not None}
    if type_ == "pppoe" and provider and provider not in tool.NAMES:
        extra["provider"] = provider
    interface = _interface.build(name, type_, how, extra)
    return (yield from _configure(tool, interface, noifupdown))


def _configure(tool: NetworkTool, interface: Interface, quiet: bool) -> Planned:
    """Write the files of an interface, and bring it up or down."""
    name = interface.name
    old, wanted = tool.present(name), tool.texts(interface)
    differs = old != wanted
    missing = [
        package for package in tool.packages(interface.kind) if not pkg.is_installed(package)
    ]
    changes: dict[str, Any] = {"packages": missing} if missing else {}
    is_new = not any(old.values())
    difference = unified(*("".join(texts.values()).encode() for texts in (old, wanted)))
    if differs:
        changes["interface"] = "Added network interface." if is_new else difference
    action = "" if quiet else _action(interface, tool.is_up(name), differs)
    status = STATUS.get(action, "").format(name)
    if status:
        changes["status"] = status
    if not changes:
        return f"Interface {name} is up to date."
    if differs:
        _verify(tool, interface, old, wanted)
    yield Plan(
        changes,
        f"Interface {name} {_description(status, differs, '' if is_new else difference)}",
        provides=[("network", name)],
    )
    if missing:
        pkg.install(pkgs=missing)
    tool.configure(name, old, wanted, action)
    return (
        f"Interface {name} {'is up to date' if not differs else 'added' if is_new else 'updated'}."
    )


def _verify(tool: NetworkTool, interface: Interface, old: Texts, wanted: Texts) -> None:
    """Have the tool read the files. Raises StateFailed for what it refuses, unless it speaks of an
    interface that another state is to configure.
    """
    try:
        tool.verify(interface.name, old, wanted)
    except StateFailed as failure:
        facts = [("network", other) for other in interface.others()]
        raise StateFailed(failure.message, missing=[*facts, *failure.missing]) from None


@offline_as(lambda interface, was_up, differs: "")  # the next start does
def _action(interface: Interface, was_up: bool, differs: bool) -> Action:
    """Return what is done about a running interface: a member of a bond comes up with that."""
    if interface.kind == "slave":
        return "reload" if differs else ""
    if interface.enabled and not was_up:
        return "up"
    if interface.enabled and differs:
        return "restart"
    return "down" if was_up and not interface.enabled else ""


def _description(status: str, differs: bool, difference: str) -> str:
    if not differs:
        return f"is set to be {status.split()[-1]}." if status else "is up to date."
    return f"is set to be updated:\n{difference}" if difference else "is set to be added."


def _sourced(name: str, pattern: str, tool: NetworkTool) -> Planned:
    if not tool.has("sources"):
        raise StateFailed(
            f"{tool.NAMES[0]} has no files that take in others: leave type source out"
        )
    ifupdown.present(name)
    if ifupdown.has_source(pattern):
        return f"Interface {name} is up to date."
    yield Plan(
        {"interface": "Added network interface."},
        f"Interface {name} is set to be added.",
        provides=[("network", name)],
    )
    ifupdown.put_source(pattern)
    return f"Interface {name} added."


DEFAULTS = "/etc/default/networking"
SWITCH = "CONFIGURE_INTERFACES"
RESOLVER = "/etc/resolv.conf"


@file.validated
@at_boot(lambda name, hostname=None, **_: f"The name is {hostname} at boot" if hostname else "")
@offline_with(apply_hostname=False)
def system(
    name: Name,
    enabled: bool = True,
    hostname: Hostname | None = None,
    apply_hostname: bool = False,
    domain: Line | None = None,
    search: OneOrMany[Line] | None = None,
    retain_settings: bool = False,
    require_reboot: bool = False,
    gateway: Address | None = None,
    gatewaydev: Line | None = None,
    nozeroconf: bool | None = None,
    nisdomain: Line | None = None,
) -> Planned:
    """Make sure of the machine's name, and of other settings of its network.

    The tool that is used is chosen as by network.managed.

    name: Names the state.
    enabled: Whether ifupdown, or with ifcfg files the system, configures interfaces.
    hostname: The name that the machine starts with (/etc/hostname, and 127.0.1.1 in /etc/hosts).
    apply_hostname: Give the machine the hostname at once, too.
    domain: The domain that names are looked up in (/etc/resolv.conf; a link there belongs to
      another program and is left alone).
    search: The domains that names are looked up in, instead of domain.
    retain_settings: Leave what is not given as it is; elsewhere than with ifcfg files it does
      anyway.
    require_reboot: ignored; what needs a restart of the machine is written in any case.
    gateway: The router, in /etc/sysconfig/network; only with ifcfg files.
    gatewaydev: The interface of the router; only with ifcfg files.
    nozeroconf: Whether there is no route to 169.254.0.0/16; only with ifcfg files.
    nisdomain: The NIS domain; only with ifcfg files.

        the name:
          network.system:
            - hostname: web1.example.com
            - apply_hostname: True

    Behaviour: Salt 3008's network.system, whose hostname without apply_hostname changes nothing on
    a Debian.
    """
    unsupported = {
        "gateway": gateway,
        "gatewaydev": gatewaydev,
        "nozeroconf": nozeroconf,
        "nisdomain": nisdomain,
    }
    tool = ip.provider()
    if tool.has("global_settings"):
        given = {"enabled": enabled, "hostname": hostname, **unsupported}
        return (yield from _shared_settings(tool, given, retain_settings, apply_hostname))
    if not enabled and not tool.has("commands"):
        raise StateFailed(
            f"{tool.NAMES[0]} has no switch for all interfaces: disable its service with"
            " service.dead, or an interface with network.managed"
        )
    for key in (key for key, value in unsupported.items() if value is not None):
        here.warn(
            f"{key} is for /etc/sysconfig of Red Hat; elsewhere an interface has its own"
            " (network.managed)"
        )
    resolves = not file.is_link(RESOLVER)
    wanted = {"NETWORKING": "yes" if enabled else "no", "HOSTNAME": hostname}
    wanted |= {"DOMAIN": domain, "SEARCH": " ".join(search) if search else None} if resolves else {}
    now = _present_settings()
    new = {key: wanted.get(key) or value for key, value in now.items()}
    runs = hostname is None or not apply_hostname or network.get_hostname() == hostname
    if new == now and runs:
        return "Global network settings are up to date."
    difference = unified(_lines(now), _lines(new)) or f"-{network.get_hostname()}\n+{hostname}\n"
    yield Plan(
        {"network_settings": difference},
        f"Global network settings are set to be updated:\n{difference}",
    )
    if new["NETWORKING"] != now["NETWORKING"]:
        _put_line(DEFAULTS, re.compile(rf"\s*{SWITCH}\s*="), f"{SWITCH}={new['NETWORKING']}")
    for key, word in (("DOMAIN", "domain"), ("SEARCH", "search")):
        if new[key] != now[key]:
            _put_line(RESOLVER, re.compile(rf"\s*{word}\s"), f"{word} {new[key]}")
    if hostname and new["HOSTNAME"] != now["HOSTNAME"]:
        network.keep_hostname(hostname)
    if hostname and not runs:
        network.mod_hostname(hostname)
    return "Global network settings are up to date."


def _shared_settings(
    tool: NetworkTool, given: dict[str, Any], retain: bool, apply_hostname: bool
) -> Planned:
    """Write the file with the settings of all interfaces, and give the machine its name."""
    hostname = given["hostname"]
    old, new = tool.present_settings(), tool.settings_texts(given, retain)
    renames = bool(hostname and apply_hostname and network.get_hostname() != hostname)
    if old == new and not renames:
        return "Global network settings are up to date."
    difference = unified(*("".join(texts.values()).encode() for texts in (old, new)))
    difference = difference or f"-{network.get_hostname()}\n+{hostname}\n"
    yield Plan(
        {"network_settings": difference},
        f"Global network settings are set to be updated:\n{difference}",
    )
    tool.configure("", old, new, "")
    if renames:
        network.mod_hostname(hostname)
    return "Global network settings are up to date."


def _present_settings() -> dict[str, str]:
    """The present settings."""
    switch = (
        "yes"
        if not file.is_file(DEFAULTS)
        else _last_match(DEFAULTS, rf"^\s*{SWITCH}\s*=\s*[\"']?(\w+)")
    )
    return {
        "NETWORKING": "no" if switch == "no" else "yes",
        "HOSTNAME": network.kept_hostname(),
        "DOMAIN": _last_match(RESOLVER, r"^\s*domain\s+(\S+)"),
        "SEARCH": " ".join(_last_match(RESOLVER, r"^\s*search\s+(.+)$").split()),
    }


def _last_match(path: str, pattern: str) -> str:
    matches = re.findall(pattern, file.text_to_edit(path), re.MULTILINE)
    return str(matches[-1]) if matches else ""


def _lines(settings: dict[str, str]) -> bytes:
    return "".join(f"{key}={value}\n" for key, value in settings.items() if value).encode()


def _put_line(path: str, old: re.Pattern[str], line: str) -> None:
    """Write one line in the place of the old one; the others stay."""
    lines = split_lines(file.text_to_edit(path))
    places = [number for number, line_text in enumerate(lines) if old.match(line_text)]
    if places:
        lines[places[-1]] = line
    else:
        lines.append(line)
    data = "".join(f"{line_text}\n" for line_text in lines).encode("utf-8", "surrogateescape")
    file.write(path, data, mode=None if file.is_file(path) else "0644")


KEYS = ("name", "ipaddr", "netmask", "gateway", "metric")


@file.validated
def routes(
    name: Name,
    routes: OneOrMany[dict[Line, Line | int | float | bool | None]] | None = None,
    noifupdown: bool = False,
    require_reboot: bool = False,
) -> Planned:
    """Make sure that an interface has routes while it is up.

    The tool that is used is chosen as by network.managed; `provider` names another one.

    name: The interface.
    routes: The routes, each with ipaddr (an address or `default`), netmask (or a length in ipaddr),
      gateway, metric and a name; without any they go.
    noifupdown: Leave the routes of an interface that is up alone until it comes up again.
    require_reboot: The same as noifupdown.

        eth0:
          network.routes:
            - routes:
              - name: office
                ipaddr: 10.2.0.0
                netmask: 255.255.255.0
                gateway: 10.1.0.3
    """
    tool = ip.provider()
    old = tool.present_routes(name)
    new = tool.route_texts(name, [_route(name, route) for route in routes or []])
    if old == new:
        return f"Interface {name} routes are up to date."
    word = "added" if not old else "updated" if new else "removed"
    difference = unified(*("".join(texts.values()).encode() for texts in (old, new)))
    shown = f"Added interface {name} routes." if word == "added" else difference
    comment = f"Interface {name} routes are set to be {word}"
    tool.verify(name, old, new)
    yield Plan(
        {"network_routes": shown}, f"{comment}." if word == "added" else f"{comment}:\n{difference}"
    )
    acts = not is_offline() and tool.is_up(name) and not noifupdown and not require_reboot
    tool.configure(name, old, new, "routes" if acts else "")
    return f"Interface {name} routes {word}."


def _route(iface: str, route: dict[str, Any]) -> Route:
    unknown = sorted(set(route) - set(KEYS))
    if unknown:
        raise StateFailed(
            f"Interface {iface}: a route has no {unknown[0]!r}; it has {', '.join(KEYS)}"
        )
    target, mask = str(route.get("ipaddr", "")), route.get("netmask")
    try:
        if target != "default":
            target = str(
                ipaddress.ip_network(target if mask is None else f"{target}/{mask}", strict=False)
            )
        gateway = str(ipaddress.ip_address(str(route["gateway"]))) if route.get("gateway") else ""
        metric = str(int(route["metric"])) if route.get("metric") is not None else ""
    except ValueError as error:
        raise StateFailed(
            f"Interface {iface}: the route {route.get('name', target)!r} is none: {error}"
        ) from None
    return Route(str(route.get("name", "route")), target, gateway, metric)


PROVIDERS = ip.PROVIDERS
PACKAGES = ("ifupdown", "netplan.io", "network-manager", "NetworkManager", "systemd-networkd")


autorequire = comes_after(
    "An interface comes after the package of the tool that configures it.",
    *(("pkg", package) for package in PACKAGES),
)
