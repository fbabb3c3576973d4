# SPDX-License-Identifier: Apache-2.0
"""The tables, chains and rules of nftables, and the program nft that sets them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from modules import cmd, file
from modules._machine.processes import Completed, needs
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import one_line, plain_name
from modules.firewalls import _own_network as own_network
from runner.api import CommandFailed, Record, StateFailed, Unforeseen, changer, for_states
from runner.api.near import closest
from runner.api.offline import is_offline

# Salt's names; nft's own are taken as they are
FAMILIES = {"ipv4": "ip", "ip4": "ip", "ipv6": "ip6"}
SAVED_AT = "/etc/nftables.conf"
LOAD, LIST = "nft -f -", "nft -s list ruleset"
# ends of rules that stand for themselves; another word is a chain to jump to
VERDICTS = tuple(
    "accept drop reject queue continue return masquerade redirect log counter notrack".split()
)
_INTERFACES = {"if": "iifname", "in-interface": "iifname", "of": "oifname"}
_INTERFACES |= {"out-interface": "oifname"}
_ADDRESSES = {"source": "saddr", "saddr": "saddr", "destination": "daddr", "daddr": "daddr"}
PROTOCOLS_WITH_PORTS = ("tcp", "udp", "sctp", "dccp", "udplite")
# what stands in a value and would begin another statement
_FORBIDDEN = re.compile(r"[;{}\"\\#\n\0]")
# loads a table into a network namespace that lasts as long as this shell, with a rule in it
_TRIAL = 'nft -f - && exec nft -j list chain "$@"'


class Rule(Record):
    """A rule of a chain. handle: the kernel's number of it. meaning: what it says, comparable."""

    handle: int
    meaning: str


def family_of(family: str) -> str:
    """The name that nft has for a family.

    >>> family_of("ipv4"), family_of("inet")
    ('ip', 'inet')
    """
    return FAMILIES.get(family, family)


def version() -> str:
    """The version of nft.

    {{ salt['nftables.version']() }}
    """
    return _nft("--version").split()[1].removeprefix("v")


# ---------------------------------------------------------------- how rules are written


def rule(options: Mapping[str, Any], family: str = "ipv4") -> str:
    """A rule in nft's own language from Salt's arguments. Raises CommandFailed for one that it does
    not know.

    >>> rule({"proto": "tcp", "dport": 22, "connstate": "NEW", "jump": "ACCEPT"})
    'ct state { new } tcp dport { 22 } accept'
    """
    left = {key: value for key, value in options.items() if value is not None}
    written = one_line(left.pop("rule", ""), "rule")
    left.pop("match", None)  # what iptables loads, nft has
    words = [_matches(f"meta {kind}", left, key) for key, kind in _INTERFACES.items()]
    words += [_states(left)]
    words += [_matches(f"{kind} type", left, f"{kind}-type", True) for kind in ("icmp", "icmpv6")]
    words += ["counter" if left.pop("counter", False) not in (False, "False") else ""]
    for key, side in _ADDRESSES.items():
        words.append(_address(family, key, side, left.pop(key, None)))
    words += [_ports(left), _limit(left), _log(left), written, _end(left)]
    if "comment" in left:
        words.append(f"comment {_quoted('comment', left.pop('comment'))}")
    if left:
        raise CommandFailed(
            f"{', '.join(left)}: nftables.* has no such argument; write what nft's own language"
            " has for it as `rule: ...`"
        )
    return " ".join(word for word in words if word)


def _value(key: str, value: object) -> str:
    """A value as nft takes it. Raises CommandFailed for one that would be more than a value."""
    text = one_line(value, key).strip()
    if not text or _FORBIDDEN.search(text):
        raise CommandFailed(f"{key}: {text!r} is no value for a rule of nft")
    return text


