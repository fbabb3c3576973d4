# SPDX-License-Identifier: Apache-2.0
"""The interface of a tool that configures the network: how to write a provider.

A provider is one module in this folder and its line in the table of `modules/ip/__init__.py`. It
defines the constants and functions of `NetworkTool` below as plain module functions;
`modules/ip/networkd.py` is the model. `states/network/` knows `Interface` and `Route`, and no
tool's words.

1. Say who you are: `NAMES` and `suits()`: this machine's network is configured with the tool.
2. Write the looks: `present` and `present_routes` return the files of an interface as they are now,
   `texts` and `route_texts` as they should be, by path. Raise `cannot(...)` for what the tool has
   nothing like; `check(...)` does so for types and options that you do not know.
3. `verify` has the tool itself read the new files before they are written, where it can.
4. `configure` writes them and then, by its action, brings the interface up or down. It touches no
   other interface.

Every value ends in a file that a program running as root reads: quote it, and refuse what cannot
be quoted (`plain`).
"""

from __future__ import annotations

import ipaddress
import os
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from modules import _paths, cmd, file
from runner.api import Provider, Record, StateFailed, changer, fetcher, here
from runner.api.offline import offline_as

Texts = Mapping[str, str]  # contents of files by path
# "" writes alone; "reload": has a member of a bond or bridge, which comes up with that one, read;
# "routes": sets those of an interface that is up
Action = Literal["", "up", "restart", "down", "reload", "routes"]

NAME = r"[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,14}"
HARDWARE = r"none|([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2}[:-]){0,14}[0-9A-Fa-f]{2}"
# options of which Interface has what they mean
DERIVED = frozenset(
    """
    slaves ports parent phys_dev vlan_id id vlan-raw-device bridge macaddr ipv6addr ipv6addrs prefix
    ipv6_autoconf domain
    """.split()
)
BOND_OPTIONS = frozenset(
    """
    ad_select arp_interval arp_ip_target downdelay lacp_rate miimon mode primary slaves updelay
    use_carrier xmit_hash_policy
    """.split()
)
BRIDGE_OPTIONS = frozenset(
    """
    ageing bridgeprio fd gcint hello hw maxage maxwait pathcost portprio ports stp waitport
    """.split()
)
OFFLOADS = ("gro", "gso", "lro", "rx", "sg", "tso", "tx", "ufo")  # options of a card
BOND_MODES = tuple(
    """
    balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb
    """.split()
)
# options of a bridge and the names that netplan and NetworkManager have for them
BRIDGE_NAMES = {
    "fd": "forward-delay",
    "delay": "forward-delay",
    "hello": "hello-time",
    "maxage": "max-age",
    "ageing": "ageing-time",
    "bridgeprio": "priority",
}
SHELL_SPECIAL = "\"$`\\'"  # what a shell, which reads ifcfg files, does not take for itself


class Family(Record):
    """How an interface gets its addresses of one family.

    method: static, dhcp, auto, manual (none), or a word of interfaces(5). addresses: as given.
    netmask: of those that come without a length. settings: what is rarely given, by the names of
    the state's arguments.
    """

    method: str
    addresses: tuple[str, ...] = ()
    netmask: str = ""
    gateway: str = ""
    settings: Mapping[str, Any] = {}

    def networks(self) -> list[str]:
        """The addresses with their networks' lengths. Raises StateFailed for one without."""
        return [self._network(address) for address in self.addresses]

    def _network(self, address: str) -> str:
        if "/" not in address and not self.netmask:
            raise StateFailed(f"The address {address} has no netmask; write {address}/24, say")
        text = address if "/" in address else f"{address}/{self.netmask}"
        return str(ipaddress.ip_interface(text))


class Interface(Record):
    """An interface as it should be, in no tool's words.

    kind: eth, bond, bridge, vlan, slave or another type of network.managed. enabled: it comes up
    with the machine. four, six: None where that family is off or, for six, not spoken of (six_off
    tells). members: of a bond or a bridge. master: the bond or bridge (master_kind) that it is a
    member of. parent, tag: of a VLAN. options: what belongs to kinds of interfaces and to tools, by
    the names of the state's arguments.
    """

    name: str
    kind: str = "eth"
    enabled: bool = True
    hotplug: bool = False
    four: Family | None = None
    six: Family | None = None
    six_off: bool = False
    dns: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    mtu: int | None = None
    hwaddr: str = ""
    macaddr: str = ""
    metric: int | None = None
    hostname: str = ""
    members: tuple[str, ...] = ()
    master: str = ""
    master_kind: str = "bond"
    parent: str = ""
    tag: int | None = None
    options: Mapping[str, Any] = {}

    def others(self) -> list[str]:
        """The names of the interfaces that it is made of or belongs to."""
        return [name for name in (*self.members, self.parent, self.master) if name]

    def hardware_address(self) -> str:
        """The address that the card should have; empty where none is given."""
        return self.macaddr or self.hwaddr

    def families(self) -> list[Family]:
        """Return how it gets its addresses, of the families that are not off."""
        return [family for family in (self.four, self.six) if family is not None]

    def networks(self) -> list[str]:
        """The addresses of both families with their networks' lengths."""
        return [network for family in self.families() for network in family.networks()]


