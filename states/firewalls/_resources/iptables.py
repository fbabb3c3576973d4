# SPDX-License-Identifier: Apache-2.0
"""Rules of the kernel's packet filter as they are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from modules.firewalls import iptables
from runner.api import Resource, StateFailed

ROLE = "firewall"
# chains and rules that other programs keep
_OF_OTHERS = re.compile(
    r"(?:ufw6?-|DOCKER|f2b-|fail2ban|KUBE-|CNI-|cali-|LIBVIRT_|NETAVARK|INPUT_|FORWARD_|OUTPUT_"
    r"|POSTROUTING_|PREROUTING_|ts-).*"
)
_LONG = {"p": "proto", "s": "source", "d": "destination", "j": "jump", "g": "goto"}
_LONG |= {"i": "in-interface", "o": "out-interface", "m": "match", "f": "fragment"}


def resources(name: str | None) -> Iterator[Resource]:
    """Chains, policies and rules, by chain, that no other program keeps."""
    for family in ("ipv4", "ipv6"):
        for table, chains in iptables.get_rules(family).items():
            where = {"table": table} if table != "filter" else {}
            where |= {"family": family} if family != "ipv4" else {}
            own = [chain for chain in chains if not _OF_OTHERS.fullmatch(chain)]
            chosen = own if name is None else [name] if name in own else []
            labels = {chain: " ".join([*where.values(), chain]) for chain in chosen}
            policies = {chain: chains[chain]["policy"] for chain in chosen}
            for chain in chosen:
                if policies[chain] == "-":  # one of somebody's own
                    yield Resource("iptables.chain_present", chain, where)
            for chain, label in labels.items():
                lines = iptables.rules(family, table, chain)
                for number, line in enumerate(lines, 1):
                    yield from _rule(line, {"chain": chain, **where}, f"{label} rule {number}")
            for chain, label in labels.items():  # after the rules that let somebody in
                if policies[chain] != "-":
                    yield _policy(chain, policies[chain], where, label)


def _policy(chain: str, policy: str, where: Mapping[str, str], label: str) -> Resource:
    arguments = {"chain": chain, "policy": policy, **where}
    shipped = policy == "ACCEPT"
    return Resource("iptables.set_policy", f"{label} policy", arguments, shipped=shipped)


def _rule(line: str, where: Mapping[str, str], label: str) -> Iterator[Resource]:
    options = _options(shlex.split(line)[2:])
    if options is not None and _OF_OTHERS.fullmatch(str(options.get("jump", ""))):
        return
    if options is None or not _is_same(options, where):
        yield Resource("", label, note=f"{label} is left out: no state says {line}")
        return
    yield Resource("iptables.append", label, {**where, **options})


def _is_same(options: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    """Return whether the options, as a state writes them, are the rule that is there."""
    family, table = where.get("family", "ipv4"), where.get("table", "filter")
    try:
        return iptables.has_rule(family, table, where["chain"], iptables.rule(options))
    except (StateFailed, ValueError):
        return False


def _options(words: list[str]) -> dict[str, Any] | None:
    """The arguments of a rule; None where one option stands in it twice."""
    options: dict[str, Any] = {}
    matches: list[str] = []
    negated, key = "", ""
    for word in words:
        if word == "!":
            negated = "! "
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            key = word.lstrip("-")
            key = _LONG.get(key, key) if not word.startswith("--") else key
            if key != "match" and key in options:
                return None
            options[key], negated = negated, ""
        elif key == "match":
            matches.append(word)
        else:
            before = options[key]
            options[key] = f"{before}{word}" if before in ("", "! ") else f"{before} {word}"
    options.pop("match", None)
    if "recent" in matches and "name" in options:
        options["name_"] = options.pop("name")
    loaded = {"multiport": ("dports", "sports", "ports"), "set": ("match-set",)}
    matches = [match for match in matches if not {*loaded.get(match, ())} & options.keys()]
    return {**({"match": matches} if matches else {}), **options}
