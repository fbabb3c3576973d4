# SPDX-License-Identifier: Apache-2.0
"""The kernel's packet filter, with nft.

Salt's functions that change it; what the states use is in _kernel.
"""

from __future__ import annotations

from typing import Any

from modules import file
from modules._texts.call_options import options_of
from modules._texts.lines import one_line, plain_name
from modules.firewalls.nftables import _kernel
from modules.firewalls.nftables._kernel import (
    FAMILIES,
    SAVED_AT,
    Rule,
    chain_settings,
    chains,
    change,
    check,
    check_chain,
    check_table,
    family_of,
    get_policy,
    get_rules,
    get_rules_json,
    handles,
    is_saved,
    list_tables,
    listed_tables,
    port_range,
    refusal,
    rule,
    rules,
    save,
    version,
)
from runner.api import CommandFailed, StateFailed

Answer = dict[str, Any]


def build_rule(
    table: str | None = None,
    chain: str | None = None,
    command: str | None = None,
    position: str | int = "",
    full: bool | str | None = None,
    family: str = "ipv4",
    **kwargs: Any,
) -> Answer:
    """A rule as nft takes it, from the arguments that the states take: {result, comment, rule}.

    table, chain, command, position, full: accepted as Salt accepts them, and not used.

        {{ salt['nftables.build_rule'](proto='tcp', dport=22, jump='accept').rule }}
    """
    rule = _kernel.rule(options_of(kwargs, "save", "name"), family)
    return {"comment": "Successfully built rule" if rule else "", "rule": rule, "result": True}


def get_saved_rules(conf_file: str | None = None) -> list[str]:
    """The lines of the file that is read at the start, without comments and empty ones.

    {{ salt['nftables.get_saved_rules']() | json }}
    """
    text = file.read_bytes(conf_file or _kernel.SAVED_AT).decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def get_rule_handle(
    table: str = "filter", chain: str | None = None, rule: str | None = None, family: str = "ipv4"
) -> Answer:
    """The kernel's number of a rule: {result, handle}, or {result, comment}.

    {{ salt['nftables.get_rule_handle']('filter', 'input', 'tcp dport 22 accept').handle }}
    """
    problem = _missing(table, chain, rule, family)
    if problem:
        return problem
    numbers = _kernel.handles(table, str(chain), str(rule), family)
    if not numbers:
        return _refused(f"Rule {rule} in {_chain_place(table, chain, family)} does not exist")
    return {"result": True, "handle": str(numbers[0])}


def new_table(table: str, family: str = "ipv4") -> Answer:
    """Make a table.

    {% do salt['nftables.new_table']('filter', family='inet') %}
    """
    if _kernel.check_table(table, family):
        return _done(f"Table {table} in family {family} exists")
    return _changed(f"Table {table} in family {family} created", "add table", family, table)


def delete_table(table: str, family: str = "ipv4") -> Answer:
    """Delete a table with all that it holds.

    {% do salt['nftables.delete_table']('filter', family='inet') %}
    """
    return _absent_table(table, family) or _changed(
        f"Table {table} in family {family} deleted", "delete table", family, table
    )


def new_chain(
    table: str = "filter",
    chain: str | None = None,
    table_type: str | None = None,
    hook: str | None = None,
    priority: int | None = None,
    family: str = "ipv4",
) -> Answer:
    """Make a chain; one that sees packets with table_type, hook and priority.

    {% do salt['nftables.new_chain']('filter', 'input', 'filter', 'input', 0) %}
    """
    if not chain:
        return _refused("Chain needs to be specified")
    problem = _absent_table(table, family)
    if problem:
        return problem
    place = f"Chain {chain} in table {table} in family {family}"
    if _kernel.check_chain(table, chain, family):
        return _refused(f"{place} already exists")
    settings = ""
    if table_type or hook or priority is not None:
        if not table_type or not hook or priority is None:
            return _refused("Table_type, hook and priority required.")
        kind, at = plain_name(table_type, "table_type"), plain_name(hook, "hook")
        settings = f" {{ type {kind} hook {at} priority {int(priority)}; }}"
    return _changed(f"{place} created", "add chain", family, table, chain, settings)


def delete_chain(table: str = "filter", chain: str | None = None, family: str = "ipv4") -> Answer:
    """Delete a chain that no rule leads to.

    {% do salt['nftables.delete_chain']('filter', 'knocking') %}
    """
    return _missing(table, chain, "-", family) or _changed(
        f"Chain {chain} in table {table} in family {family} deleted",
        "delete chain",
        family,
        table,
        chain,
    )


def append(
    table: str = "filter", chain: str | None = None, rule: str | None = None, family: str = "ipv4"
) -> Answer:
    """Add a rule at the end of a chain, unless it has it.

    {% do salt['nftables.append']('filter', 'input', 'tcp dport 22 accept', family='inet') %}
    """
    return _added("add rule", table, chain, rule, family, "")


