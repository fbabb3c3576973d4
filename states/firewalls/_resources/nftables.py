# SPDX-License-Identifier: Apache-2.0
"""Tables, chains and rules of nftables as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from modules.firewalls import nftables
from runner.api import Resource, StateFailed

ROLE = "firewall"
# tables that other programs keep
_OF_OTHERS = re.compile(r"(?:firewalld|docker.*|netavark|libvirt.*|f2b-.*|fail2ban.*|nixos-fw)")
OF_IPTABLES = {"INPUT", "FORWARD", "OUTPUT", "PREROUTING", "POSTROUTING"}  # chains
FAMILIES = {"ip": "ipv4", "ip6": "ipv6"}


def resources(name: str | None) -> Iterator[Resource]:
    """Tables with their chains and rules, by table."""
    for kernel_family, table, lines in nftables.listed_tables():
        if name not in (None, table) or _OF_OTHERS.fullmatch(table):
            continue
        chains = _chains(lines)
        if kernel_family in FAMILIES and OF_IPTABLES & chains.keys():
            continue
        family = FAMILIES.get(kernel_family, kernel_family)
        where = {"table": table, "family": family}
        yield Resource("nftables.table_present", table, {"family": family})
        for chain in chains:
            yield from _chain(chain, where)
        for chain, rules in chains.items():
            for number, rule in enumerate(rules, 1):
                yield _rule(rule, {"chain": chain, **where}, number)
        for chain in chains:  # after the rules that let somebody in
            yield from _policy(chain, where)
        for line in lines:
            if match := re.fullmatch(r"\t((?:set|map|flowtable) \S+) \{", line):
                note = f"{match[1]} of the table {table} is left out: no state makes one"
                yield Resource("", table, note=note)


def _chains(lines: list[str]) -> dict[str, list[str]]:
    """The lines of each chain of a listed table."""
    chains: dict[str, list[str]] = {}
    inside: list[str] | None = None
    for line in lines:
        match = re.fullmatch(r"\tchain (\S+) \{", line)
        if match:
            inside = chains.setdefault(match[1].strip('"'), [])
        elif line == "\t}":
            inside = None
        elif inside is not None:
            inside.append(line.strip())
    return {
        chain: [rule for rule in rules if not re.match(r"type \S+ hook |comment ", rule)]
        for chain, rules in chains.items()
    }


def _chain(chain: str, where: dict[str, str]) -> Iterator[Resource]:
    settings = nftables.chain_settings(where["table"], chain, where["family"]) or {}
    hook = {"table_type": "type", "hook": "hook", "priority": "prio"}
    base = {key: settings[word] for key, word in hook.items() if word in settings}
    if "dev" in settings:
        note = f"the chain {chain} of {where['table']} is one of a device: no state makes that"
        yield Resource("", chain, note=note)
        return
    yield Resource("nftables.chain_present", chain, {**where, **base})


def _policy(chain: str, where: dict[str, str]) -> Iterator[Resource]:
    settings = nftables.chain_settings(where["table"], chain, where["family"]) or {}
    if settings.get("policy") == "drop":
        label = f"{' '.join(where.values())} {chain} policy"
        arguments = {"chain": chain, **where, "policy": "drop"}
        yield Resource("nftables.set_policy", label, arguments)


def _rule(rule: str, where: dict[str, str], number: int) -> Resource:
    label = f"{where['family']} {where['table']} {where['chain']} rule {number}"
    arguments: dict[str, Any] = {**where, "rule": rule}
    try:
        text = nftables.rule({"rule": rule}, where["family"])
        same = bool(nftables.handles(where["table"], where["chain"], text, where["family"]))
    except StateFailed:
        same = False
    if same:
        return Resource("nftables.append", label, arguments)
    return Resource("", label, note=f"{label} is left out: no state says {rule}")