def _quoted(key: str, value: object) -> str:
    """A text in quotes, which nft cannot escape."""
    text = one_line(value, key)
    if not text or '"' in text:
        raise CommandFailed(f"{key}: {text!r} is no text for nft, which has no way to write it")
    return f'"{text}"'


def _negated(key: str, value: object) -> tuple[str, list[str]]:
    """`!= ` where a value begins with ! or not; and its elements."""
    elements = value if isinstance(value, list) else str(value).split(",")
    values = [_value(key, element) for element in elements]
    first = values[0]
    if first.startswith("!") or first.lower().startswith("not "):
        values[0] = first.removeprefix("!").removeprefix("=") if first[0] == "!" else first[4:]
        return "!= ", [element.strip() for element in values]
    return "", values


def _matches(what: str, left: dict[str, Any], key: str, several: bool = False) -> str:
    if key not in left:
        return ""
    unless, values = _negated(key, left.pop(key))
    several = several or len(values) > 1
    return f"{what} {unless}{_braced(values) if several else values[0]}"


def _braced(values: Sequence[str]) -> str:
    return f"{{ {', '.join(values)} }}"


def _states(left: dict[str, Any]) -> str:
    for key in ("connstate", "state", "ctstate"):
        if key in left:
            unless, values = _negated(key, left.pop(key))
            return f"ct state {unless}{_braced([value.lower() for value in values])}"
    return ""


def _address(family: str, key: str, side: str, value: object) -> str:
    if value is None:
        return ""
    unless, values = _negated(key, value)
    kind = "ip6" if ":" in values[0] or family in ("ipv6", "ip6") else "ip"
    return f"{kind} {side} {unless}{_braced(values) if len(values) > 1 else values[0]}"


def _ports(left: dict[str, Any]) -> str:
    """The protocol with its ports. Raises CommandFailed for what is no port, and for ports without
    a protocol.
    """
    protocols = [left.pop(key) for key in ("proto", "protocol") if key in left]
    unless, names = _negated("proto", protocols[0]) if protocols else ("", [])
    words = []
    for keys, side in (
        (("dport", "dports", "destination-port"), "dport"),
        (("sport", "sports", "source-port"), "sport"),
    ):
        for key in keys:
            if key not in left:
                continue
            if len(names) != 1 or unless or names[0] not in PROTOCOLS_WITH_PORTS:
                raise CommandFailed(
                    f"{key}: of which protocol? proto: tcp, udp, sctp, dccp or udplite"
                )
            other, ports = _negated(key, left.pop(key))
            ranges = _braced([port_range(key, port) for port in ports])
            words.append(f"{names[0]} {side} {other}{ranges}")
    if names and not words:
        value = _braced(names) if len(names) > 1 else names[0]
        words.append(f"meta l4proto {unless}{value}")
    return " ".join(words)


def port_range(key: str, text: str) -> str:
    """A port, its name or a range of ports as nft writes it. Raises CommandFailed for another text.

    >>> port_range("dport", "1024:2048")
    '1024-2048'
    """
    parts = re.split("[:-]", text) if re.fullmatch(r"\d+[:-]\d+", text) else [text]
    for part in parts:
        if (part.isdigit() and int(part) > 65535) or not re.fullmatch(r"[\w-]+|@\w+|\$\w+", part):
            raise CommandFailed(f"{key}: {text!r} is no port: 1 to 65535, a service or FIRST:LAST")
    return "-".join(parts)


def _limit(left: dict[str, Any]) -> str:
    return f"limit rate {_value('limit', left.pop('limit'))}" if "limit" in left else ""


def _log(left: dict[str, Any]) -> str:
    words = []
    if "log-prefix" in left:
        words.append(f"prefix {_quoted('log-prefix', left.pop('log-prefix'))}")
    if "log-level" in left:
        words.append(f"level {_value('log-level', left.pop('log-level'))}")
    asked = left.pop("log", False) not in (False, "False")
    if str(left.get("jump")).lower() == "log":
        asked = bool(left.pop("jump"))
    return " ".join(["log", *words]) if words or asked else ""


