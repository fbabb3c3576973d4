# SPDX-License-Identifier: Apache-2.0
"""The stanzas of an interface, in the words of interfaces(5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules.ip import configuration as tools
from modules.ip.configuration import Family, Interface
from runner.api import here

CARD = {
    "autoneg": "ethernet-autoneg",
    "duplex": "link-duplex",
    "port": "ethernet-port",
    "speed": "link-speed",
    "wol": "ethernet-wol",
    **{key: f"offload-{key}" for key in tools.OFFLOADS},
}


COMMANDS = {
    "up_cmds": "up",
    "down_cmds": "down",
    "pre_up_cmds": "pre-up",
    "post_up_cmds": "post-up",
    "pre_down_cmds": "pre-down",
    "post_down_cmds": "post-down",
}
WRITTEN = {
    "slaves",
    "ports",
    "vlan-raw-device",
}  # what is derived from them, and written all the same


def interface_lines(interface: Interface) -> list[str]:
    """Return all lines of an interface."""
    own = {*COMMANDS, "provider"} | (tools.DERIVED - WRITTEN)
    options = {key: value for key, value in interface.options.items() if key not in own}
    more = option_lines(interface.name, interface.kind, options)
    more += format_options({COMMANDS[key]: interface.options.get(key) for key in COMMANDS})
    parent = None if "vlan-raw-device" in options else interface.parent
    four = {"vlan-raw-device": parent or None, **_family_lines(interface.four)}
    four |= {
        "metric": interface.metric,
        "mtu": interface.mtu,
        "hwaddress": interface.hwaddr or interface.macaddr or None,
        "hostname": interface.hostname or None,
        "provider": interface.options.get("provider"),
        "bond-master": interface.master or None,
    }
    options_by_family = {"inet": four, "inet6": _family_lines(interface.six)}
    families = {
        word: (family.method, options_by_family[word])
        for word, family in (("inet", interface.four), ("inet6", interface.six))
        if family is not None
    }
    starts = ["auto"] * interface.enabled + ["allow-hotplug"] * interface.hotplug
    names = {
        "dns-nameservers": " ".join(interface.dns) or None,
        "dns-search": " ".join(interface.search) or None,
    }
    return stanzas(interface.name, starts, families, names, more)


def _family_lines(family: Family | None) -> dict[str, Any]:
    """The options of a family; the method is behind its name."""
    if family is None:
        return {}
    return {
        "address": list(family.addresses),
        "netmask": family.netmask or None,
        "broadcast": None,  # its place
        "gateway": family.gateway or None,
        **family.settings,
    }


def option_lines(name: str, kind: str, options: Mapping[str, Any]) -> list[str]:
    """Lines for the options of cards, bonds and bridges, and for those that are written as
    interfaces(5) has them.
    """
    lines: dict[str, list[str]] = {}
    for key, value in options.items():
        option = _option(key, kind)
        if option is None:
            here.warn(
                f"{key} is not an option of an interface of type {kind} on a Debian; it is ignored"
            )
            continue
        lines.setdefault(option, []).extend(_values(name, option, value))
    return [f"{option} {value}" for option in sorted(lines) for value in lines[option]]


def _option(key: str, kind: str) -> str | None:
    if kind == "bond" and key in tools.BOND_OPTIONS:
        return f"bond-{key}"
    if kind == "bridge" and key in tools.BRIDGE_OPTIONS:
        return f"bridge_{key}"
    return CARD.get(key) or (key if "-" in key or key.startswith("bridge_") else None)


def _values(name: str, option: str, value: Any) -> list[str]:
    """The values behind an option, on one line or several."""
    if isinstance(value, bool):
        return ["on" if value else "off"]
    values = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if option == "bond-mode":
        values = [str(tools.BOND_MODES.index(tools.bond_mode(name, item))) for item in values]
    return [" ".join(values)] if option.startswith(("bond-", "bridge_", "dns-")) else values


def stanzas(
    name: str,
    starts: Sequence[str],
    families: Mapping[str, tuple[str, Mapping[str, Any]]],
    names: Mapping[str, Any],
    more: Sequence[str],
) -> list[str]:
    """All lines of an interface. families: inet and inet6 with method and options; more: lines of
    the first of them.
    """
    lines = [f"{word} {name}" for word in starts]
    for family, (method, options) in families.items():
        option_texts = [*format_options(options), *format_options(names), *more]
        lines += [f"iface {name} {family} {method}", *(f"    {option}" for option in option_texts)]
        more = ()
    return lines


def format_options(pairs: Mapping[str, Any]) -> Iterator[str]:
    """Lines for what is given; a list gives a line each."""
    for option, value in pairs.items():
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                yield f"{option} {int(item) if isinstance(item, bool) else item}"
