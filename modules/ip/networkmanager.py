# SPDX-License-Identifier: Apache-2.0
"""NetworkManager: keyfiles of /etc/NetworkManager/system-connections."""

from __future__ import annotations

import glob
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules import _paths, cmd
from modules.ip import configuration as tools
from modules.ip.configuration import Action, Family, Interface, Route, Texts, flag, plain, words
from runner.api import StateFailed, changer, fetcher
from runner.api.offline import offline_as

NAMES: tuple[str, ...] = ("networkmanager", "nm", "nm_ip")
TOOL = "NetworkManager"
FOLDER = "/etc/NetworkManager/system-connections"
ENABLED = "/etc/systemd/system/*.wants/NetworkManager.service"
KINDS = {"eth": "ethernet", "slave": "ethernet", "bond": "bond", "bridge": "bridge", "vlan": "vlan"}
METHODS = ("static", "dhcp", "bootp", "manual", "ipv4ll")
METHODS_SIX = ("static", "dhcp", "manual", "auto")
BOND = tuple(
    """
    miimon updelay downdelay arp_interval arp_ip_target lacp_rate xmit_hash_policy ad_select primary
    use_carrier
    """.split()
)
OFFLOADS = ("gro", "gso", "lro", "rx", "sg", "tso", "tx")
CARD = {"autoneg", "speed", "duplex", "wol", *OFFLOADS}
WAKE = {  # Wake-on-LAN, by ethtool's letters and by NetworkManager's words
    "p": 2,
    "phy": 2,
    "u": 4,
    "unicast": 4,
    "m": 8,
    "multicast": 8,
    "b": 16,
    "broadcast": 16,
    "a": 32,
    "arp": 32,
    "g": 64,
    "magic": 64,
    "d": 32768,
    "ignore": 32768,
}
KNOWN = {
    "eth": tools.DERIVED | CARD,
    "slave": tools.DERIVED | CARD,
    "vlan": tools.DERIVED | {"vlan", "reorder_hdr"},
    "bond": tools.DERIVED | {"mode", *BOND},
    "bridge": tools.DERIVED | {"stp", *tools.BRIDGE_NAMES},
}
KNOWN = {kind: known | {"zone", "defroute", "peerdns"} for kind, known in KNOWN.items()}
ADVICE = "leave it out, or set it with nmcli in a cmd.run (nm-settings(5))"
MARKS = ";\\"  # a list's separator, and what begins a sequence, in a keyfile
Section = dict[str, str]
packages = tools.no_packages


@offline_as(lambda: bool(_paths.glob(ENABLED)))  # it starts at boot
def suits() -> bool:
    """Return whether NetworkManager runs."""
    if not _paths.isdir("/run/NetworkManager"):
        return False
    return cmd.probe(["nmcli", "-t", "-f", "RUNNING", "general"]).stdout.strip() == "running"


def own_file(name: str) -> str:
    """The keyfile of an interface."""
    return f"{FOLDER}/{name}.nmconnection"


def present(name: str) -> Texts:
    """Return the keyfiles of an interface and of its members."""
    tools.reject_name(name)
    members = f"{FOLDER}/{glob.escape(name)}-member-*.nmconnection"
    return tools.texts_of([own_file(name), *_paths.glob(members)])


def texts(interface: Interface) -> Texts:
    """Return the keyfiles of an interface as they should be. Routes of its keyfile stay."""
    name = interface.name
    tools.check(TOOL, interface, KNOWN, ADVICE)
    tools.reject_family(TOOL, interface.four, METHODS, ())
    tools.reject_family(TOOL, interface.six, METHODS_SIX, ("accept_ra", "autoconf", "privext"))
    now = tools.texts_of([own_file(name)]).get(own_file(name), "")
    made = {own_file(name): _with_routes(_render(_sections(interface, now)), _route_lines(now))}
    for member in interface.members:
        path = f"{FOLDER}/{name}-member-{member}.nmconnection"
        connection = _connection(f"{name}-member-{member}", "ethernet", member, path, "")
        connection |= {"autoconnect-priority": "-1"}  # a state of the member's own comes first
        connection |= {"master": name, "slave-type": interface.kind}
        made[path] = _render({"connection": connection})
    return dict(sorted(made.items()))


def _connection(name: str, kind: str, iface: str, path: str, now: str) -> Section:
    identity = re.search(r"^uuid=([0-9a-f-]{36})$", now, re.MULTILINE)
    return {
        "id": name,
        "uuid": identity[1] if identity else str(uuid.uuid5(uuid.NAMESPACE_URL, path)),
        "type": kind,
        "interface-name": iface,
    }