def _end(left: dict[str, Any]) -> str:
    """Return what becomes of a packet."""
    goto = left.pop("goto", None)
    if goto is not None:
        return f"goto {plain_name(_value('goto', goto), 'goto')}"
    jump = left.pop("jump", None)
    if jump is None:
        return ""
    text = _value("jump", jump)
    verdict = text.lower()
    for key in ("to-source", "to-destination"):
        if key in left:
            return f"{verdict} to {_value(key, left.pop(key))}"
    for key in ("to-port", "to-ports"):
        if key in left:
            return f"{verdict} to :{port_range(key, _value(key, left.pop(key)))}"
    if "reject-with" in left:
        return f"reject with {_value('reject-with', left.pop('reject-with'))}"
    if " " in text or verdict in VERDICTS:
        return verdict if verdict in VERDICTS else text
    return f"jump {plain_name(text, 'jump')}"


# ---------------------------------------------------------------- looks


def list_tables(family: str = "ipv4") -> list[dict[str, Any]]:
    """The tables of a family, as nft lists them.

    {{ salt['nftables.list_tables'](family='inet') | json }}
    """
    listed = json.loads(_nft("-j", "list", "tables", plain_name(family_of(family), "family")))
    return [entry["table"] for entry in listed["nftables"] if "table" in entry]


@for_states
def listed_tables() -> list[tuple[str, str, list[str]]]:
    """All tables: family, name and the lines between their braces, without counts."""
    tables: list[tuple[str, str, list[str]]] = []
    for line in _nft("-s", "list", "ruleset").splitlines():
        match = re.fullmatch(r"table (\S+) (\S+) \{", line)
        if match:
            tables.append((match[1], match[2].strip('"'), []))
        elif tables and line != "}":
            tables[-1][2].append(line)
    return tables


def check_table(table: str, family: str = "ipv4") -> bool:
    """Return whether there is a table.

    {{ salt['nftables.check_table']('filter', family='inet') }}
    """
    return any(entry["name"] == table for entry in list_tables(family))


def check_chain(table: str = "filter", chain: str = "", family: str = "ipv4") -> bool:
    """Return whether there is a chain.

    {{ salt['nftables.check_chain']('filter', 'input', family='inet') }}
    """
    return chain_settings(table, chain, family) is not None


def chain_settings(table: str, chain: str, family: str = "ipv4") -> dict[str, Any] | None:
    """The type, hook, prio and policy of a chain, as far as it has them; None without it."""
    for entry in _listed_table(table, family):
        if "chain" in entry and entry["chain"]["name"] == chain:
            settings = entry["chain"]
            assert isinstance(settings, dict)
            return settings
    return None


def chains(table: str = "filter", family: str = "ipv4") -> list[str]:
    """The names of a table's chains.

    {{ salt['nftables.chains']('filter', family='inet') | json }}
    """
    return [entry["chain"]["name"] for entry in _listed_table(table, family) if "chain" in entry]


def get_policy(table: str = "filter", chain: str = "", family: str = "ipv4") -> str | None:
    """Return what a chain does with packets that no rule decides; None for a chain without a
    policy.

    {{ salt['nftables.get_policy']('filter', 'input', family='inet') }}
    """
    policy = (chain_settings(table, chain, family) or {}).get("policy")
    return str(policy) if policy else None


def get_rules(family: str = "ipv4") -> list[str]:
    """The tables of a family with all that they hold, in nft's own language.

    {{ salt['nftables.get_rules'](family='inet') | json }}
    """
    tables = list_tables(family)
    return [_nft("list", "table", *_place(family, entry["name"])) for entry in tables]


def get_rules_json(family: str = "ipv4") -> list[dict[str, Any]]:
    """The tables, chains and rules of a family, as nft lists them.

    {{ salt['nftables.get_rules_json']('inet') | json }}
    """
    name = plain_name(family_of(family), "family")
    listed = json.loads(_nft("-j", "list", "ruleset", name))["nftables"]
    assert isinstance(listed, list)
    return listed


