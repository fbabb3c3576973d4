# SPDX-License-Identifier: Apache-2.0
"""ifupdown (Debian): stanzas of /etc/network/interfaces, and scripts for routes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from modules import _paths, cmd, file
from modules._texts.lines import one_line, plain_name, split
from modules.ip import configuration as tools
from modules.ip.configuration import Action, Family, Interface, Route, Texts
from runner.api import Record, StateFailed, changer, fetcher, here

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


NAMES: tuple[str, ...] = ("ifupdown", "debian_ip")
FEATURES = ("commands", "peers", "sources")

FILE = "/etc/network/interfaces"
STATE = "/run/network/ifstate"
SCRIPTS = {"up": "/etc/network/if-up.d/route-{}", "down": "/etc/network/if-down.d/route-{}"}
_OTHERS = tuple("source source-directory no-auto-down no-scripts rename template mapping".split())


NEEDED = {"bridge": "bridge-utils", "bond": "ifenslave"}


def suits() -> bool:
    """True: ifupdown is asked when this machine has no other tool."""
    return True


def packages(kind: str) -> list[str]:
    """The packages without which ifup cannot bring a kind of interface up."""
    return [NEEDED[kind]] if kind in NEEDED else []


class Block(Record):
    """Lines that belong together. kind: auto, allow-hotplug, iface, ...; empty for comments
    between. names: whose.
    """

    kind: str
    names: tuple[str, ...]
    lines: tuple[str, ...]


def text() -> str:
    """The file; empty where there is none."""
    return file.text_to_edit(FILE)


def blocks(content: str) -> list[Block]:
    """The file in its parts; together they are all of its lines."""
    parts: list[Block] = []
    idle: list[
        str
    ] = []  # comments and empty lines, of which it is not known yet what they belong to
    for line in _whole_lines(content):
        words = line.split()
        if not words or words[0].startswith("#"):
            idle.append(line)
        elif words[0] in ("auto", "iface", *_OTHERS) or words[0].startswith("allow-"):
            parts += [Block("", (), tuple(idle))] if idle else []
            names = words[1:2] if words[0] == "iface" else words[1:]
            parts.append(Block(words[0], tuple(names), (line,)))
            idle = []
        else:
            last = parts.pop() if parts else Block("", (), ())
            parts.append(last._replace(lines=(*last.lines, *idle, line)))
            idle = []
    return [*parts, Block("", (), tuple(idle))] if idle else parts


def _whole_lines(content: str) -> Iterator[str]:
    """The lines; what a backslash continues is one."""
    begun = ""
    for line in split(content):
        if line.endswith("\\"):
            begun += f"{line}\n"
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun.removesuffix("\n")


def _starters(kind: str) -> bool:
    return kind == "auto" or kind.startswith("allow-")


def interface_now(iface: str) -> list[str]:
    """The lines of an interface, in one form: single spaces, options behind four."""
    return _lines_in(text(), iface)


def _lines_in(content: str, iface: str) -> list[str]:
    shown: list[str] = []
    for block in blocks(content):
        if iface not in block.names:
            continue
        if _starters(block.kind):
            shown.append(f"{block.kind} {iface}")
        elif block.kind == "iface":
            stanza = [
                " ".join(line.split()) for line in block.lines if line.strip()[:1] not in ("", "#")
            ]
            shown += [stanza[0], *(f"    {line}" for line in stanza[1:])]
    return shown


def with_interface(content: str, iface: str, lines: Sequence[str]) -> str:
    """The file with other lines for an interface, in the place of the old ones; everything else
    stays as it is.
    """
    result: list[str] = []
    place: int | None = None
    for block in blocks(content):
        mine = iface in block.names and (block.kind == "iface" or _starters(block.kind))
        if not mine:
            result += block.lines
            continue
        others = [name for name in block.names if name != iface]
        result += [f"{block.kind} {' '.join(others)}"] if others else []
        place = len(result) if place is None else place
    if place is None:
        place = len(result)
    return "".join(f"{line}\n" for line in [*result[:place], *lines, *result[place:]])


def present(name: str) -> Texts:
    """Return the stanzas of an interface."""
    if not _paths.isdir(os.path.dirname(FILE)):
        raise StateFailed(
            "/etc/network cannot be written: there is no ifupdown here (the package of this name),"
            " and none of netplan, NetworkManager, systemd-networkd and ifcfg files",
            missing=[("pkg", "ifupdown"), ("file", os.path.dirname(FILE))],
        )
    return {FILE: "".join(f"{line}\n" for line in interface_now(name))}


def texts(interface: Interface) -> Texts:
    """Return the stanzas of an interface as they should be. Raises StateFailed for what ifupdown
    would read as something else.
    """
    name = interface.name
    given = [one_line(line, f"the lines of {name}") for line in interface_lines(interface)]
    lines = [("    " if line[:1] == " " else "") + " ".join(line.split()) for line in given]
    content = "".join(f"{line}\n" for line in lines)
    if lines != _lines_in(content, name) or content.endswith("\\\n"):
        odd = next((line for line in lines if line.endswith("\\")), content).strip()
        raise StateFailed(
            f"the lines of {name} cannot be written: `{odd}` would be read otherwise (a"
            " backslash at its end joins the next line, and its first word may begin a stanza)"
        )
    return {FILE: content}


@fetcher
def verify(name: str, old: Texts, new: Texts) -> None:
    """Have ifquery read the new stanzas. Raises StateFailed for what it refuses."""
    if FILE not in new or not _program("ifquery"):
        return
    done = cmd.probe(["ifquery", f"--interfaces={_copy(new[FILE])}", "--list", "--all"])
    if done.retcode:
        raise StateFailed(f"ifupdown refuses the stanzas of {name}: {done.stderr.strip()}")


def _copy(content: str) -> str:
    """The path of a copy of stanzas that ifup and its friends can be told to read."""
    path = f"{here.scratch()}/interfaces"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(content)
    return path


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the stanzas or scripts of an interface, then bring it up or down; what was up goes down
    as it had come up. Raises StateFailed when ifup or ifdown fails.
    """
    if FILE not in new:
        _configure_routes(name, old, new, action)
        return
    before = _copy(text())
    if new != old:
        _put_interface(name, new[FILE])
    if action in ("down", "restart"):
        _act("ifdown", name, before)
    if action in ("up", "restart"):
        _act("ifup", name, FILE)