class Route(Record):
    """A route. target: a network or `default`. metric: empty where none is given."""

    name: str
    target: str
    gateway: str = ""
    metric: str = ""

    def version(self) -> int:
        """The family: 4 or 6."""
        target = self.gateway if self.target == "default" else self.target
        return ipaddress.ip_interface(target or "0.0.0.0").version

    def network(self) -> str:
        """The target as a network, also where it is the default."""
        default = "0.0.0.0/0" if self.version() == 4 else "::/0"
        return default if self.target == "default" else self.target


class NetworkTool(Provider, Protocol):
    """A tool that configures the network."""

    def packages(self, kind: str) -> list[str]: ...
    def present(self, name: str) -> Texts: ...
    def texts(self, interface: Interface) -> Texts: ...
    def present_routes(self, name: str) -> Texts: ...
    def route_texts(self, name: str, routes: Sequence[Route]) -> Texts: ...
    def verify(self, name: str, old: Texts, new: Texts) -> None: ...
    def is_up(self, name: str) -> bool: ...
    def configure(self, name: str, old: Texts, new: Texts, action: Action) -> None: ...

    # of the feature global_settings
    def present_settings(self) -> Texts: ...
    def settings_texts(self, settings: Mapping[str, Any], retain: bool) -> Texts: ...


# ---------------------------------------------------------------- what a tool cannot express


def cannot(tool: str, argument: str, advice: str) -> StateFailed:
    """The failure of an argument that a tool cannot express, with its place.

    advice: what to write instead.
    """
    place = here.chunk.arg_places.get(argument) if here.chunk else None
    where = f" ({place.source})" if place else ""
    return StateFailed(f"{tool} cannot express {argument}{where}: {advice}")


def check(
    tool: str, interface: Interface, known: Mapping[str, Iterable[str]], advice: str = ""
) -> None:
    """Raise StateFailed for what is not the name of an interface, for a type that a tool does not
    know, and for the first option that it does not know.

    known: the options by type. advice: what to write instead of an unknown option.
    """
    if interface.kind not in known:
        raise cannot(tool, "type", f"{interface.kind!r} is not one of {', '.join(known)}")
    for name in (interface.name, *interface.others()):
        reject_name(name)
    names = set(known[interface.kind])
    for option in interface.options:
        if option not in names:
            nothing = f"leave it out, an interface of type {interface.kind} has no such option"
            raise cannot(tool, option, advice or nothing)
    _check_values(interface)
    if interface.kind == "vlan" and (interface.tag is None or not interface.parent):
        raise StateFailed(f"VLAN {interface.name} has no number; write vlan_id, and parent")