def rules(table: str, chain: str | None = None, family: str = "ipv4") -> list[Rule]:
    """The rules of a chain, or of all chains of a table."""
    return _rules(_listed_table(table, family), chain)


def check(table: str = "filter", chain: str = "", rule: str = "", family: str = "ipv4") -> bool:
    """Return whether a chain has a rule of this meaning, however it is written.

    {{ salt['nftables.check']('filter', 'input', 'tcp dport 22 accept', family='inet') }}
    """
    return bool(handles(table, chain, rule, family))


def handles(table: str, chain: str, rule: str, family: str = "ipv4") -> list[int]:
    """The kernel's numbers of the rules of a chain that mean what a rule means. Raises StateFailed
    for a rule that the kernel would not take.
    """
    present = rules(table, chain, family)
    wanted = _try(table, chain, rule, family)
    return [other.handle for other in present if other.meaning == wanted]


def _rules(listed: Sequence[Mapping[str, Any]], chain: str | None) -> list[Rule]:
    entries = [entry["rule"] for entry in listed if "rule" in entry]
    return [
        Rule(entry["handle"], _meaning(entry))
        for entry in entries
        if chain is None or entry["chain"] == chain
    ]


def _meaning(entry: Mapping[str, Any]) -> str:
    """A rule without its place and what it has counted."""
    statements = [_without_counts(statement) for statement in entry["expr"]]
    return json.dumps([statements, entry.get("comment")], sort_keys=True)


def _without_counts(statement: Any) -> Any:
    if isinstance(statement, dict) and isinstance(statement.get("counter"), dict):
        return {"counter": None}
    if isinstance(statement, dict) and isinstance(statement.get("quota"), dict):
        uncounted = {key: value for key, value in statement["quota"].items() if "used" not in key}
        return {"quota": uncounted}
    return statement


VERDICTS = ("accept", "drop", "queue", "continue", "return", "reject", "masquerade")


def _try(table: str, chain: str, rule: str, family: str) -> str:
    """Return the kernel's own form of a rule: it is added to a copy of the table, in a network
    namespace of its own.
    """
    name, table = _place(family, table)
    chain = plain_name(chain, "chain")
    text = _nft("-s", "list", "table", name, table)
    line = f"add rule {name} {table} {chain} {one_line(rule, 'rule')}"
    done = own_network.probe(_TRIAL, name, table, chain, stdin=f"{text}\n{line}\n")
    if done.retcode:
        reason = _reason(done.stderr)
        target = reason.rpartition(": ")[2]  # the chain that it leads to, when there is none
        lacks = "No such file" in reason
        missing = ("nftables chain", f"{name} {table} {target}") if lacks else None
        if lacks and re.search(rf"\b(jump|goto) {re.escape(target)}$", rule.strip()):
            near = closest(target, VERDICTS)
            meant = f": did you mean {near}?" if near else ""
            reason = f"Chain {target} in table {table} in family {family} does not exist{meant}"
        raise StateFailed(reason, missing=missing)
    return _rules(json.loads(done.stdout)["nftables"], chain)[-1].meaning


def refusal(*statements: str) -> str | None:
    """Return the kernel's objection to statements; None where it would take them."""
    done = _run("--check", "-f", "-", stdin=_script(statements))
    return _reason(done.stderr) if done.retcode else None


def _script(statements: Sequence[str]) -> str:
    lines = [one_line(statement, "a statement of nft") for statement in statements]
    return "\n".join([*lines, ""])


def _reason(stderr: str) -> str:
    """Return what nft says, without the echo of the line that it marks; it names what it marks."""
    lines = stderr.strip().split("\n")
    message = re.sub(r"^(\S+:\d+:\d+-\d+: )?Error: ", "", lines[0])
    for echo, marks in pairwise(lines):
        if set(marks.strip()) == {"^"}:
            begin = marks.index("^")
            return f"{message}: {echo[begin : begin + marks.count('^')]}"
    return message


