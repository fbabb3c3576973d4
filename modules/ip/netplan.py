# SPDX-License-Identifier: Apache-2.0
"""netplan (Ubuntu): YAML files of /etc/netplan, which it turns into files of systemd-networkd or
NetworkManager.

An interface has a file of its own. netplan merges what several files say of one interface, so its
entries in the files of others (an installer's, cloud-init's) are taken out there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from modules import _paths, cmd
from modules.ip import configuration as tools
from modules.ip import networkd, networkmanager
from modules.ip.configuration import Action, Family, Interface, Route, Texts, flag, words
from runner.api import StateFailed, changer, fetcher, here

NAMES: tuple[str, ...] = ("netplan", "netplan_ip")
TOOL = "netplan"
FOLDERS = ("/lib/netplan", "/etc/netplan", "/run/netplan")
OWN = "/etc/netplan/90-salt-{}.yaml"  # Salt's name for it: neither leaves the other's file behind
ROUTES = "/etc/netplan/90-salt-{}-routes.yaml"
SECTIONS = {
    "eth": "ethernets",
    "slave": "ethernets",
    "bond": "bonds",
    "bridge": "bridges",
    "vlan": "vlans",
}
METHODS = ("static", "dhcp", "bootp", "manual", "auto", "ipv4ll")
BOND = {
    "miimon": "mii-monitor-interval",
    "updelay": "up-delay",
    "downdelay": "down-delay",
    "arp_interval": "arp-interval",
    "lacp_rate": "lacp-rate",
    "xmit_hash_policy": "transmit-hash-policy",
    "ad_select": "ad-select",
    "primary": "primary",
}
WORDS = {"lacp_rate": ("slow", "fast"), "ad_select": ("stable", "bandwidth", "count")}
CARD = {
    "wol": "wakeonlan",
    "rx": "receive-checksum-offload",
    "tx": "transmit-checksum-offload",
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
}
KNOWN = {
    "eth": tools.DERIVED | set(CARD),
    "slave": tools.DERIVED | set(CARD),
    "vlan": tools.DERIVED | {"vlan", "reorder_hdr"},
    "bond": tools.DERIVED | {"mode", "arp_ip_target", *BOND},
    "bridge": tools.DERIVED | {"stp", *tools.BRIDGE_NAMES},
}
ADVICE = "leave it out, or write a file of /etc/netplan that sets it with file.managed"
is_up = tools.link_up
packages = tools.no_packages


def suits() -> bool:
    """Return whether netplan configures this machine's network."""
    return bool(_paths.glob("/etc/netplan/*.yaml"))


def present(name: str) -> Texts:
    """Return the file of an interface, and those of others that speak of it."""
    tools.reject_name(name)
    return tools.texts_of([OWN.format(name), *_foreign(name)])


def texts(interface: Interface) -> Texts:
    """Return the files of an interface as they should be."""
    name = interface.name
    tools.check(TOOL, interface, KNOWN, ADVICE)
    for family in interface.families():
        tools.reject_family(TOOL, family, METHODS, ("accept_ra", "privext"))
    sections = {SECTIONS[interface.kind]: {name: _definition(interface)}}
    cards: dict[str, Any] = {other: {} for other in _undefined(interface)}
    if cards:
        sections["ethernets"] = {**sections.get("ethernets", {}), **cards}
    foreign = {path: _without(path, text, name) for path, text in _foreign(name).items()}
    return dict(sorted({OWN.format(name): _document(sections), **foreign}.items()))


def _document(sections: Mapping[str, Any]) -> str:
    import yaml

    document = {"network": {"version": 2, **sections}}
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=False, allow_unicode=False)


# ---------------------------------------------------------------- the definition of an interface


def _definition(interface: Interface) -> dict[str, Any]:
    made = dict(_families(interface))
    if interface.dns or interface.search:
        servers = {"addresses": list(interface.dns), "search": list(interface.search)}
        made["nameservers"] = {key: value for key, value in servers.items() if value}
    if address := interface.hardware_address():
        made["macaddress"] = address
    if interface.mtu is not None:
        made["mtu"] = interface.mtu
    if not interface.enabled:
        made["activation-mode"] = "manual"
    if interface.kind == "vlan":
        made |= {"id": interface.tag, "link": interface.parent}
    if interface.kind in ("bond", "bridge"):
        made["interfaces"] = list(interface.members)
        parameters = dict(_parameters(interface))
        made |= {"parameters": parameters} if parameters else {}
    return made | {
        CARD[option]: flag(value) if option != "wol" else str(value) not in ("d", "0", "False")
        for option, value in interface.options.items()
        if option in CARD
    }


