# SPDX-License-Identifier: Apache-2.0
"""Rules of the kernel's packet filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from modules.firewalls import iptables
from runner.api import AbsolutePath, Done, Name, Pattern, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from states.firewalls._iptables import (
    Option,
    Position,
    WantedRule,
    alter,
    change,
    done,
    ensure_saved,
    path,
    warn_of_position,
)

DECIDES = {"set_policy": "* policy"}
TOLD_APART_BY = "chain table family"

Family = Literal["ipv4", "ipv6"]
Table = Literal["filter", "nat", "mangle", "raw", "security"]
Chain = Annotated[
    Name, Pattern(r"[^\s!-]\S{0,27}", "name of a chain: a word of up to 28 characters")
]
Rules = list[dict[str, Any]]


def append(
    name: Name,
    chain: Chain | None = None,
    table: Table = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    rules: Rules | None = None,
    position: Position | None = None,
    **rule: Option,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes last.

    Any other argument is a long option of iptables by its name (`dport: 22`, `in-interface` or
    `if`, `to-destination`), or `proto`, `match` (a list), `connstate`, `comment`, `jump`. `! value`
    negates; an empty text is an option without a value.

    name: Names the state.
    chain: The chain, such as INPUT.
    table: The table that the chain is in.
    family: The addresses that the rule is for.
    save: Write all rules to the file that iptables-persistent reads, too, or to this path.
    rules: Several rules instead, each with a name and these arguments.
    position: ignored, with a warning unless it is `last`; iptables.insert has positions.

        ssh is let in:
          iptables.append:
            - chain: INPUT
            - proto: tcp
            - dport: 22
            - connstate: NEW
            - jump: ACCEPT
            - save: True
    """
    if rules is not None:
        return (yield from _apply_rules(append, name, rules))
    warn_of_position("iptables", position)
    wanted = WantedRule.of(name, chain, table, family, save, rule)
    shown = wanted.command("-A")
    if wanted.is_there(shown):
        return (
            yield from ensure_saved(
                wanted, shown, f"iptables rule for {name} already set ({shown}) for {family}"
            )
        )
    yield Plan({"locale": name}, f"iptables rule for {name} needs to be set ({shown}) for {family}")
    change(wanted, "--append", [wanted.chain, *wanted.words], f"{shown} for {family}")
    return done(wanted, shown, "Set", f"Set iptables rule for {name} to: {shown} for {family}")


