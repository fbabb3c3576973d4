# SPDX-License-Identifier: Apache-2.0
"""Interfaces, by the tool that configures this machine's network."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from modules import file, ip, pkg
from modules.ip import ifupdown
from modules.ip.configuration import Action, Interface, NetworkTool, Texts
from runner.api import (
    Check,
    Column,
    Group,
    Line,
    Named,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    WordsLine,
    line_problem,
    requires_feature,
)
from runner.api.offline import at_boot, offline_as
from states.file._diff import unified
from states.network._interface import Wanted, build, is_known

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


Option = Annotated[Any, Check(_is_option), Named(is_known)]
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
    interface = build(name, type_, how, extra)
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
        raise StateFailed(failure.message, missing=facts or failure.missing) from None


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