def insert(
    table: str = "filter",
    chain: str | None = None,
    position: int | None = None,
    rule: str | None = None,
    family: str = "ipv4",
) -> Answer:
    """Add a rule at the beginning of a chain, or before the one with the kernel's number
    `position`, unless the chain has it.

        {% do salt['nftables.insert']('filter', 'input', rule='tcp dport 22 accept') %}
    """
    place = f" position {int(position)}" if position else ""
    return _added("insert rule", table, chain, rule, family, place)


def delete(
    table: str,
    chain: str | None = None,
    position: int | None = None,
    rule: str | None = None,
    family: str = "ipv4",
) -> Answer:
    """Delete a rule of a chain, by what it says or by the kernel's number (`position`).

    {% do salt['nftables.delete']('filter', 'input', rule='tcp dport 23 accept') %}
    """
    if position and rule:
        return _refused("Only specify a position or a rule, not both")
    problem = _missing(table, chain, rule or "-" if position else rule, family)
    if problem:
        return problem
    place = _chain_place(table, chain, family)
    number = str(int(position)) if position else ""
    if rule:
        numbers = _kernel.handles(table, str(chain), rule, family)
        if not numbers:
            return _refused(f"Rule {rule} {place} does not exist")
        number = str(numbers[0])
    comment = f'Deleted rule "{rule}" in {place}.'
    return _changed(comment, "delete rule", family, table, chain, f" handle {number}")


def flush(table: str = "filter", chain: str = "", family: str = "ipv4") -> Answer:
    """Delete all rules of a table, or of one of its chains.

    {% do salt['nftables.flush']('filter', 'input') %}
    """
    problem = _missing(table, chain, "-", family) if chain else _absent_table(table, family)
    if problem:
        return problem
    place = f"{f'chain {chain} in ' if chain else ''}table {table} in family {family}"
    action = "flush chain" if chain else "flush table"
    return _changed(f"Flushed rules from {place}.", action, family, table, chain or None)


def set_policy(
    table: str = "filter", chain: str | None = None, policy: str | None = None, family: str = "ipv4"
) -> bool:
    """Set what a chain does with what no rule decides; whether it could be done. Raises StateFailed
    without a chain and a policy.

    {% do salt['nftables.set_policy']('filter', 'input', 'drop', family='inet') %}
    """
    if not chain or not policy:
        raise StateFailed("nftables.set_policy takes a chain and a policy")
    settings = _kernel.chain_settings(table, chain, family)
    if not settings or "hook" not in settings:
        return False
    name = plain_name(policy, "policy").lower()
    return bool(_changed("", "add chain", family, table, chain, f" {{ policy {name}; }}")["result"])


# ---------------------------------------------------------------- answers


def _done(comment: str) -> Answer:
    return {"comment": comment, "result": True}


def _refused(comment: str) -> Answer:
    return {"comment": comment, "result": False}


def _chain_place(table: str, chain: str | None, family: str) -> str:
    return f"chain {chain} in table {table} in family {family}"


def _absent_table(table: str, family: str) -> Answer | None:
    if _kernel.check_table(table, family):
        return None
    return _refused(f"Table {table} in family {family} does not exist")


def _missing(table: str, chain: str | None, rule: str | None, family: str) -> Answer | None:
    """The answer where an argument, the table or the chain is missing."""
    for title, value in (("Chain", chain), ("Rule", rule)):
        if not value:
            return _refused(f"{title} needs to be specified")
    problem = _absent_table(table, family)
    if problem or _kernel.check_chain(table, str(chain), family):
        return problem
    return _refused(f"Chain {chain} in table {table} in family {family} does not exist")


def _added(
    action: str, table: str, chain: str | None, rule: str | None, family: str, place: str
) -> Answer:
    problem = _missing(table, chain, rule, family)
    if problem:
        return problem
    where = _chain_place(table, chain, family)
    text = one_line(rule, "rule")
    if _kernel.check(table, str(chain), text, family):
        return _refused(f"Rule {rule} {where} already exists")
    comment = f'Added rule "{rule}" {where}.'
    return _changed(comment, action, family, table, chain, f"{place} {text}")


def _changed(
    comment: str, action: str, family: str, table: str, chain: str | None = None, rest: str = ""
) -> Answer:
    """Carry out a statement; what nft says where it refuses."""
    names = [plain_name(_kernel.family_of(family), "family"), plain_name(table, "table")]
    names += [plain_name(chain, "chain")] if chain else []
    try:
        _kernel.change(f"{action} {' '.join(names)}{rest}")
    except CommandFailed as failure:
        return _refused(failure.message)
    return _done(comment)


NEEDS_PROGRAM = "nft"  # without it templates find no function of this module
