# SPDX-License-Identifier: Apache-2.0
"""Rules, chains and zones of the packet filters as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from modules.firewalls import firewalld, iptables, nftables, ufw
from runner.api import Resource, StateFailed

ROLE = "firewall"


# ---------------------------------------------------------------- firewalld

FOLDER = "/etc/firewalld"
LISTS = {
    "services": "services",
    "ports": "ports",
    "icmp-blocks": "block_icmp",
    "interfaces": "interfaces",
    "sources": "sources",
    "rich rules": "rich_rules",
}


def firewalld_resources(name: str | None) -> Iterator[Resource]:
    """Services and zones; of the whole firewall those that somebody changed."""
    default = firewalld.default_zone()
    changed = {kind: _changed(kind) for kind in ("services", "zones")}
    for service in changed["services"] if name is None else [name]:
        if service in firewalld.get_services():
            about = {key: value for key, value in firewalld.service(service).items() if value}
            files = tuple(changed["services"].get(service, ()))
            yield Resource("firewalld.service", service, about, files=files)
    for zone in firewalld.list_zones() if name is None else [name]:
        if zone in firewalld.list_zones():
            yield _zone(zone, zone == default, changed["zones"].get(zone, []))


def _changed(kind: str) -> dict[str, list[str]]:
    """Return what somebody changed, with the files that say so."""
    changed: dict[str, list[str]] = {}
    for path in sorted(glob.glob(f"{FOLDER}/{kind}/*.xml*")):
        changed.setdefault(os.path.basename(path).partition(".xml")[0], []).append(path)
    return changed


def _zone(name: str, is_default: bool, files: list[str]) -> Resource:
    about = firewalld.zone(name)
    arguments: dict[str, Any] = {"default": True} if is_default else {}
    arguments |= {"masquerade": True} if about.get("masquerade") == ["yes"] else {}
    arguments |= {argument: about[key] for key, argument in LISTS.items() if about.get(key)}
    forwards = [_forward(forward) for forward in about.get("forward-ports", [])]
    arguments |= {"port_fwd": forwards} if forwards else {}
    shipped = not files and not (is_default and name != "public")
    return Resource("firewalld.present", name, arguments, shipped=shipped, files=tuple(files))


def _forward(text: str) -> str:
    """A forwarded port as states write it: `port=22:proto=tcp:toport=2222:toaddr=10.0.0.5`."""
    fields = dict(pair.partition("=")[::2] for pair in text.split(":", 3))
    keys = ("port", "toport", "proto", "toaddr")
    return ":".join(fields.get(key, "") for key in keys)


# ---------------------------------------------------------------- iptables

# chains and rules that other programs keep
_KEPT_CHAINS = re.compile(
    r"(?:ufw6?-|DOCKER|f2b-|fail2ban|KUBE-|CNI-|cali-|LIBVIRT_|NETAVARK|INPUT_|FORWARD_|OUTPUT_"
    r"|POSTROUTING_|PREROUTING_|ts-).*"
)
_LONG = {"p": "proto", "s": "source", "d": "destination", "j": "jump", "g": "goto"}
_LONG |= {"i": "in-interface", "o": "out-interface", "m": "match", "f": "fragment"}


def iptables_resources(name: str | None) -> Iterator[Resource]:
    """Chains, policies and rules, by chain, that no other program keeps."""
    for family in ("ipv4", "ipv6"):
        for table, chains in iptables.get_rules(family).items():
            where = {"table": table} if table != "filter" else {}
            where |= {"family": family} if family != "ipv4" else {}
            own = [chain for chain in chains if not _KEPT_CHAINS.fullmatch(chain)]
            chosen = own if name is None else [name] if name in own else []
            labels = {chain: " ".join([*where.values(), chain]) for chain in chosen}
            policies = {chain: chains[chain]["policy"] for chain in chosen}
            for chain in chosen:
                if policies[chain] == "-":  # one of somebody's own
                    yield Resource("iptables.chain_present", chain, where)
            for chain, label in labels.items():
                lines = iptables.rules(family, table, chain)
                for number, line in enumerate(lines, 1):
                    yield from _iptables_rule(
                        line, {"chain": chain, **where}, f"{label} rule {number}"
                    )
            for chain, label in labels.items():  # after the rules that let somebody in
                if policies[chain] != "-":
                    yield _iptables_policy(chain, policies[chain], where, label)


def _iptables_policy(chain: str, policy: str, where: Mapping[str, str], label: str) -> Resource:
    arguments = {"chain": chain, "policy": policy, **where}
    shipped = policy == "ACCEPT"
    return Resource("iptables.set_policy", f"{label} policy", arguments, shipped=shipped)


def _iptables_rule(line: str, where: Mapping[str, str], label: str) -> Iterator[Resource]:
    options = _options(shlex.split(line)[2:])
    if options is not None and _KEPT_CHAINS.fullmatch(str(options.get("jump", ""))):
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


# ---------------------------------------------------------------- nftables

# tables that other programs keep
_KEPT_TABLES = re.compile(r"(?:firewalld|docker.*|netavark|libvirt.*|f2b-.*|fail2ban.*|nixos-fw)")
OF_IPTABLES = {"INPUT", "FORWARD", "OUTPUT", "PREROUTING", "POSTROUTING"}  # chains
_FAMILIES = {"ip": "ipv4", "ip6": "ipv6"}


def nftables_resources(name: str | None) -> Iterator[Resource]:
    """Tables with their chains and rules, by table."""
    for kernel_family, table, lines in nftables.listed_tables():
        if name not in (None, table) or _KEPT_TABLES.fullmatch(table):
            continue
        chains = _listed_chains(lines)
        if kernel_family in _FAMILIES and OF_IPTABLES & chains.keys():
            continue
        family = _FAMILIES.get(kernel_family, kernel_family)
        where = {"table": table, "family": family}
        yield Resource("nftables.table_present", table, {"family": family})
        for chain in chains:
            yield from _chain(chain, where)
        for chain, rules in chains.items():
            for number, rule in enumerate(rules, 1):
                yield _nftables_rule(rule, {"chain": chain, **where}, number)
        for chain in chains:  # after the rules that let somebody in
            yield from _nftables_policy(chain, where)
        for line in lines:
            if match := re.fullmatch(r"\t((?:set|map|flowtable) \S+) \{", line):
                note = f"{match[1]} of the table {table} is left out: no state makes one"
                yield Resource("", table, note=note)


def _listed_chains(lines: list[str]) -> dict[str, list[str]]:
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


def _nftables_policy(chain: str, where: dict[str, str]) -> Iterator[Resource]:
    settings = nftables.chain_settings(where["table"], chain, where["family"]) or {}
    if settings.get("policy") == "drop":
        label = f"{' '.join(where.values())} {chain} policy"
        arguments = {"chain": chain, **where, "policy": "drop"}
        yield Resource("nftables.set_policy", label, arguments)


def _nftables_rule(rule: str, where: dict[str, str], number: int) -> Resource:
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


# ---------------------------------------------------------------- ufw

_USUAL = {"incoming": "deny", "outgoing": "allow", "routed": "deny"}
_FILES = tuple(f"/etc/ufw/{name}" for name in ("ufw.conf", "user.rules", "user6.rules"))
_ACTIONS = ("allow", "deny", "limit", "reject")
# words of a rule, each with the argument that it is followed by the value of
_ARGUMENTS = {"on": "interface", "from": "source", "port": "port", "app": "port"}
_ARGUMENTS |= {"proto": "proto", "comment": "comment", "to": "destination"}


def ufw_resources(name: str | None) -> Iterator[Resource]:
    """Yield what is done by default, the rules by their port, and whether the firewall is on."""
    for direction, usual in _USUAL.items():
        policy = ufw.default_policy(direction)
        if name in (None, direction):
            arguments = {"policy": policy}
            files = ("/etc/default/ufw",)
            shipped = policy == usual
            yield Resource("ufw.default", direction, arguments, shipped=shipped, files=files)
    rules = [_ufw_rule(line) for line in ufw.rules()]
    yield from (item for item in rules if name in (None, item.name))
    if name in (None, "firewall"):
        on = ufw.is_enabled()
        if on is ufw.is_active():
            function = "ufw.enabled" if on else "ufw.disabled"
            yield Resource(function, "firewall", shipped=not on, files=_FILES)


def _ufw_rule(line: str) -> Resource:
    action, *words = shlex.split(line)
    label = f"ufw {line}"
    unknown = Resource("", label, note=f"{label}: no state of ufw says that: left out")
    if action not in _ACTIONS or not words:
        return unknown
    arguments: dict[str, Any] = {}
    if words[0] in ("in", "out"):
        arguments |= {"direction": "out"} if words[0] == "out" else {}
        words = words[1:]
    if words and words[0] not in _ARGUMENTS:
        arguments["port"], *words = words
    if len(words) % 2 or any(word not in _ARGUMENTS for word in words[::2]):
        return unknown
    pairs = zip(words[::2], words[1::2], strict=True)
    arguments |= {_ARGUMENTS[word]: value for word, value in pairs if value != "any"}
    arguments.setdefault("port", "any")
    port = str(arguments.pop("port"))
    try:
        chosen = ("proto", "source", "destination", "interface", "direction", "comment")
        defaults = {"source": "any", "destination": "any", "direction": "in"}
        values: list[Any] = [arguments.get(key, defaults.get(key)) for key in chosen]
        same = ufw.has_rule(ufw.rule(action, port, *values))
    except StateFailed:
        same = False
    if not same:
        return unknown
    if arguments and port == "any":
        return Resource(f"ufw.{action}", label, {"port": port, **arguments})
    return Resource(f"ufw.{action}", port, arguments)