def _listed_table(table: str, family: str) -> list[dict[str, Any]]:
    """All that a table holds. Raises StateFailed where there is none."""
    name, table = _place(family, table)
    done = _run("-j", "list", "table", name, table)
    if done.retcode and "No such file or directory" in done.stderr:
        raise StateFailed(
            f"Table {table} in family {family} does not exist",
            missing=("nftables table", f"{name} {table}"),
        )
    if done.retcode:
        raise StateFailed(_reason(done.stderr))
    listed = json.loads(done.stdout)["nftables"]
    assert isinstance(listed, list)
    return listed


def _place(family: str, table: str) -> tuple[str, str]:
    return plain_name(family_of(family), "family"), plain_name(table, "table")


def _nft(*words: str) -> str:
    done = _run(*words)
    if done.retcode:
        raise StateFailed(_reason(done.stderr))
    return done.stdout


# ---------------------------------------------------------------- changes


def _plan(*statements: str) -> None:
    known = planned_machine().rules.get("nft")
    script = _script(statements)
    if is_offline() or (known is None and " handle " in script):  # of the kernel, not of a trial
        raise Unforeseen(script)
    known = known or _nft("-s", "list", "ruleset")
    planned_machine().rules["nft"] = known  # where they cannot be tried, no look can, either
    done = own_network.with_planned({LOAD: known}, ["nft", "-f", "-"], LIST, script)
    if done.retcode:
        raise CommandFailed(_reason(done.stderr))
    planned_machine().rules["nft"] = done.stdout
    tell_otherwise("nft")


@changer(touches=[], planned=_plan, planned_touches=[])
def change(*statements: str) -> None:
    """Carry out statements of nft, all or none; on a system that does not run in the file of rules.
    Raises CommandFailed with what nft says.
    """
    done = _run("-f", "-", stdin=_script(statements), keep=LIST)
    if done.retcode:
        raise CommandFailed(_reason(done.stderr))
    if is_offline():
        file.write(SAVED_AT, _as_file(done.stdout).encode())


def _run(*words: str, stdin: str | None = None, keep: str = "") -> Completed:
    """What nft says of the rules in force; of a system that does not run, of those which it will
    start with. keep: as of own_network.with_kept.
    """
    needs("nft", "nftables")
    if (planned := planned_machine().rules.get("nft")) is not None:
        return own_network.with_planned({LOAD: planned}, ["nft", *words], keep, stdin)
    if not is_offline():
        return cmd.probe(["nft", *words], stdin=stdin)
    load = own_network.loading(SAVED_AT, f"nft -f {SAVED_AT}")
    return own_network.with_kept(load, ["nft", *words], keep, stdin)


def is_saved(path: str) -> bool:
    """Return whether a file holds the rules that are set now."""
    if not file.is_file(path):
        return False
    return file.read_bytes(path).decode("utf-8", "replace") == _ruleset()


def save(path: str = SAVED_AT, family: str = "ipv4") -> None:
    """Write all rules to a file that `nft -f` reads (only while changing). Raises CommandFailed for
    rules that nft lists and does not read, as some of iptables' are.
    """
    text = _ruleset()
    done = _run("--check", "-f", "-", stdin=text)
    if done.retcode:
        raise CommandFailed(f"not saved, nft would not read it again: {_reason(done.stderr)}")
    file.makedirs(os.path.dirname(path))
    file.write(path, text.encode())


def _ruleset() -> str:
    """All rules as a file that replaces what is there when nft reads it."""
    return _as_file(_nft("-s", "list", "ruleset"))


def _as_file(ruleset: str) -> str:
    return f"#!/usr/sbin/nft -f\n\nflush ruleset\n\n{ruleset.rstrip()}\n"
