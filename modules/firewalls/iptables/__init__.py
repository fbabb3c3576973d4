# SPDX-License-Identifier: Apache-2.0
"""The kernel's packet filter, with iptables and ip6tables.

Salt's functions: one that fails raises CommandFailed with what iptables says, where Salt's return
it as a text. What the states use is in _kernel.
"""

from __future__ import annotations

import shlex
from typing import Any

from modules import cmd, file
from modules._texts.call_options import options_of
from modules._texts.lines import plain_name
from modules.firewalls.iptables import _kernel
from modules.firewalls.iptables._kernel import (
    change,
    command,
    has_rule,
    is_saved,
    listed,
    program,
    rule,
    rules,
    saved_at,
    write_saved,
)
from runner.api import CommandFailed, StateFailed

_NAMES = {  # options of a listed rule -> what Salt calls them
    "A": "append",
    "p": "protocol",
    "s": "source",
    "d": "destination",
    "j": "jump",
    "i": "in-interface",
    "o": "out-interface",
    "m": "match",
    "g": "goto",
    "f": "fragment",
    "sport": "source_port",
    "dport": "destination_port",
    "sports": "source-ports",
    "dports": "destination-ports",
}
Rules = dict[str, dict[str, dict[str, Any]]]


def _parsed(text: str) -> Rules:
    """The rules that iptables-save wrote: {table: {chain: its policy, counters and rules}}."""
    tables: Rules = {}
    table: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        if line.startswith("*"):
            table = tables.setdefault(line[1:].strip(), {})
        elif line.startswith(":"):
            name, policy, counters = line[1:].split()[:3]
            packets, _, size = counters.strip("[]").partition(":")
            table[name] = {
                "policy": policy,
                "packet count": packets,
                "byte count": size,
                "rules": [],
                "rules_comment": {},
            }
        elif line.startswith(("-A ", "[")):
            options = _options(line[line.index("-A ") :])
            chain = table[options.pop("append")[0]]
            chain["rules"].append(options)
            if "comment" in options:
                chain["rules_comment"][options["comment"][0]] = options
    return tables


def _options(line: str) -> dict[str, list[str]]:
    """The options of a rule, each with its values; `! ` begins a negated one."""
    options: dict[str, list[str]] = {}
    negated, values, name = False, [""], ""
    for word in shlex.split(line):
        if word == "!":
            negated = True
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            name = word.lstrip("-")
            values = options.setdefault(_NAMES.get(name, name), [])
            values.append("! " if negated else "")
            negated = False
        else:
            values[-1] += ("" if values[-1] in ("", "! ") else " ") + word
    return options


def version(family: str = "ipv4") -> str:
    """The version of iptables, or of ip6tables with `family: ipv6`.

    {{ salt['iptables.version']() }}
    """
    return cmd.probe([_kernel.program(family), "--version"]).stdout.split()[1]


def build_rule(
    table: str | None = "filter",
    chain: str | None = None,
    command: str | None = None,
    position: str | int = "",
    full: bool | str | None = None,
    family: str = "ipv4",
    **kwargs: Any,
) -> str:
    """A rule as iptables takes it, from the arguments that the states take. Raises StateFailed for
    a full command without its table, chain or command.

    full: the whole command that changes the chain: table, chain, command (A, I, D, ...), position.

    {{ salt['iptables.build_rule'](proto='tcp', dport=22, jump='ACCEPT') }}
    """
    rule = _kernel.rule(options_of(kwargs, "save", "target", "rules", "name"))
    if str(full) != "True":
        return rule
    named = {"Table": table, "Chain": chain, "Command": command}
    for title, value in named.items():
        if not value:
            raise StateFailed(f"Error: {title} needs to be specified")
    flag = f"{'-' if len(str(command)) == 1 else '--'}{command}"
    return f"{_kernel.program(family)} --wait -t {table} {flag} {chain} {position} {rule}"


def get_rules(family: str = "ipv4") -> Rules:
    """The rules that are set: {table: {chain: {policy, packet count, byte count, rules,
    rules_comment}}}, each rule with lists of values by the names of its options. Raises
    CommandFailed when iptables cannot list them.

    {{ salt['iptables.get_rules']().filter.INPUT.policy }}
    """
    return _parsed(_kernel.run(family, [_kernel.program(family, "-save")]).or_fail().stdout)


def get_saved_rules(conf_file: str | None = None, family: str = "ipv4") -> Rules:
    """The rules of the file that is read at the start, as iptables.get_rules has them.

    conf_file: another file that iptables-save wrote.

    {{ salt['iptables.get_saved_rules']('/etc/iptables/rules.v4') | json }}
    """
    path = conf_file or _kernel.saved_at(family)
    return _parsed(file.read_bytes(path).decode("utf-8", "replace"))


def get_policy(table: str = "filter", chain: str | None = None, family: str = "ipv4") -> str | None:
    """Return what a chain does with what no rule decides; `-` for a chain of one's own, None
    without it.

    {{ salt['iptables.get_policy']('filter', 'INPUT') }}
    """
    return _policy(get_rules(family), table, chain)