def insert(
    name: Name,
    chain: Chain | None = None,
    position: int = 1,
    table: Table = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    rules: Rules | None = None,
    **rule: Option,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes at a position (1 is the first).
    The rest as append.

    Any other argument is a part of the rule, as of iptables.append.

    name, chain, table, family, save, rules: as of iptables.append.
    position: Where a rule that is missing comes, 1 for the first; of a negative position -1 is the
      last.

        ssh comes first:
          iptables.insert:
            - position: 1
            - chain: INPUT
            - proto: tcp
            - dport: 22
            - jump: ACCEPT

    Behaviour: Salt 3008's iptables.insert; of a negative position the last rule is -1.
    """
    if rules is not None:
        return (yield from _apply_rules(insert, name, rules))
    wanted = WantedRule.of(name, chain, table, family, save, rule)
    shown = wanted.command("-I", position)
    if wanted.is_there(shown, insert=True):
        return (
            yield from ensure_saved(
                wanted, shown, f"iptables rule for {name} already set for {family} ({shown})"
            )
        )
    place = position
    if position < 0:
        place = max(1, len(iptables.rules(family, table, wanted.chain)) + 1 + position)
    yield Plan({"locale": name}, f"iptables rule for {name} needs to be set for {family} ({shown})")
    change(wanted, "--insert", [wanted.chain, str(place), *wanted.words], shown)
    return done(wanted, shown, "Set", f"Set iptables rule for {name} to: {shown} for {family}")


def delete(
    name: Name,
    chain: Chain | None = None,
    table: Table = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    rules: Rules | None = None,
    **rule: Option,
) -> Planned:
    """Make sure that a chain does not have a rule.

    Any other argument is a part of the rule, as of iptables.append.

    name, chain, table, family, save, rules: as of iptables.append.

        telnet is not let in:
          iptables.delete:
            - chain: INPUT
            - proto: tcp
            - dport: 23
            - jump: ACCEPT

    Behaviour: Salt 3008's iptables.delete, without rules by their position.
    """
    if rules is not None:
        return (yield from _apply_rules(delete, name, rules))
    if "position" in rule:
        raise StateFailed(
            "position: a rule is told by what it says here; its position is another one in the"
            " next run"
        )
    wanted = WantedRule.of(name, chain, table, family, save, rule)
    shown = wanted.command("-D")
    if not wanted.is_there(shown):
        return f"iptables rule for {name} already absent for {family} ({shown})"
    yield Plan(
        {"locale": name}, f"iptables rule for {name} needs to be deleted for {family} ({shown})"
    )
    change(wanted, "--delete", [wanted.chain, *wanted.words], shown)
    return done(wanted, shown, "Deleted", f"Delete iptables rule for {name} {shown}")


def chain_present(name: Chain, table: Table = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that there is a chain.

    name: The chain.
    table: The table that the chain is in.
    family: The addresses that the chain is for.

        knocking:
          iptables.chain_present: []
    """
    if iptables.listed(family, table, name) is not None:
        return f"iptables {name} chain is already exist in {table} table for {family}"
    comment = f"iptables {name} chain in {table} table needs to be set for {family}"
    yield Plan({"locale": name}, comment, provides=[("chain", f"{family} {table} {name}")])
    alter(
        family,
        table,
        "--new-chain",
        name,
        failed=f"Failed to create {name} chain in {table} table: ",
    )
    return f"iptables {name} chain in {table} table create success for {family}"


def chain_absent(name: Chain, table: Table = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that there is no such chain; its rules go with it.

    name, table, family: As of iptables.chain_present.

        knocking:
          iptables.chain_absent: []
    """
    if iptables.listed(family, table, name) is None:
        return f"iptables {name} chain is already absent in {table} table for {family}"
    yield Plan(
        {"locale": name}, f"iptables {name} chain in {table} table needs to be removed {family}"
    )
    alter(family, table, "--flush", name, failed=f"Failed to flush {name} chain in {table} table: ")
    alter(
        family,
        table,
        "--delete-chain",
        name,
        failed=f"Failed to delete {name} chain in {table} table: ",
    )
    return f"iptables {name} chain in {table} table delete success for {family}"


def set_policy(
    name: Name,
    chain: Chain,
    policy: Literal["ACCEPT", "DROP"],
    table: Table = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
) -> Planned:
    """Make sure that a chain does this with what no rule decides.

    name: Names the state.
    chain: The chain, such as INPUT.
    policy: What becomes of packets that no rule decides on.
    table: The table that the chain is in.
    family: The addresses that the policy is for.
    save: As of iptables.append.

        nothing is let in:
          iptables.set_policy:
            - chain: INPUT
            - policy: DROP
    """
    policies = iptables.listed(family, table) or []
    if not any(line.startswith(f"-P {chain} ") for line in policies):
        raise StateFailed(
            f"Failed to set iptables default policy\n{chain} is not a built-in chain of the table"
            f" {table}"
        )
    if f"-P {chain} {policy}" in policies:
        return (
            f"iptables default policy for chain {chain} on table {table} for {family} already set"
            f" to {policy}"
        )
    comment = (
        f"iptables default policy for chain {chain} on table {table} for {family} needs to be set"
        f" to {policy}"
    )
    yield Plan({"locale": name}, comment)
    alter(
        family, table, "--policy", chain, policy, failed="Failed to set iptables default policy\n"
    )
    if save:
        iptables.write_saved(family, path(save, family))
    return (
        f"Set {'and saved ' if save else ''}default policy for {chain} to {policy} family {family}"
    )


def flush(
    name: Name, chain: Chain | None = None, table: Table = "filter", family: Family = "ipv4"
) -> Planned:
    """Make sure that a table, or one of its chains, has no rules.

    name: Names the state.
    chain: The chain; without it all of the table.
    table: The table.
    family: The addresses that the rules are for.

        no rules of old:
          iptables.flush:
            - chain: INPUT

    Behaviour: Salt 3008's iptables.flush; what is empty stays as it is.
    """
    if iptables.listed(family, table, chain) is None:
        missing = ("chain", f"{family} {table} {chain}")
        raise StateFailed(
            f"Failed to flush iptables rules\nthere is no chain {chain} in the table {table}",
            missing=missing,
        )
    place = f"{table} table {chain or ''} chain {family} family"
    if not iptables.rules(family, table, chain):
        return f"There are no iptables rules in {place}"
    yield Plan(
        {"locale": name},
        f"iptables rules in {name} table {table} chain {family} family needs to be flushed",
    )
    alter(
        family,
        table,
        "--flush",
        *([chain] if chain else []),
        failed="Failed to flush iptables rules\n",
    )
    return f"Flush iptables rules in {place}"


def _apply_rules(function: Callable[..., Planned], name: str, rules: Rules) -> Planned:
    """Several rules, one after another; one that fails does not keep the others back."""
    comments: list[str] = []
    todo: dict[int, tuple[str, Planned]] = {}
    for index, rule in enumerate(rules):
        planned = function(**{"name": name, **rule})
        try:
            comments.append(next(planned).comment)
            todo[index] = (str(rule.get("name", name)), planned)
        except StopIteration as end:
            comments.append(str(end.value))
    if todo:
        yield Plan({"locale": [rule_name for rule_name, _ in todo.values()]}, "\n".join(comments))
    changed: list[str] = []
    for index, (rule_name, planned) in todo.items():
        try:
            next(planned)
        except StopIteration as end:
            comments[index] = str(end.value)
            changed.append(rule_name)
        except StateFailed as failure:
            comments[index] = failure.message
    changes = {"locale": changed} if changed else {}
    if len(changed) < len(todo):
        raise StateFailed("\n".join(comments), changes=changes)
    return Done("\n".join(comments), changes)


autorequire = comes_after("Rules come after the program that sets them.", ("pkg", "iptables"))
