# SPDX-License-Identifier: Apache-2.0
"""firewalld: what its zones let in, and its services."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from modules.firewalls import firewalld
from runner.api import (
    Check,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    here,
    promised,
)
from runner.api.kinds import comes_after
from runner.api.near import closest
from runner.api.offline import is_offline
from states._tools import explained
from states.firewalls._firewalld import normal

DECIDES = {"present": "default masquerade"}


def _no_port(text: str) -> str | None:
    match = re.fullmatch(r"([\w-]+)/(tcp|udp|sctp|dccp)", text.strip())
    numbers = re.findall(r"\d+", match[1]) if match else []
    if match and all(int(number) <= 65535 for number in numbers):
        return None
    return f"expected a port to 65535, or two with a hyphen, a slash and a protocol, not {text}"


Port = Annotated[Line, Check(_no_port, "such as `8080/tcp` or `9000-9010/udp`")]


def _no_source(text: str) -> str | None:
    if re.fullmatch(r"ipset:\S+|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", text):
        return None
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return f"expected an address, a network, the address of a card or ipset:NAME, not {text}"
    return None


Source = Annotated[Line, Check(_no_source)]
RELOADED = "what it has in force"
KEYS = ("Source port", "Destination port", "Protocol", "Destination address")


class Part(Record):
    """One list of a zone. key: what results call it; says: what firewalld calls it; option: of
    firewall-cmd.
    """

    key: str
    says: str
    option: str
    wanted: list[str] | None
    prune: bool


def present(
    name: Name,
    block_icmp: OneOrMany[Line] | None = None,
    prune_block_icmp: bool = False,
    default: bool | None = None,
    masquerade: bool | None = None,
    ports: OneOrMany[Port] | None = None,
    prune_ports: bool = False,
    port_fwd: OneOrMany[Line] | None = None,
    prune_port_fwd: bool = False,
    services: OneOrMany[Name] | None = None,
    prune_services: bool = False,
    interfaces: OneOrMany[Line] | None = None,
    prune_interfaces: bool = False,
    sources: OneOrMany[Source] | None = None,
    prune_sources: bool = False,
    rich_rules: OneOrMany[Line] | None = None,
    prune_rich_rules: bool = False,
) -> Planned:
    """Make sure that there is a zone, and what it lets in.

    name: The zone.
    block_icmp: The kinds of ICMP packets that are blocked.
    prune_block_icmp: Other kinds of ICMP packets are let through.
    default: Make it the zone of interfaces that are in no other.
    masquerade: Whether the zone hides addresses; without it as it is.
    ports: The ports that are open, such as `8080/tcp`.
    prune_ports: Close other ports.
    port_fwd: The ports that are forwarded: `22:2222:tcp:10.0.0.5` (port, port there, protocol,
      address there).
    prune_port_fwd: Forward no other ports.
    services: The services that are let in, such as `ssh`.
    prune_services: Let no other services in.
    interfaces: The interfaces of the zone.
    prune_interfaces: Take other interfaces out of the zone.
    sources: The addresses and networks that belong to the zone.
    prune_sources: Take other addresses and networks out of the zone.
    rich_rules: The rules in firewalld's own language.
    prune_rich_rules: Remove other rich rules.

        public:
          firewalld.present:
            - services: [ssh, https]
            - ports: [8080/tcp]
            - prune_services: True
    """
    parts = [
        Part("icmp_types", "icmp-blocks", "icmp-block", block_icmp, prune_block_icmp),
        Part("ports", "ports", "port", ports, prune_ports),
        Part(
            "port_fwd",
            "forward-ports",
            "forward-port",
            [_forward(forward) for forward in port_fwd or []],
            prune_port_fwd,
        ),
        Part("services", "services", "service", services, prune_services),
        Part("interfaces", "interfaces", "interface", interfaces, prune_interfaces),
        Part("sources", "sources", "source", sources, prune_sources),
        Part(
            "rich_rules",
            "rich rules",
            "rich-rule",
            [_quoted(rule) for rule in rich_rules or []],
            prune_rich_rules,
        ),
    ]
    now = firewalld.find_zone(name)
    changes: dict[str, Any] = {}
    steps: list[Sequence[str]] = []
    if now is None:
        zones = firewalld.list_zones()
        near = closest(name, zones)
        if near and re.sub(r"\d", "", near) != re.sub(r"\d", "", name):  # not web1 beside web2
            here.warn(f"there is no zone {name} yet: did you mean {near}?")
        changes[name] = {"old": zones, "new": name}
        steps += [("--permanent", f"--new-zone={name}"), ("--reload",)]
    taken = now is None or is_offline() or promised("firewalld", RELOADED)
    in_force = None if taken else firewalld.find_zone(name, permanent=False)
    now = now or {}
    if default and (standard := firewalld.default_zone()) != name:
        changes["default"] = {"old": standard, "new": name}
        steps.append((f"--set-default-zone={name}",))
    hides = now.get("masquerade") == ["yes"]
    running = hides if in_force is None else in_force.get("masquerade") == ["yes"]
    if masquerade is not None and (hides, running) != (masquerade, masquerade):
        word = "set" if masquerade else "disabled"
        changes["masquerade"] = {"old": running or "", "new": f"Masquerading successfully {word}."}
        verb = "add" if masquerade else "remove"
        steps += [("--permanent", f"--zone={name}", f"--{verb}-masquerade")]
    for part in parts:
        old = now.get(part.says, [])
        new = _new_list(part, old)
        show = _shown_forwards if part.key == "port_fwd" else list
        if set(new) != set(old):
            _refuse(part, [element for element in new if element not in old])
            changes[part.key] = {"old": show(old), "new": show(new)}
            steps += _steps(name, part.option, old, new)
        elif in_force is not None and (missing := _not_in_force(name, part, new, in_force)):
            before = in_force.get(part.says, [])
            changes[part.key] = {"old": show(before), "new": show([*before, *missing])}
    return (yield from _configured(name, changes, steps))


def _new_list(part: Part, old: list[str]) -> list[str]:
    """The list as it is to be, what is there as firewalld writes it; pruning without a list is not
    meant.
    """
    there = {normal(part.key, element): element for element in old}
    asked = [there.get(normal(part.key, element), element) for element in part.wanted or []]
    remaining = [
        element
        for element in old
        if element in asked or not (part.prune and part.wanted is not None)
    ]
    return [*remaining, *(element for element in dict.fromkeys(asked) if element not in old)]


def _not_in_force(
    name: str, part: Part, new: Sequence[str], in_force: Mapping[str, Sequence[str]]
) -> list[str]:
    """What is kept for the next start and is not in force: somebody took it away, or a run was
    killed before firewalld took it. Interfaces are left out: others, too, say where they belong.
    """
    if part.key == "interfaces" or not part.wanted:
        return []
    asked = {normal(part.key, element) for element in part.wanted}
    now = in_force.get(part.says, ())
    others = [each for each in new if each not in now and normal(part.key, each) in asked]
    # of ports that follow each other it makes one range
    there = not others or firewalld.is_in_force(name, part.option, others)
    return [] if there else others


def _steps(name: str, option: str, old: list[str], new: list[str]) -> Iterator[Sequence[str]]:
    where = ("--permanent", f"--zone={name}")
    yield from ((*where, f"--add-{option}={element}") for element in new if element not in old)
    yield from ((*where, f"--remove-{option}={element}") for element in old if element not in new)


def _refuse(part: Part, added: Sequence[str]) -> None:
    """Fail for what firewalld does not know, or would refuse. A rich rule of a service that is not
    there would be taken, and let firewalld fail when it reads it.
    """
    named = {
        "services": [("service", element) for element in added],
        "icmp_types": [("icmp", element) for element in added],
        "rich_rules": [it for rule in added for it in RULE_NAMES.findall(rule)],
    }
    for what, element in named.get(part.key, []):
        look, kind = KNOWN[what]
        known = look()
        if element not in known:
            near = closest(element, known)
            meant = f": did you mean {near}?" if near else ""
            problem = f"firewalld knows no {kind} {element!r}{meant}"
            raise StateFailed(problem, missing=("firewalld", element))
    if added and (answer := firewalld.refused(part.option, added)):
        raise StateFailed(f"firewalld refuses {part.key}: {answer}")


KNOWN = {
    "service": (firewalld.get_services, "service"),
    "icmp": (firewalld.get_icmp_types, "kind of ICMP"),
}
RULE_NAMES = re.compile(r'\b(service|icmp)(?:-block|-type)? name="([^"]*)"')


def _forward(text: str) -> str:
    """`22:2222:tcp:10.0.0.5` as firewalld writes it."""
    port, to_port, protocol, *address = text.split(":") if text.count(":") > 1 else ["", "", ""]
    if not (port and to_port and protocol):
        raise StateFailed(
            f"{text!r} is not a forwarded port: write PORT:PORT_THERE:PROTOCOL:ADDRESS_THERE"
        )
    return f"port={port}:proto={protocol}:toport={to_port}:toaddr={':'.join(address)}"


def _shown_forwards(forwards: list[str]) -> list[dict[str, str]]:
    """Forwarded ports as results show them."""
    shown = []
    for forward in forwards:
        fields = dict(pair.partition("=")[::2] for pair in forward.split(":", 3))
        shown.append(
            dict(
                zip(
                    KEYS,
                    (fields.get(key, "") for key in ("port", "toport", "proto", "toaddr")),
                    strict=True,
                )
            )
        )
    return shown


def _quoted(rule: str) -> str:
    """A rich rule with its values in quotes, as firewalld writes it."""
    return re.sub(r"""([\w-]+)=(?:'([^']*)'|([^'"\s]\S*))""", r'\1="\2\3"', rule)