def _sections(interface: Interface, now: str) -> dict[str, Section]:
    name, kind = interface.name, KINDS[interface.kind]
    connection = _connection(name, kind, name, own_file(name), now)
    connection["autoconnect"] = "true" if interface.enabled else "false"
    if interface.master:
        connection |= {"master": interface.master, "slave-type": interface.master_kind}
    if interface.members:
        connection["autoconnect-slaves"] = "1"
    if "zone" in interface.options:
        connection["zone"] = plain(interface.options["zone"], "zone", MARKS)
    sections = {"connection": connection, "ethernet": dict(_ethernet(interface))}
    sections |= {"ethtool": _offloads(interface.options)}
    if interface.kind == "bond":
        sections["bond"] = dict(_bond(interface))
    if interface.kind == "bridge":
        sections["bridge"] = dict(_bridge(interface.options))
    if interface.kind == "vlan":
        flags = {} if flag(interface.options.get("reorder_hdr", True)) else {"flags": "0"}
        sections["vlan"] = {"id": str(interface.tag), "parent": interface.parent, **flags}
    if not interface.master:  # who is a member has no addresses of its own
        sections |= {"ipv4": _ipv4(interface), "ipv6": _ipv6(interface)}
    return sections


def _render(sections: Mapping[str, Section]) -> str:
    return tools.sections_text([(title, lines.items()) for title, lines in sections.items()])


# ---------------------------------------------------------------- sections


def _ethernet(interface: Interface) -> Iterator[tuple[str, str]]:
    options = interface.options
    if interface.mtu is not None:
        yield "mtu", str(interface.mtu)
    pinned = interface.kind in ("eth", "slave")
    if interface.hwaddr and interface.hwaddr != "none":
        key = "mac-address" if pinned else "cloned-mac-address"
        yield key, plain(interface.hwaddr, "hwaddr", MARKS)
    if interface.macaddr:
        yield "cloned-mac-address", plain(interface.macaddr, "macaddr", MARKS)
    if "autoneg" in options:
        yield "auto-negotiate", "true" if flag(options["autoneg"]) else "false"
    for option in ("speed", "duplex"):
        if option in options:
            yield option, plain(options[option], option, MARKS)
    if "wol" in options:
        yield "wake-on-lan", str(_wake(str(options["wol"])))


def _wake(value: str) -> int:
    """The number of ways to wake a machine, from ethtool's letters or words."""
    parts = [value] if value in WAKE else list(value) if set(value) <= set(WAKE) else words(value)
    if value.isdigit():
        return int(value)
    if not all(part in WAKE for part in parts):
        raise StateFailed(f"wol: expected letters of {''.join(k for k in WAKE if len(k) == 1)}")
    return sum({WAKE[part] for part in parts})


def _offloads(options: Mapping[str, Any]) -> Section:
    return {
        f"feature-{option}": "true" if flag(options[option]) else "false"
        for option in OFFLOADS
        if option in options
    }


def _bond(interface: Interface) -> Iterator[tuple[str, str]]:
    options = interface.options
    if "mode" in options:
        yield "mode", tools.bond_mode(interface.name, options["mode"])
    for option in BOND:
        if option in options:
            value = options[option]
            text = ("1" if value else "0") if isinstance(value, bool) else ",".join(words(value))
            yield option, plain(text, option, MARKS)


