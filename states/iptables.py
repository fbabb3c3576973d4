"""Rules of the kernel's packet filter."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any, Literal

from modules import iptables
from runner.api import CommandFailed, Plan, Planned, StateFailed

Family = Literal["ipv4", "ipv6"]


def append(
    name: str,
    chain: str | None = None,
    table: str = "filter",
    family: Family = "ipv4",
    save: bool | str = False,
    **rule: Any,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes last.

    name: names the state. chain: INPUT, ... table, family: where. save: also write all rules to the file that
    iptables-persistent reads (or to this path). rule: iptables' long options by their names (`dport: 22`,
    `in-interface` or `if`, `to-destination`); proto, match (a list), connstate, comment, jump. `! value` negates; an
    empty text is an option without a value.

        ssh is let in:
          iptables.append:
            - chain: INPUT
            - proto: tcp
            - dport: 22
            - connstate: NEW
            - jump: ACCEPT
            - save: True

    Behaviour: Salt 3008's iptables.append.
    """
    words, where = iptables.rule(rule), _chain(chain, table, family)
    shown = shlex.join([*where[1:], "--append", where[0], *words])
    if iptables.has_rule(family, table, where[0], words):
        return f"iptables rule for {name} already set ({shown}) for {family}"
    yield Plan({"locale": name}, f"iptables rule for {name} needs to be set ({shown}) for {family}")
    _change(name, family, table, "--append", where[0], *words)
    return f"Set iptables rule for {name} to: {shown} for {family}{_saved(save, family)}"


