# SPDX-License-Identifier: Apache-2.0
"""systemd-networkd: .network and .netdev files of /etc/systemd/network.

An interface has the file 10-NAME.network, beside 10-NAME.netdev if it is a bond, bridge or VLAN.
What such an interface asks of others (to be its members, or to carry it) is in their own files: a
drop-in in the folder of each of the files that may configure them, and where they have none a file
of its own (20-NAME-OTHER.network).
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modules import _paths, cmd
from modules.ip import configuration as tools
from modules.ip.configuration import Action, Family, Interface, Route, Texts, flag, plain, words
from runner.api import StateFailed, changer, fetcher

NAMES: tuple[str, ...] = ("networkd", "systemd-networkd")
TOOL = "systemd-networkd"
FOLDER = "/etc/systemd/network"
FOLDERS = (FOLDER, "/run/systemd/network", "/usr/lib/systemd/network", "/lib/systemd/network")
ENABLED = "/etc/systemd/system/*.wants/systemd-networkd.service"
SECONDS = 20.0  # for an interface to be configured
LINKS = "/sys/class/net"
# one that waits for a carrier, or for an answer by DHCP, is not done yet, and need not be
SETTLED = ("configured", "configuring")
METHODS = ("static", "dhcp", "bootp", "manual", "auto", "ipv4ll")
BOND = {  # option -> key of the section [Bond], unit of its value
    "miimon": ("MIIMonitorSec", "ms"),
    "updelay": ("UpDelaySec", "ms"),
    "downdelay": ("DownDelaySec", "ms"),
    "arp_interval": ("ARPIntervalSec", "ms"),
    "arp_ip_target": ("ARPIPTargets", ""),
    "xmit_hash_policy": ("TransmitHashPolicy", ""),
}
BOND_WORDS = {
    "lacp_rate": ("LACPTransmitRate", ("slow", "fast")),
    "ad_select": ("AdSelect", ("stable", "bandwidth", "count")),
}
BRIDGE = {
    "fd": ("ForwardDelaySec", "s"),
    "delay": ("ForwardDelaySec", "s"),
    "hello": ("HelloTimeSec", "s"),
    "maxage": ("MaxAgeSec", "s"),
    "ageing": ("AgeingTimeSec", "s"),
    "bridgeprio": ("Priority", ""),
}
KNOWN = {
    "eth": tools.DERIVED,
    "slave": tools.DERIVED,
    "vlan": tools.DERIVED | {"vlan", "reorder_hdr"},
    "bond": tools.DERIVED | {"mode", "primary", *BOND, *BOND_WORDS},
    "bridge": tools.DERIVED | {"stp", *BRIDGE},
}
ADVICE = (
    "leave it out, or write a file of /etc/systemd/network that sets it with file.managed"
    " (systemd.link(5), systemd.network(5))"
)
Lines = list[tuple[str, str]]  # keys and values of a section
is_up = tools.link_up
packages = tools.no_packages


def suits() -> bool:
    """Return whether systemd-networkd configures this machine's network."""
    return bool(_paths.glob(ENABLED))


def main_file(name: str) -> str:
    """The file that configures an interface."""
    return f"{FOLDER}/10-{name}.network"


def present(name: str) -> Texts:
    """Return the files of an interface, and what it asks of others in theirs."""
    tools.reject_name(name)
    word = glob.escape(name)
    return tools.texts_of(
        [
            main_file(name),
            f"{FOLDER}/10-{name}.netdev",
            *_paths.glob(f"{FOLDER}/20-{word}-*.network"),
            *_paths.glob(f"{FOLDER}/*.network.d/{word}.conf"),
        ]
    )


def texts(interface: Interface) -> Texts:
    """Return the files of an interface as they should be."""
    tools.check(TOOL, interface, KNOWN, ADVICE)
    for family in interface.families():
        tools.reject_family(TOOL, family, METHODS, ("accept_ra", "autoconf", "privext"))
    _require_alone(interface.name)
    made = {main_file(interface.name): tools.sections_text(_network_sections(interface))}
    if interface.kind in ("bond", "bridge", "vlan"):
        made[f"{FOLDER}/10-{interface.name}.netdev"] = tools.sections_text(
            _device_sections(interface)
        )
    for other, lines in _demands(interface):
        made |= _demand_files(interface.name, other, lines)
    return dict(sorted(made.items()))


# ---------------------------------------------------------------- .network


def _network_sections(interface: Interface) -> list[tuple[str, Lines]]:
    match = [("Name", interface.name)]
    link: Lines = []
    if address := interface.hardware_address():
        link.append(("MACAddress", plain(address, "hwaddr", " #")))
    if interface.mtu is not None:
        link.append(("MTUBytes", str(interface.mtu)))
    if not interface.enabled:
        link.append(("ActivationPolicy", "manual"))
    sections = [("Match", match), ("Link", link), ("Network", list(_network_lines(interface)))]
    for family in interface.families():
        sections += [("Address", [("Address", network)]) for network in family.networks()]
        if family.gateway:
            metric = [] if interface.metric is None else [("Metric", str(interface.metric))]
            sections.append(("Route", [("Gateway", family.gateway), *metric]))
    return [*sections, ("DHCPv4", list(_dhcp_lines(interface)))]