def get_saved_policy(
    table: str = "filter",
    chain: str | None = None,
    conf_file: str | None = None,
    family: str = "ipv4",
) -> str | None:
    """Return what iptables.get_policy does, of the file that is read at the start."""
    return _policy(get_saved_rules(conf_file, family), table, chain)


def check(
    table: str = "filter", chain: str | None = None, rule: str | None = None, family: str = "ipv4"
) -> bool:
    """Return whether a chain has a rule. Raises StateFailed for one that iptables does not
    understand.

    {{ salt['iptables.check']('filter', 'INPUT', '-p tcp --dport 22 -j ACCEPT') }}
    """
    return _kernel.has_rule(family, table, _needed("Chain", chain), _needed("Rule", rule))


def check_chain(table: str = "filter", chain: str | None = None, family: str = "ipv4") -> bool:
    """Return whether there is a chain.

    {{ salt['iptables.check_chain']('filter', 'knocking') }}
    """
    return _kernel.listed(family, table, _needed("Chain", chain)) is not None


def set_policy(
    table: str = "filter", chain: str | None = None, policy: str | None = None, family: str = "ipv4"
) -> str:
    """Set what a chain does with what no rule decides; an empty text.

    {% do salt['iptables.set_policy']('filter', 'INPUT', 'DROP') %}
    """
    words = [_chain(chain), plain_name(_needed("Policy", policy), "policy")]
    _kernel.change(family, table, "--policy", *words)
    return ""


def save(filename: str | None = None, family: str = "ipv4") -> str:
    """Write the rules to the file that is read at the start, or to another one.

    {% do salt['iptables.save']('/etc/iptables/rules.v4') %}
    """
    return _kernel.write_saved(family, filename or _kernel.saved_at(family))


def new_chain(table: str = "filter", chain: str | None = None, family: str = "ipv4") -> bool:
    """Make a chain; True.

    {% do salt['iptables.new_chain']('filter', 'knocking') %}
    """
    _kernel.change(family, table, "--new-chain", _chain(chain))
    return True


def delete_chain(table: str = "filter", chain: str | None = None, family: str = "ipv4") -> bool:
    """Delete a chain that has no rules and that no rule leads to; True.

    {% do salt['iptables.delete_chain']('filter', 'knocking') %}
    """
    _kernel.change(family, table, "--delete-chain", _chain(chain))
    return True


def append(
    table: str = "filter", chain: str | None = None, rule: str | None = None, family: str = "ipv4"
) -> bool:
    """Add a rule at the end of a chain; True.

    {% do salt['iptables.append']('filter', 'INPUT', '-p tcp --dport 22 -j ACCEPT') %}
    """
    words = _words(rule)
    _kernel.change(family, table, "--append", _chain(chain), *words)
    return True


def insert(
    table: str = "filter",
    chain: str | None = None,
    position: int | None = None,
    rule: str | None = None,
    family: str = "ipv4",
) -> str:
    """Add a rule at a position of a chain, 1 is the first, -1 the last one; an empty text. Raises
    StateFailed without a position.

    {% do salt['iptables.insert']('filter', 'INPUT', 1, '-p tcp --dport 22 -j ACCEPT') %}
    """
    if position is None:
        raise StateFailed("Error: Position needs to be specified or use append (-A)")
    place = int(position)
    if place < 0:
        place = max(1, len(_kernel.rules(family, table, _chain(chain))) + 1 + place)
    words = _words(rule)
    _kernel.change(family, table, "--insert", _chain(chain), str(place), *words)
    return ""


def delete(
    table: str,
    chain: str | None = None,
    position: int | None = None,
    rule: str | None = None,
    family: str = "ipv4",
) -> str:
    """Delete a rule of a chain, by its position or by what it says; an empty text. Raises
    StateFailed for both.

    {% do salt['iptables.delete']('filter', 'INPUT', rule='-p tcp --dport 23 -j ACCEPT') %}
    """
    if position and rule:
        raise StateFailed("Error: Only specify a position or a rule, not both")
    words = [str(int(position))] if position else _words(rule)
    _kernel.change(family, table, "--delete", _chain(chain), *words)
    return ""


def flush(table: str = "filter", chain: str = "", family: str = "ipv4") -> str:
    """Delete all rules of a table, or of one of its chains; an empty text.

    {% do salt['iptables.flush']('filter', 'INPUT') %}
    """
    _kernel.change(family, table, "--flush", *([_chain(chain)] if chain else []))
    return ""


def _needed(title: str, value: str | None) -> str:
    if not value:
        raise StateFailed(f"Error: {title} needs to be specified")
    return str(value)


def _words(rule: str | None) -> list[str]:
    try:
        return shlex.split(_needed("Rule", rule))
    except ValueError as problem:
        raise StateFailed(f"the rule {rule} cannot be read: {problem}") from None


def _chain(chain: str | None) -> str:
    return plain_name(_needed("Chain", chain), "the name of a chain")


def _policy(rules: Rules, table: str, chain: str | None) -> str | None:
    policy = rules.get(table, {}).get(_needed("Chain", chain), {}).get("policy")
    return None if policy is None else str(policy)