def _put_interface(iface: str, lines: str) -> None:
    content = with_interface(text(), plain_name(iface, "the name of the interface"), split(lines))
    file.write(
        FILE,
        content.encode("utf-8", "surrogateescape"),
        mode=None if file.is_file(FILE) else "0644",
    )


def _configure_routes(name: str, old: Texts, new: Texts, action: Action) -> None:
    if action == "routes" and SCRIPTS["down"].format(name) in old:
        _run_script(name, "down")
    tools.put(old, new, "0755")
    if action == "routes" and new:
        _run_script(name, "up")


def _run_script(iface: str, way: str) -> None:
    done = cmd.execute([SCRIPTS[way].format(iface)], env={"IFACE": iface})
    if done.retcode:
        raise StateFailed(f"the routes of {iface} cannot be set: {done.error_text}")


def has_source(pattern: str) -> bool:
    """Return whether the file takes in others by this pattern."""
    return any(block.kind == "source" and block.names == (pattern,) for block in blocks(text()))


@changer(touches=["files"], planned=True)
def put_source(pattern: str) -> None:
    """Take in other files by a pattern."""
    content = text()
    gap = "" if not content or content.endswith("\n") else "\n"
    file.write(
        FILE,
        f"{content}{gap}source {one_line(pattern, 'the pattern of files')}\n".encode(
            "utf-8", "surrogateescape"
        ),
    )


def is_up(name: str) -> bool:
    """Return whether ifup has brought an interface up."""
    if not file.is_file(STATE):
        return False
    lines = file.read_bytes(STATE).decode("utf-8", "replace").split()
    return any(line.partition("=")[0] == name for line in lines)


def _program(name: str) -> bool:
    return any(_paths.access(f"{folder}/{name}", os.X_OK) for folder in ("/sbin", "/usr/sbin"))


def _act(program: str, iface: str, interfaces: str) -> None:
    if not _program(program):
        raise StateFailed(
            f"{program} is missing: it comes with the package ifupdown", missing=("pkg", "ifupdown")
        )
    name = plain_name(iface, "the name of the interface")
    done = cmd.execute([program, f"--interfaces={interfaces}", "--", name])
    if done.retcode:
        raise StateFailed(f"{program} {iface} failed: {done.error_text}")


def present_routes(name: str) -> Texts:
    """Return the scripts that set and remove the routes of an interface."""
    return tools.texts_of(path.format(name) for path in SCRIPTS.values())


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the scripts as they should be; none for no routes."""
    wanted = [(route.name, _words(route)) for route in routes]
    verbs = {"up": "add", "down": "del"} if wanted else {}
    return {SCRIPTS[way].format(name): script(name, verb, wanted) for way, verb in verbs.items()}


def _words(route: Route) -> str:
    """The words of ip(8) for a route, less the interface."""
    via = f" via {route.gateway}" if route.gateway else ""
    return f"{route.target}{via}" + (f" metric {route.metric}" if route.metric else "")


def script(iface: str, verb: str, routes: Iterable[tuple[str, str]]) -> str:
    """A script for routes. verb: add or del; routes: their names and the words for ip(8).

    It is run for each family of addresses, so a route that already exists, or is gone, is fine.
    """
    lines = ["#!/bin/sh", f"# {verb}", f'test "${{IFACE}}" = "{iface}" || exit 0']
    act, end = ("replace", "") if verb == "add" else ("del", " 2>/dev/null || true")
    for name, words in routes:
        one_line(f"{name}{words}", f"the route {name!r}")
        lines += [f"# {name}", f"ip route {act} {words} dev {iface}{end}"]
    return "".join(f"{line}\n" for line in lines)