def _configured(name: str, changes: dict[str, Any], steps: Sequence[Sequence[str]]) -> Planned:
    if not changes:
        return f"'{name}' is already in the desired state."
    facts = [("firewalld", name), ("firewalld", RELOADED)]
    yield Plan(changes, f"Configuration for '{name}' will change.", provides=facts)
    with explained("Error"):
        firewalld.change(steps)
    return f"'{name}' was configured."


def service(
    name: Name, ports: OneOrMany[Port] | None = None, protocols: OneOrMany[Line] | None = None
) -> Planned:
    """Make sure that there is a service, with exactly these ports and protocols.

    name: The service.
    ports: The ports of the service, such as `9100/tcp`.
    protocols: The protocols of the service, such as `ah`.

        node-exporter:
          firewalld.service:
            - ports: [9100/tcp]
    """
    exists = name in firewalld.get_services()
    now = firewalld.service(name) if exists else {"ports": [], "protocols": []}
    changes: dict[str, Any] = {} if exists else {name: {"old": "", "new": name}}
    steps: list[Sequence[str]] = [] if exists else [("--permanent", f"--new-service={name}")]
    for key, wanted in (("ports", ports or []), ("protocols", protocols or [])):
        old = now[key]
        if set(old) != set(wanted):
            changes[key] = {"old": old, "new": wanted}
            where, option = ("--permanent", f"--service={name}"), key.removesuffix("s")
            steps += [
                (*where, f"--add-{option}={element}") for element in wanted if element not in old
            ]
            steps += [
                (*where, f"--remove-{option}={element}") for element in old if element not in wanted
            ]
    return (yield from _configured(name, changes, steps))


autorequire = comes_after(
    "The firewall comes after its package and its service.",
    ("pkg", "firewalld"),
    ("service", "firewalld"),
)
