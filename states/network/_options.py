"""The stanzas of an interface from the arguments of its state, in the words of interfaces(5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.api import StateFailed, here

MODES = (
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
)
BOND = {
    *(
        "ad_select",
        "arp_interval",
        "arp_ip_target",
        "downdelay",
        "lacp_rate",
        "miimon",
        "mode",
        "primary",
        "slaves",
    ),
    *("updelay", "use_carrier", "xmit_hash_policy"),
}
BRIDGE = {
    *(
        "ageing",
        "bridgeprio",
        "fd",
        "gcint",
        "hello",
        "hw",
        "maxage",
        "maxwait",
        "pathcost",
        "portprio",
        "ports",
    ),
    *("stp", "waitport"),
}
CARD = {
    **{
        "autoneg": "ethernet-autoneg",
        "duplex": "link-duplex",
        "port": "ethernet-port",
        "speed": "link-speed",
    },
    **{"wol": "ethernet-wol"},
    **{key: f"offload-{key}" for key in ("gro", "gso", "lro", "rx", "sg", "tso", "tx", "ufo")},
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


def is_known(key: str) -> bool:
    """Return whether interfaces of some type have an option."""
    return any(_option(key, kind) for kind in ("eth", "bond", "bridge"))


def _option(key: str, kind: str) -> str | None:
    if kind == "bond" and key in BOND:
        return f"bond-{key}"
    if kind == "bridge" and key in BRIDGE:
        return f"bridge_{key}"
    return CARD.get(key) or (key if "-" in key or key.startswith("bridge_") else None)


def _values(name: str, option: str, value: Any) -> list[str]:
    """The values behind an option, on one line or several."""
    if isinstance(value, bool):
        return ["on" if value else "off"]
    values = [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if option == "bond-mode":
        values = [_bond_mode(name, item) for item in values]
    return [" ".join(values)] if option.startswith(("bond-", "bridge_", "dns-")) else values


def _bond_mode(name: str, mode: str) -> str:
    if mode in MODES:
        return str(MODES.index(mode))
    if not mode.isdigit() or int(mode) >= len(MODES):
        numbers = "|".join(map(str, range(len(MODES))))
        expected = f"{numbers}|{'|'.join(MODES)}"
        raise StateFailed(
            f"Invalid option -- Interface: {name}, Option: mode, Expected: [{expected}]"
        )
    return mode


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