def _check_values(interface: Interface) -> None:
    """Raise StateFailed for values that are not what their argument is about."""
    for argument, pattern, values in (
        ("dns", r"[0-9.]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*", interface.dns),
        ("search", r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", interface.search),
        ("hwaddr", HARDWARE, filter(None, [interface.hwaddr])),
        ("macaddr", HARDWARE, filter(None, [interface.macaddr])),
    ):
        for value in values:
            if not re.fullmatch(pattern, value):
                raise StateFailed(f"{argument}: {value!r} is none")


def reject_family(
    tool: str, family: Family | None, methods: Iterable[str], settings: Iterable[str]
) -> None:
    """Raise StateFailed for a way to get addresses, or a setting of them, that a tool lacks."""
    if family is None:
        return
    if family.method not in set(methods):
        raise cannot(tool, "proto", f"{family.method!r} is ifupdown's; write dhcp, static or none")
    for key, value in family.settings.items():
        if value is not None and key not in set(settings) and not _implied(key, value, family):
            raise cannot(tool, key, "leave it out, or configure this interface with ifupdown")


def _implied(key: str, value: Any, family: Family) -> bool:
    """Return whether the kernel sets a value by itself."""
    if key != "broadcast" or not family.addresses:
        return False
    return all(
        str(ipaddress.ip_interface(network).network.broadcast_address) == value
        for network in family.networks()
    )


def reject_name(name: str) -> None:
    """Raise StateFailed for what cannot be the name of an interface."""
    if not re.fullmatch(NAME, name):
        raise StateFailed(
            f"{name!r} is not the name of an interface: up to 15 letters, digits, dots, hyphens"
        )


def plain(value: object, what: str, forbidden: str) -> str:
    """A value as it is. Raises StateFailed for one that holds a forbidden character.

    what: the argument that it comes from.
    """
    text = str(value)
    for character in text:
        if character in forbidden or ord(character) < 32 or ord(character) == 127:
            raise StateFailed(f"{what}: {character!r} cannot be written in {text!r}")
    return text


# ---------------------------------------------------------------- what several tools share


def flag(value: object) -> bool:
    """Return whether a value of an option means yes."""
    return str(value).lower() in ("1", "true", "yes", "on")


def words(value: object) -> list[str]:
    """The words of an option that is a list or a text of words."""
    items = value if isinstance(value, list | tuple) else [value]
    return [word for item in items for word in str(item).replace(",", " ").split()]


def bond_mode(name: str, mode: object) -> str:
    """The name of a bond's mode, which may be given by its number. Raises StateFailed otherwise."""
    text = str(mode)
    if text in BOND_MODES:
        return text
    if not text.isdigit() or int(text) >= len(BOND_MODES):
        numbers = "|".join(map(str, range(len(BOND_MODES))))
        expected = f"{numbers}|{'|'.join(BOND_MODES)}"
        raise StateFailed(
            f"Invalid option -- Interface: {name}, Option: mode, Expected: [{expected}]"
        )
    return BOND_MODES[int(text)]


def number_or_word(option: str, value: object, names: Sequence[str]) -> str:
    """The name of a value that may be given by its number. Raises StateFailed otherwise."""
    text = str(value)
    numbers = [str(number) for number in range(len(names))]
    if text not in (*names, *numbers):
        raise StateFailed(f"{option}: expected one of {', '.join(names)}, not {text!r}")
    return text if text in names else names[int(text)]


def number(option: str, value: object) -> int:
    """A value as a whole number. Raises StateFailed for what is none."""
    text = str(value)
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise StateFailed(f"{option}: expected a number, not {text!r}")
    return int(text)


def sections_text(sections: Iterable[tuple[str, Collection[tuple[str, str]]]]) -> str:
    """The text of sections with their keys and values; those that are empty are left out."""
    blocks = (
        f"[{title}]\n" + "".join(f"{key}={value}\n" for key, value in lines)
        for title, lines in sections
        if lines
    )
    return "\n".join(blocks)


def texts_of(paths: Iterable[str]) -> dict[str, str]:
    """The contents of those files that are there, by path."""
    return {
        path: file.read_bytes(path).decode("utf-8", "surrogateescape")
        for path in sorted(set(paths))
        if file.is_file(path)
    }


@changer(touches=["files", "network"], planned=True)
def put(old: Texts, new: Texts, mode: str) -> None:
    """Write files, and remove those that are no longer wanted. mode: of files that are new."""
    for path, text in new.items():
        if old.get(path) != text:
            folder = os.path.dirname(path)
            if not file.is_dir(folder):
                file.makedirs(folder, mode="0755")
            present = file.is_file(path) and mode != "0600"
            file.write(
                path, text.encode("utf-8", "surrogateescape"), mode=None if present else mode
            )
    for path in old:
        if path not in new:
            file.remove(path)


def no_packages(kind: str) -> list[str]:
    """The `packages` of a tool that makes every kind of interface itself."""
    return []


@fetcher
def not_verified(name: str, old: Texts, new: Texts) -> None:
    """The `verify` of files that a shell reads: `texts` lets through nothing special in them."""


def link_exists(name: str) -> bool:
    """Return whether the kernel has an interface."""
    return _paths.exists(f"/sys/class/net/{name}")


def link_up(name: str) -> bool:
    """Return whether the kernel has an interface that is up."""
    try:
        with open(f"/sys/class/net/{name}/flags", encoding="ascii") as stream:
            return bool(int(stream.read(), 16) & 1)
    except (OSError, ValueError):
        return False


def wait_for(is_so: Any, seconds: float) -> bool:
    """Wait up to some seconds for a look to answer yes; return its last answer."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@changer(touches=["files", "network"], planned=True)
@offline_as(lambda *argv: None)  # the next start does
def run_tool(*argv: str) -> None:
    """Run a program that changes the network. Raises StateFailed when it fails."""
    cmd.execute(argv).or_fail(f"{' '.join(argv)} failed")