def _network_lines(interface: Interface) -> Iterator[tuple[str, str]]:
    four, six = interface.four, interface.six
    dhcp = [method in ("dhcp", "bootp") for method in map(_method, (four, six))]
    if any(dhcp):
        yield "DHCP", "yes" if all(dhcp) else "ipv4" if dhcp[0] else "ipv6"
    if interface.kind == "slave" or _method(four) == "ipv4ll" or interface.six_off:
        local = _method(four) == "ipv4ll"
        yield "LinkLocalAddressing", ("ipv4" if interface.six_off else "yes") if local else "no"
    if interface.six_off:
        yield "IPv6AcceptRA", "no"
    elif six is not None:
        yield from _six_lines(six)
    for server in interface.dns:
        yield "DNS", plain(server, "dns", " ")
    if interface.search:
        yield "Domains", " ".join(plain(domain, "search", " ~") for domain in interface.search)
    if interface.master:
        yield interface.master_kind.title(), interface.master


def _method(family: Family | None) -> str:
    return family.method if family else ""


def _six_lines(six: Family) -> Iterator[tuple[str, str]]:
    accepts = six.settings.get("accept_ra")
    if accepts is not None or six.method == "auto":
        on = accepts is None or flag(accepts) or accepts == 2
        yield "IPv6AcceptRA", "yes" if on else "no"
    privacy = six.settings.get("privext")
    if privacy is not None:
        yield "IPv6PrivacyExtensions", ("no", "prefer-public", "yes")[min(int(privacy), 2)]
    if six.settings.get("autoconf") is not None:
        raise tools.cannot(TOOL, "autoconf", "write accept_ra")


def _dhcp_lines(interface: Interface) -> Iterator[tuple[str, str]]:
    if interface.hostname:
        yield "Hostname", plain(interface.hostname, "hostname", " ")
    if interface.metric is not None and _method(interface.four) in ("dhcp", "bootp"):
        yield "RouteMetric", str(interface.metric)


# ---------------------------------------------------------------- .netdev


def _device_sections(interface: Interface) -> list[tuple[str, Lines]]:
    device = [("Name", interface.name), ("Kind", interface.kind)]
    if interface.kind == "vlan":
        return [("NetDev", device), ("VLAN", [("Id", str(interface.tag))])]
    section = interface.kind.title()
    lines = _bond_lines(interface) if interface.kind == "bond" else _bridge_lines(interface.options)
    return [("NetDev", device), (section, list(lines))]


def _bond_lines(interface: Interface) -> Iterator[tuple[str, str]]:
    options = interface.options
    if "mode" in options:
        yield "Mode", tools.bond_mode(interface.name, options["mode"])
    yield from _timed(options, BOND)
    for option, (key, values) in BOND_WORDS.items():
        if option in options:
            yield key, tools.number_or_word(option, options[option], values)