def _bridge(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "stp" in options:
        yield "stp", "true" if flag(options["stp"]) else "false"
    for option, key in tools.BRIDGE_NAMES.items():
        if option in options:
            yield key, plain(options[option], option, MARKS)


def _ipv4(interface: Interface) -> Section:
    family = interface.four
    method = {"static": "manual", "manual": "disabled", "ipv4ll": "link-local"}
    word = method.get(family.method, "auto") if family else "disabled"
    section = {"method": word, **_addresses(interface, family, 4)}
    if interface.hostname:
        section["dhcp-hostname"] = plain(interface.hostname, "hostname", MARKS)
    if interface.search and word != "disabled":
        section["dns-search"] = _list(interface.search, "search")
    return section | _defaults(interface.options)


def _ipv6(interface: Interface) -> Section:
    family = interface.six
    if family is None:
        return {"method": "disabled" if interface.six_off else "auto"}
    method = {"static": "manual", "manual": "link-local", "dhcp": "dhcp", "auto": "auto"}
    section = {"method": method[family.method], **_addresses(interface, family, 6)}
    if interface.search and interface.four is None:
        section["dns-search"] = _list(interface.search, "search")
    settings = family.settings
    if settings.get("privext") is not None:
        section["ip6-privacy"] = str(int(settings["privext"]))
    for key in ("accept_ra", "autoconf"):
        value = settings.get(key)
        if value is not None and (flag(value) or value == 2) != (family.method == "auto"):
            raise tools.cannot(
                TOOL, key, "write ipv6proto: auto for both of them, or static for none"
            )
    return section


def _addresses(interface: Interface, family: Family | None, version: int) -> Section:
    if family is None:
        return {}
    networks = enumerate(family.networks(), 1)
    section = {f"address{number}": network for number, network in networks}
    section |= {"gateway": family.gateway} if family.gateway else {}
    section |= {} if interface.metric is None else {"route-metric": str(interface.metric)}
    servers = [server for server in interface.dns if (":" in server) == (version == 6)]
    return section | ({"dns": _list(servers, "dns")} if servers else {})


def _defaults(options: Mapping[str, Any]) -> Section:
    section = {}
    if "defroute" in options:
        section["never-default"] = "false" if flag(options["defroute"]) else "true"
    if "peerdns" in options:
        section["ignore-auto-dns"] = "false" if flag(options["peerdns"]) else "true"
    return section


def _list(values: Sequence[str], what: str) -> str:
    return "".join(f"{plain(value, what, MARKS + ' ')};" for value in values)


# ---------------------------------------------------------------- routes


def _route_lines(text: str) -> dict[str, list[str]]:
    """The lines of a keyfile that are routes, by their sections."""
    lines: dict[str, list[str]] = {"ipv4": [], "ipv6": []}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[] ")
        elif section in lines and re.match(r"route\d+(_options)?=", line):
            lines[section].append(line)
    return lines


def _with_routes(text: str, routes: Mapping[str, Sequence[str]]) -> str:
    """A keyfile with other routes."""
    kept = re.sub(r"(?m)^route\d+(_options)?=.*\n?", "", text).rstrip("\n")
    sections = re.split(r"(?m)(\n*)^(?=\[)", f"{kept}\n")  # with the blank lines before each
    for number in range(0, len(sections), 2):
        title = re.match(r"\[(.*?)\]", sections[number])
        lines = routes.get(title[1].strip(), ()) if title else ()
        sections[number] = "\n".join([sections[number].rstrip("\n"), *lines])
    return f"{''.join(sections).rstrip()}\n"


def present_routes(name: str) -> Texts:
    """Return the keyfile of an interface, if it has routes."""
    tools.reject_name(name)
    now = tools.texts_of([own_file(name)])
    return now if any(any(_route_lines(text).values()) for text in now.values()) else {}


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the keyfile with these routes. Raises StateFailed where there is none."""
    path = own_file(name)
    now = tools.texts_of([path])
    if not now and routes:
        raise StateFailed(
            f"{path} is missing: the routes of an interface are in it; configure it with"
            " network.managed",
            missing=("network", name),
        )
    lines: dict[str, list[str]] = {"ipv4": [], "ipv6": []}
    for route in routes:
        section = lines[f"ipv{route.version()}"]
        unspecified = "0.0.0.0" if route.version() == 4 else "::"
        gateway = route.gateway or (unspecified if route.metric else "")
        parts = [route.network(), gateway, route.metric]
        section.append(f"route{len(section) + 1}={','.join(part for part in parts if part)}")
    if not routes and not present_routes(name):
        return {}
    return {file: _with_routes(text, lines) for file, text in now.items()}


# ---------------------------------------------------------------- what runs


@fetcher
def verify(name: str, old: Texts, new: Texts) -> None:
    """Have nmcli read the new keyfiles. Raises StateFailed for what it refuses; before version
    1.40 it cannot.
    """
    if not _paths.which("nmcli"):
        return
    for path, text in new.items():
        argv = ["nmcli", "--offline", "connection", "modify", "connection.autoconnect", "yes"]
        done = cmd.probe(argv, stdin=text)
        if done.retcode and "--offline" not in done.stderr:
            raise StateFailed(f"NetworkManager refuses {path}: {done.stderr.strip()}")


def is_up(name: str) -> bool:
    """Return whether the connection of an interface is active."""
    listed = cmd.probe(["nmcli", "-g", "NAME,STATE", "connection", "show", "--active"]).stdout
    return any(line.rpartition(":")[::2] == (name, "activated") for line in listed.splitlines())


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the keyfiles of an interface, then activate or deactivate its connection. Raises
    StateFailed when NetworkManager does not.
    """
    tools.put(old, new, "0600")
    if action == "down":
        tools.run_tool("nmcli", "connection", "reload")
        tools.run_tool("nmcli", "connection", "down", "id", name)
    elif action == "reload":
        tools.run_tool("nmcli", "connection", "reload")
    elif action:
        activate(name)


def activate(connection: str) -> None:
    """Have NetworkManager read its keyfiles, and activate a connection. Raises StateFailed when it
    does not.
    """
    tools.run_tool("nmcli", "connection", "reload")
    tools.run_tool("nmcli", "--wait", "30", "connection", "up", "id", connection)