def _families(interface: Interface) -> Iterator[tuple[str, Any]]:
    four, six = interface.four, interface.six
    yield "dhcp4", four is not None and four.method in ("dhcp", "bootp")
    if six is not None:
        yield "dhcp6", six.method == "dhcp"
        yield from _six(six)
    if interface.six_off:
        yield "accept-ra", False
    local = ["ipv4"] if four is not None and four.method == "ipv4ll" else []
    if interface.six_off or local:
        yield "link-local", local + ([] if interface.six_off else ["ipv6"])
    if networks := interface.networks():
        yield "addresses", networks
    metric = {} if interface.metric is None else {"metric": interface.metric}
    routes = [
        {"to": "default", "via": family.gateway, **metric}
        for family in interface.families()
        if family.gateway
    ]
    if routes:
        yield "routes", routes
    overrides: dict[str, Any] = {"hostname": interface.hostname} if interface.hostname else {}
    overrides |= {} if interface.metric is None else {"route-metric": interface.metric}
    if overrides and four is not None and four.method in ("dhcp", "bootp"):
        yield "dhcp4-overrides", overrides


def _six(six: Family) -> Iterator[tuple[str, Any]]:
    accepts = six.settings.get("accept_ra")
    if accepts is not None or six.method == "auto":
        yield "accept-ra", accepts is None or flag(accepts) or accepts == 2
    if six.settings.get("privext") is not None:
        yield "ipv6-privacy", bool(int(six.settings["privext"]))


def _parameters(interface: Interface) -> Iterator[tuple[str, Any]]:
    options = interface.options
    if "mode" in options:
        yield "mode", tools.bond_mode(interface.name, options["mode"])
    if "arp_ip_target" in options:
        yield "arp-ip-targets", words(options["arp_ip_target"])
    if "stp" in options and interface.kind == "bridge":
        yield "stp", flag(options["stp"])
    for option, key in (BOND if interface.kind == "bond" else tools.BRIDGE_NAMES).items():
        if option in options:
            yield key, _parameter(option, options[option])


def _parameter(option: str, value: object) -> int | str:
    if option in WORDS:
        return tools.number_or_word(option, value, WORDS[option])
    return str(value) if option in ("primary", "xmit_hash_policy") else tools.number(option, value)


def _undefined(interface: Interface) -> list[str]:
    """The other interfaces, which netplan wants to be defined, that nobody defines: cards."""
    others = [name for name in (*interface.members, interface.parent) if name]
    declared = {chunk.name for chunk in here.chunks if chunk.function == "network.managed"}
    skipped = OWN.format(interface.name)
    defined = {
        name
        for path, document in _documents()
        if path != skipped
        for section in SECTIONS.values()
        for name in _section(document, section)
    }
    return [other for other in others if other not in declared | defined]


# ---------------------------------------------------------------- files of others


def _documents() -> Iterator[tuple[str, Any]]:
    """All files that netplan reads, and what they say."""
    import yaml

    for folder in FOLDERS:
        for path in sorted(_paths.glob(f"{folder}/*.yaml")):
            try:
                document = yaml.safe_load(tools.texts_of([path]).get(path, ""))
            except yaml.YAMLError as error:
                raise StateFailed(f"{path} is not YAML, so netplan reads none: {error}") from None
            yield path, document


def _section(document: Any, section: str) -> Mapping[str, Any]:
    network = document.get("network") if isinstance(document, dict) else None
    definitions = network.get(section) if isinstance(network, dict) else None
    return definitions if isinstance(definitions, dict) else {}


def _foreign(name: str) -> dict[str, str]:
    """The files of /etc/netplan that speak of an interface and are not its own."""
    own = (OWN.format(name), ROUTES.format(name))
    return tools.texts_of(
        path
        for path, document in _documents()
        if path.startswith("/etc/netplan/") and path not in own
        for section in SECTIONS.values()
        if any(_is_of(key, value, name) for key, value in _section(document, section).items())
    )


def _is_of(key: str, value: Any, name: str) -> bool:
    """Return whether a definition is that of an interface. One that says nothing only tells netplan
    that there is such a card.
    """
    if not isinstance(value, dict) or not value:
        return False
    return key == name or value.get("set-name") == name