def insert(
    name: str,
    chain: str | None = None,
    position: int = 1,
    table: str = "filter",
    family: Family = "ipv4",
    save: bool | str = False,
    **rule: Any,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes at a position (1 is the first). The rest as append.

        ssh comes first:
          iptables.insert:
            - position: 1
            - chain: INPUT
            - proto: tcp
            - dport: 22
            - jump: ACCEPT

    Behaviour: Salt 3008's iptables.insert.
    """
    words, where = iptables.rule(rule), _chain(chain, table, family)
    if iptables.has_rule(family, table, where[0], words):
        return f"iptables rule for {name} already set for {family} ({shlex.join(words)})"
    place = position
    if position < 0:
        place = max(1, len(iptables.listed(family, table, where[0]) or ()) + 1 + position)
    shown = shlex.join([*where[1:], "--insert", where[0], str(place), *words])
    yield Plan({"locale": name}, f"iptables rule for {name} needs to be set for {family} ({shown})")
    _change(name, family, table, "--insert", where[0], str(place), *words)
    return f"Set iptables rule for {name} to: {shown} for {family}{_saved(save, family)}"


def delete(
    name: str,
    chain: str | None = None,
    table: str = "filter",
    family: Family = "ipv4",
    save: bool | str = False,
    **rule: Any,
) -> Planned:
    """Make sure that a chain does not have a rule. Arguments as those of iptables.append.

        telnet is not let in:
          iptables.delete:
            - chain: INPUT
            - proto: tcp
            - dport: 23
            - jump: ACCEPT

    Behaviour: Salt 3008's iptables.delete, without rules by their position.
    """
    if "position" in rule:
        raise StateFailed("position: a rule is told by what it says here; its position is another one in the next run")
    words, where = iptables.rule(rule), _chain(chain, table, family)
    shown = shlex.join([*where[1:], "--delete", where[0], *words])
    if not iptables.has_rule(family, table, where[0], words):
        return f"iptables rule for {name} already absent for {family} ({shown})"
    yield Plan({"locale": name}, f"iptables rule for {name} needs to be deleted for {family} ({shown})")
    _change(name, family, table, "--delete", where[0], *words)
    return f"Delete iptables rule for {name} {shown}{_saved(save, family)}"


def chain_present(name: str, table: str = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that there is a chain.

    name: the chain. table, family: where.

        knocking:
          iptables.chain_present: []

    Behaviour: Salt 3008's iptables.chain_present.
    """
    if iptables.listed(family, table, name) is not None:
        return f"iptables {name} chain is already exist in {table} table for {family}"
    told = f"iptables {name} chain in {table} table needs to be set for {family}"
    yield Plan({"locale": name}, told, provides=[("chain", f"{family} {table} {name}")])
    _change(name, family, table, "--new-chain", name)
    return f"iptables {name} chain in {table} table create success for {family}"


def chain_absent(name: str, table: str = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that there is no such chain; its rules go with it. Arguments as those of iptables.chain_present.

        knocking:
          iptables.chain_absent: []

    Behaviour: Salt 3008's iptables.chain_absent.
    """
    if iptables.listed(family, table, name) is None:
        return f"iptables {name} chain is already absent in {table} table for {family}"
    yield Plan({"locale": name}, f"iptables {name} chain in {table} table needs to be removed {family}")
    _change(name, family, table, "--flush", name)
    _change(name, family, table, "--delete-chain", name)
    return f"iptables {name} chain in {table} table delete success for {family}"


def set_policy(
    name: str,
    chain: str,
    policy: Literal["ACCEPT", "DROP"],
    table: str = "filter",
    family: Family = "ipv4",
    save: bool | str = False,
) -> Planned:
    """Make sure that a chain does this with what no rule decides.

    name: names the state. chain: INPUT, FORWARD, ... policy: ACCEPT or DROP. table, family, save: as with append.

        nothing is let in:
          iptables.set_policy:
            - chain: INPUT
            - policy: DROP

    Behaviour: Salt 3008's iptables.set_policy.
    """
    if f"-P {chain} {policy}" in (iptables.listed(family, table) or ()):
        return f"iptables default policy for chain {chain} on table {table} for {family} already set to {policy}"
    told = f"iptables default policy for chain {chain} on table {table} for {family} needs to be set to {policy}"
    yield Plan({"locale": name}, told)
    _change(name, family, table, "--policy", chain, policy)
    return f"Set default policy for {chain} to {policy} family {family}{_saved(save, family)}"


def flush(name: str, chain: str | None = None, table: str = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that a table, or one of its chains, has no rules.

    name: names the state. chain: only this one. table, family: where.

        no rules of old:
          iptables.flush:
            - chain: INPUT

    Behaviour: Salt 3008's iptables.flush; what is empty stays as it is.
    """
    rules = [line for line in iptables.listed(family, table, chain) or () if line.startswith("-A ")]
    place = f"{table} table {chain or ''} chain {family} family"
    if not rules:
        return f"There are no iptables rules in {place}"
    yield Plan({"locale": name}, f"iptables rules in {place} needs to be flushed")
    _change(name, family, table, "--flush", *([chain] if chain else []))
    return f"Flush iptables rules in {place}"


def _chain(chain: str | None, table: str, family: str) -> list[str]:
    """The chain, and how the command that is shown begins. Raises StateFailed when it is not there."""
    if not chain:
        raise StateFailed("chain: which chain is meant? INPUT, FORWARD, OUTPUT or one of your own")
    if iptables.listed(family, table, chain) is None:
        raise StateFailed(
            f"there is no chain {chain} in the table {table}", lacks=("chain", f"{family} {table} {chain}")
        )
    return [chain, iptables.program(family), "--table", table]


def _change(name: str, family: str, table: str, *words: str) -> None:
    try:
        iptables.change(family, table, *words)
    except CommandFailed as failure:
        said = f"Failed to set iptables rule for {name}.\nAttempted rule was {shlex.join(words)} for {family}"
        raise StateFailed(f"{said}\n{failure.message}", changes={}) from None


def _saved(save: bool | str, family: str) -> str:
    return f"\nSaved to {iptables.save(family, save if isinstance(save, str) else None)}" if save else ""


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """Rules come after the program that sets them."""
    yield "pkg", "iptables"