def _bridge_lines(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "stp" in options:
        yield "STP", "yes" if flag(options["stp"]) else "no"
    yield from _timed(options, BRIDGE)


def _timed(
    options: Mapping[str, Any], table: Mapping[str, tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for option, (key, unit) in table.items():
        if option in options:
            value = options[option]
            yield (
                key,
                f"{tools.number(option, value)}{unit}" if unit else _plain_words(value, option),
            )


def _plain_words(value: object, option: str) -> str:
    return plain(" ".join(words(value)), option, "#=")


# ---------------------------------------------------------------- what it asks of others


def _demands(interface: Interface) -> Iterator[tuple[str, Lines]]:
    """Other interfaces, and what their section [Network] has to say."""
    if interface.kind == "vlan":
        yield interface.parent, [("VLAN", interface.name)]
    for member in interface.members:
        lines = [(interface.kind.title(), interface.name)]
        if str(interface.options.get("primary", "")) == member:
            lines.append(("PrimarySlave", "yes"))
        yield member, lines


def _demand_files(name: str, other: str, lines: Lines) -> dict[str, str]:
    own = f"{FOLDER}/20-{name}-{other}.network"
    text = tools.sections_text([("Network", lines)])
    files = {f"{main_file(other)}.d/{name}.conf": text}
    effective = _first_matching(other)
    if effective not in ("", main_file(other)):
        return files | {f"{FOLDER}/{os.path.basename(effective)}.d/{name}.conf": text}
    return files | {own: tools.sections_text([("Match", [("Name", other)]), ("Network", lines)])}


def _first_matching(name: str) -> str:
    """The file that configures an interface, except those that say what another asks of it."""
    by_name: dict[str, str] = {}
    for folder in FOLDERS:
        for path in _paths.glob(f"{folder}/*.network"):
            by_name.setdefault(os.path.basename(path), path)
    for base, path in sorted(by_name.items()):
        if not re.fullmatch(rf"20-.+-{re.escape(name)}\.network", base) and _matches(path, name):
            return path
    return ""


def _matches(path: str, name: str) -> bool:
    """Return whether a file is for an interface by its name."""
    section = ""
    for line in tools.texts_of([path]).get(path, "").splitlines():
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section == "[Match]" and re.match(r"Name\s*=", text):
            patterns = text.partition("=")[2].split()
            return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    return False


def _require_alone(name: str) -> None:
    """Raise StateFailed where a file of others is read instead of the interface's own."""
    effective = _first_matching(name)
    base = os.path.basename(effective)
    if effective and base < os.path.basename(main_file(name)):
        raise StateFailed(
            f"{effective} configures {name}, too, and comes before {main_file(name)}: remove it"
            " (file.absent), or give it a name that comes later"
        )


# ---------------------------------------------------------------- routes


def present_routes(name: str) -> Texts:
    """Return the drop-in with the routes of an interface."""
    tools.reject_name(name)
    return tools.texts_of([f"{main_file(name)}.d/routes.conf"])


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the drop-in as it should be; none for no routes. Raises StateFailed where it would
    have no file to belong to.
    """
    if routes and not _paths.isfile(main_file(name)):
        raise StateFailed(
            f"{main_file(name)} is missing: the routes of an interface are added to it; configure"
            " it with network.managed",
            missing=("network", name),
        )
    sections = []
    for route in routes:
        lines = [("Destination", route.network())]
        lines += [("Gateway", route.gateway)] if route.gateway else []
        lines += [("Metric", route.metric)] if route.metric else []
        sections.append(("Route", lines))
    return {f"{main_file(name)}.d/routes.conf": tools.sections_text(sections)} if routes else {}


# ---------------------------------------------------------------- what runs


@fetcher
def verify(name: str, old: Texts, new: Texts) -> None:
    """Nothing: networkd has no program that reads files without using them, so `texts` lets
    through nothing that it would not understand.
    """


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the files of an interface, then have networkd read them; only interfaces whose files
    changed are configured anew. Raises StateFailed when it does not take them.
    """
    device = f"{FOLDER}/10-{name}.netdev"
    tools.put(old, new, "0644")
    if not action:
        return
    if action == "down":
        tools.run_tool("networkctl", "reload")
        tools.run_tool("ip", "link", "set", "dev", name, "down")
        return
    if device in old and old[device] != new.get(device):
        ends = (
            re.fullmatch(rf".*/10-(.+)\.network\.d/{re.escape(name)}\.conf", path) for path in new
        )
        recreate(name, [end[1] for end in ends if end])
    else:
        activate(name)


def recreate(name: str, others: Sequence[str]) -> None:
    """Remove an interface and have networkd make it once more, as networkd changes no device that
    is there. Raises StateFailed when it does not.

    others: the interfaces that it is made of, which belong to it again afterwards.
    """
    if tools.link_exists(name):
        tools.run_tool("networkctl", "delete", name)
    present_ones = [other for other in others if tools.link_exists(other)]
    activate(name, present_ones)
    if any(_paths.isdir(f"{LINKS}/{name}/{kind}") for kind in ("bridge", "bonding")):
        for member in present_ones:
            _attach(member, name)


def _attach(member: str, master: str) -> None:
    """Make an interface a member of a bond or a bridge, unless networkd has: where the old one is
    gone at that moment, it gives up.
    """
    path = f"{LINKS}/{member}/master"
    if not tools.wait_for(lambda: os.path.basename(_paths.realpath(path)) == master, 1.0):
        tools.run_tool("ip", "link", "set", "dev", member, "down")
        tools.run_tool("ip", "link", "set", "dev", member, "master", master)
        tools.run_tool("ip", "link", "set", "dev", member, "up")


def activate(name: str, others: Sequence[str] = ()) -> None:
    """Have networkd read its files, and an interface, and others with it, configured by them.
    Raises StateFailed when it does not.
    """
    if not any(_made(name) for _ in range(10)):
        raise StateFailed(f"there is no interface {name}, and {TOOL} did not make one")
    for link in (name, *others):
        tools.run_tool("networkctl", "reconfigure", link)
    tools.run_tool("networkctl", "up", name)
    tools.wait_for(lambda: _setup(name) not in ("pending", ""), SECONDS)
    if _setup(name) not in SETTLED or not tools.wait_for(lambda: tools.link_up(name), SECONDS):
        status = cmd.probe(["networkctl", "--no-pager", "--lines=5", "status", name]).stdout
        raise StateFailed(f"{TOOL} has not configured {name}:\n{status.strip()}")


def _made(name: str) -> bool:
    """Have networkd read its files, and return whether an interface is there soon after.

    It makes none while it has not yet noticed that the one before is gone: it is asked again.
    """
    tools.run_tool("networkctl", "reload")
    return tools.wait_for(lambda: tools.link_exists(name), 2.0)


def _setup(name: str) -> str:
    """The word of networkd for how far it is with an interface."""
    line = cmd.probe(["networkctl", "--no-legend", "--no-pager", "list", name]).stdout.split()
    return line[-1] if line else ""