def _without(path: str, text: str, name: str) -> str:
    """The text of a file without the lines about an interface. Raises StateFailed where these are
    not lines of their own.
    """
    import yaml

    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    network = next(value for key, value in root.value if key.value == "network")
    lines = text.splitlines(keepends=True)
    for section, definitions in reversed(network.value):
        if section.value not in SECTIONS.values():
            continue
        concerned = [
            (key, value)
            for key, value in definitions.value
            if _is_of(key.value, yaml.SafeLoader("").construct_document(value), name)
        ]
        if concerned and any(node.flow_style for node in (root, network, definitions)):
            raise StateFailed(
                f"{path} configures {name}, too, in braces: remove that, as netplan merges both"
            )
        whole = concerned and len(concerned) == len(definitions.value)
        for key, value in [(section, definitions)] if whole else reversed(concerned):
            del lines[key.start_mark.line : _end(value, lines)]
    return "".join(lines)


def _end(value: Any, lines: Sequence[str]) -> int:
    """The line behind a value; its end mark may stand before the next key."""
    mark = value.end_mark
    return int(mark.line) + (1 if mark.column and lines[mark.line][: mark.column].strip() else 0)


# ---------------------------------------------------------------- routes


def present_routes(name: str) -> Texts:
    """Return the file with the routes of an interface."""
    tools.reject_name(name)
    return tools.texts_of([ROUTES.format(name)])


def route_texts(name: str, routes: Sequence[Route]) -> Texts:
    """Return the file as it should be; none for no routes. Raises StateFailed where no file
    configures the interface.
    """
    if not routes:
        return {}
    section = next(
        (
            section
            for path, document in _documents()
            if path != ROUTES.format(name)
            for section in SECTIONS.values()
            if name in _section(document, section)
        ),
        None,
    )
    if section is None:
        raise StateFailed(
            f"netplan does not know {name}: configure it with network.managed",
            missing=("network", name),
        )
    entries = []
    for route in routes:
        entry: dict[str, Any] = {"to": route.target}
        entry |= {"via": route.gateway} if route.gateway else {"scope": "link"}
        entry |= {"metric": int(route.metric)} if route.metric else {}
        entries.append(entry)
    return {ROUTES.format(name): _document({section: {name: {"routes": entries}}})}


# ---------------------------------------------------------------- what runs


@fetcher
def verify(name: str, old: Texts, new: Texts) -> None:
    """Have netplan generate from a copy of all files with the new ones among them. Raises
    StateFailed for what it refuses.
    """
    root = f"{here.scratch()}/netplan"
    for folder in FOLDERS:
        os.makedirs(root + folder, exist_ok=True)
        for path in _paths.glob(f"{folder}/*.yaml"):
            if path not in old:
                _paths.copy_out(path, root + path)
    for path, text in new.items():
        with open(root + path, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
        os.chmod(root + path, 0o600)
    done = cmd.probe(["netplan", "generate", "--root-dir", root])
    if done.retcode:
        told = done.error_text.replace(root, "")
        raise StateFailed(f"netplan refuses {', '.join(new) or 'what is left'}:\n{told}")


@changer(touches=["files", "network"], planned=True)
def configure(name: str, old: Texts, new: Texts, action: Action) -> None:
    """Write the files of an interface, have netplan generate from them, and the tool below it
    configure this interface alone. Raises StateFailed when they do not.
    """
    device = f"/run/systemd/network/10-netplan-{name}.netdev"
    before = tools.texts_of([device])
    tools.put(old, new, "0600")
    if not action:
        return
    with _same_files_for_others():
        tools.run_tool("netplan", "generate")
    if action == "down":
        if tools.link_exists(name):
            tools.run_tool("ip", "link", "set", "dev", name, "down")
        return
    if _paths.exists(f"/run/NetworkManager/system-connections/netplan-{name}.nmconnection"):
        networkmanager.activate(f"netplan-{name}")
        return
    tools.run_tool("systemctl", "start", "systemd-networkd.service")
    if before and tools.texts_of([device]) != before:
        networkd.recreate(name, _members(new[OWN.format(name)], name))
    else:
        networkd.activate(name)


@contextmanager
def _same_files_for_others() -> Iterator[None]:
    """Restore generated files whose text stays the same: netplan writes all of them anew, and
    networkd would configure all their interfaces once more.
    """
    before = tools.texts_of(_paths.glob("/run/systemd/network/*-netplan-*.net*"))
    with TemporaryDirectory(dir="/run/systemd") as folder:
        links = {path: f"{folder}/{os.path.basename(path)}" for path in before}
        for path, link in links.items():
            os.link(path, link)
        yield
        after = tools.texts_of(before)
        for path, link in links.items():
            if after.get(path) == before[path]:
                os.replace(link, path)


def _members(text: str, name: str) -> list[str]:
    """The interfaces that one is made of, from the text of its file."""
    import yaml

    document = yaml.safe_load(text)
    definitions = (_section(document, section).get(name) for section in SECTIONS.values())
    made_of = (definition.get("interfaces", []) for definition in definitions if definition)
    return [member for members in made_of for member in members]
