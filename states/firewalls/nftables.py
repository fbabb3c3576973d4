# SPDX-License-Identifier: Apache-2.0
"""Tables, chains and rules of nftables."""

from __future__ import annotations

from typing import Any, Literal

from modules.firewalls import nftables
from runner.api import AbsolutePath, Name, Plan, Planned, Record, StateFailed
from runner.api.kinds import comes_after
from states._tools import explained
from states.firewalls._iptables import Position, warn_of_position

DECIDES = {"set_policy": "* policy"}
TOLD_APART_BY = "chain table family"

Family = Literal["ipv4", "ipv6", "ip", "ip4", "ip6", "inet", "arp", "bridge", "netdev"]
# names that nft has for priorities; those of bridges are others
PRIORITIES = {"raw": -300, "mangle": -150, "dstnat": -100, "filter": 0, "security": 50}
PRIORITIES |= {"srcnat": 100}


class ChainPlace(Record):
    """A chain where rules stand."""

    family: str
    table: str
    chain: str

    @classmethod
    def of(cls, family: str, table: str, chain: str | None) -> ChainPlace:
        """The chain that a state names. Raises StateFailed without one."""
        if not chain:
            raise StateFailed("chain: which chain is meant? input, forward, output or your own")
        return cls(family, table, chain)

    def __str__(self) -> str:
        return f"{nftables.family_of(self.family)} {self.table} {self.chain}"

    def settings(self) -> dict[str, Any]:
        """The chain as nft lists it. Raises StateFailed where there is none."""
        settings = nftables.chain_settings(self.table, self.chain, self.family)
        if settings is None:
            raise StateFailed(
                f"Chain {self.chain} in table {self.table} in family {self.family} does not exist",
                missing=("nftables chain", str(self)),
            )
        return settings


def append(
    name: Name,
    chain: Name | None = None,
    table: Name = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    position: Position | None = None,
    **rule: Any,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes last. A rule that means the same
    to the kernel is the same, however it is written.

    A rule that means the same to the kernel is the same, however it is written. Any other argument
    is a part of it: `if`, `of`, `proto`, `dport`, `sport`, `source`, `destination`, `connstate`,
    `icmp-type`, `icmpv6-type`, `counter`, `limit` (5/minute), `log`, `log-prefix`, `comment`,
    `jump` (a verdict or a chain), `goto`, `to-source`, `to-destination`, `to-port`, `reject-with`;
    lists are sets, `! value` negates; `rule` is text in nft's own language.

    name: Names the state.
    chain: The chain, such as `input`.
    table: The table that the chain is in.
    family: The family of the table: ipv4, ipv6, inet, arp, bridge or netdev; ip, ip4 and ip6 are
      ipv4 and ipv6.
    save: Write all rules to /etc/nftables.conf, which nft reads at the start, or to this path.
    position: ignored, with a warning unless it is `last`; nftables.insert has positions.

        ssh is let in:
          nftables.append:
            - family: inet
            - chain: input
            - proto: tcp
            - dport: 22
            - connstate: new
            - jump: accept
            - save: True
    """
    warn_of_position("nftables", position)
    place = ChainPlace.of(family, table, chain)
    text = _written(name, rule, family)
    refused = f"Failed to set nftables rule for {name}.\nAttempted rule was {text} for {family}.\n"
    if _handles(place, text, refused):
        comment = f"nftables rule for {name} already set ({text}) for {family}"
        return (yield from _ensure_saved(save, comment))
    yield Plan({"locale": name}, f"nftables rule for {name} needs to be set ({text}) for {family}")
    _change(refused, f"add rule {place} {text}")
    saved = _save(save)
    return f"Set {'and Saved ' if saved else ''}nftables rule for {name} to: {text} for {family}"


def insert(
    name: Name,
    chain: Name | None = None,
    position: int = 1,
    table: Name = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    **rule: Any,
) -> Planned:
    """Make sure that a chain has a rule; one that is missing comes at a position: 1 is the first,
    -1 the last, and beyond the last is the end. The rest as append.

    Any other argument is a part of the rule, as of nftables.append.

    name, chain, table, family, save: as of nftables.append.
    position: Where a rule that is missing comes, 1 for the first, -1 for the last; beyond the last
      is the end.

        ssh comes first:
          nftables.insert:
            - position: 1
            - chain: input
            - proto: tcp
            - dport: 22
            - jump: accept

    Behaviour: Salt 3008's nftables.insert, but positions count rules as iptables.insert does.
    """
    place = ChainPlace.of(family, table, chain)
    if position == 0:
        raise StateFailed("position: 1 is the first rule, -1 the last; there is no 0")
    text = _written(name, rule, family)
    refused = f"Failed to set nftables rule for {name}.\nAttempted rule was {text}\n"
    if _handles(place, text, refused):
        comment = f"nftables rule for {name} already set for {family} ({text})"
        return (yield from _ensure_saved(save, comment))
    yield Plan({"locale": name}, f"nftables rule for {name} needs to be set for {family} ({text})")
    _change(refused, _insertion(place, position, text))
    saved = _save(save)
    return f"Set {'and Saved ' if saved else ''}nftables rule for {name} to: {text} for {family}"


def _insertion(place: ChainPlace, position: int, text: str) -> str:
    present = nftables.rules(place.table, place.chain, place.family)
    index = max(0, len(present) + position) if position < 0 else position - 1
    if index >= len(present):
        return f"add rule {place} {text}"
    return f"insert rule {place} handle {present[index].handle} {text}"


def delete(
    name: Name,
    chain: Name | None = None,
    table: Name = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
    **rule: Any,
) -> Planned:
    """Make sure that a chain does not have a rule.

    Any other argument is a part of the rule, as of nftables.append.

    name, chain, table, family, save: as of nftables.append.

        telnet is not let in:
          nftables.delete:
            - family: inet
            - chain: input
            - proto: tcp
            - dport: 23
            - jump: accept

    Behaviour: Salt 3008's nftables.delete, without rules by their position.
    """
    if "position" in rule:
        raise StateFailed(
            "position: a rule is told by what it says here; its position is another one in the"
            " next run"
        )
    place = ChainPlace.of(family, table, chain)
    text = _written(name, rule, family)
    refused = f"Failed to delete nftables rule for {name}.\nAttempted rule was {text}\n"
    handles = _handles(place, text, refused)
    if not handles:
        comment = f"nftables rule for {name} already absent for {family} ({text})"
        return (yield from _ensure_saved(save, comment))
    yield Plan(
        {"locale": name}, f"nftables rule for {name} needs to be deleted for {family} ({text})"
    )
    _change(refused, *(f"delete rule {place} handle {handle}" for handle in handles))
    saved = _save(save)
    return f"{'Deleted and Saved' if saved else 'Delete'} nftables rule for {name} {text}"


def flush(
    name: Name,
    chain: Name | None = None,
    table: Name = "filter",
    family: Family = "ipv4",
    ignore_absence: bool = False,
) -> Planned:
    """Make sure that a table, or one of its chains, has no rules.

    name: Names the state.
    chain: The chain; without it all of the table.
    table: The table.
    family: as of nftables.append.
    ignore_absence: A table or chain that does not exist is no failure.

        no rules of old:
          nftables.flush:
            - family: inet
            - chain: input

    Behaviour: Salt 3008's nftables.flush; what is empty stays as it is.
    """
    shown = f"{table} table {chain or ''} chain {family} family"
    where = f"{nftables.family_of(family)} {table}"
    problem, missing = "", ("nftables table", where)
    if not nftables.check_table(table, family):
        problem = f"Failed to flush table {table} in family {family}, table does not exist."
    elif chain and not nftables.check_chain(table, chain, family):
        missing = ("nftables chain", f"{where} {chain}")
        problem = (
            f"Failed to flush chain {chain} in table {table} in family {family}, chain does not"
            " exist."
        )
    if problem and not ignore_absence:
        raise StateFailed(problem, missing=missing)
    if problem or not nftables.rules(table, chain, family):
        return f"There are no nftables rules in {shown}"
    yield Plan({"locale": name}, f"nftables rules in {shown} need to be flushed")
    what = f"chain {where} {chain}" if chain else f"table {where}"
    _change("Failed to flush nftables rules\n", f"flush {what}")
    return f"Flush nftables rules in {shown}"


def set_policy(
    name: Name,
    chain: Name,
    policy: Literal["accept", "drop", "ACCEPT", "DROP"],
    table: Name = "filter",
    family: Family = "ipv4",
    save: bool | AbsolutePath = False,
) -> Planned:
    """Make sure that a chain does this with what no rule decides.

    name: Names the state.
    chain: The chain, one with a hook.
    policy: What becomes of packets that no rule decides on.
    table, family, save: as of nftables.append.

        nothing is let in:
          nftables.set_policy:
            - family: inet
            - chain: input
            - policy: drop
    """
    place = ChainPlace.of(family, table, chain)
    wanted = policy.lower()
    where = f"nftables default policy for chain {chain} on table {table} for {family}"
    failed = "Failed to set nftables default policy\n"
    with explained(failed):
        settings = place.settings()
    if "hook" not in settings:
        raise StateFailed(f"{failed}{chain} has no hook: only rules lead to it, and it ends there")
    if settings.get("policy") == wanted:
        return (yield from _ensure_saved(save, f"{where} already set to {wanted}"))
    yield Plan({"locale": name}, f"{where} needs to be set to {wanted}")
    _change(failed, f"add chain {place} {{ policy {wanted}; }}")
    saved = "and saved " if _save(save) else ""
    return f"Set {saved}default policy for {chain} to {wanted} family {family}"


def chain_present(
    name: Name,
    table: Name = "filter",
    table_type: Name | None = None,
    hook: Name | None = None,
    priority: int | Name | None = None,
    family: Family = "ipv4",
) -> Planned:
    """Make sure that there is a chain.

    name: The chain.
    table, family: as of nftables.append.
    table_type: The type of a chain that packets go through by themselves: `filter`, `nat` or
      `route`.
    hook: The hook that packets come from: `input`, `output`, `forward`, `prerouting`,
      `postrouting`; without it only other rules lead to the chain.
    priority: When it is its turn among the chains of its hook.

        input:
          nftables.chain_present:
            - family: inet
            - table_type: filter
            - hook: input
            - priority: 0

    Behaviour: Salt 3008's nftables.chain_present; a chain that has another type, hook or priority
    is a failure.
    """
    place = ChainPlace(family, table, name)
    settings = nftables.chain_settings(table, name, family)
    base = {"type": table_type, "hook": hook, "prio": priority}
    failed = f"Failed to create {name} chain in {table} table: "
    lacking = [key for key, value in base.items() if value is None]
    if lacking and len(lacking) < len(base):
        raise StateFailed(f"{failed}table_type, hook and priority belong together")
    if settings is not None:
        _refuse_other(failed, settings, {} if lacking else base)
        return f"nftables {name} chain is already exist in {table} table for {family}"
    made = f"add chain {place}"
    if not lacking:
        made += f" {{ type {table_type} hook {hook} priority {priority}; }}"
    if refusal := nftables.refusal(made):
        raise StateFailed(f"{failed}{refusal} for {family}")
    yield Plan(
        {"locale": name},
        f"nftables chain {name} would be created in table {table} for family {family}",
        provides=[("nftables chain", str(place))],
    )
    _change(failed, made)
    return f"nftables {name} chain in {table} table create success for {family}"


def _refuse_other(failed: str, settings: dict[str, Any], base: dict[str, Any]) -> None:
    """Fail for a chain that packets go through elsewhere: the kernel cannot change that."""
    for key, wanted in base.items():
        present = settings.get(key)
        if key == "prio" and settings["family"] != "bridge":
            wanted = PRIORITIES.get(str(wanted), wanted)
        comparable = key != "prio" or str(wanted).lstrip("-").isdigit()
        if comparable and str(present) != str(wanted):
            raise StateFailed(
                f"{failed}there is one with {key} {present}, and the kernel cannot change that to"
                f" {wanted}: have nftables.chain_absent remove it first"
            )


def chain_absent(name: Name, table: Name = "filter", family: Family = "ipv4") -> Planned:
    """Make sure that there is no such chain; its rules go with it.

    name, table, family: As of nftables.chain_present.

        knocking:
          nftables.chain_absent: []
    """
    place = ChainPlace(family, table, name)
    if not nftables.check_table(table, family) or not nftables.check_chain(table, name, family):
        return f"nftables {name} chain is already absent in {table} table for {family}"
    statements = (f"flush chain {place}", f"delete chain {place}")
    failed = f"Failed to delete {name} chain in {table} table: "
    if refusal := nftables.refusal(*statements):
        raise StateFailed(f"{failed}{refusal}: do rules still lead to it?")
    yield Plan(
        {"locale": name},
        f"nftables chain {name} would be deleted from table {table} for family {family}",
    )
    _change(failed, *statements)
    return f"nftables {name} chain in {table} table delete success for {family}"


def table_present(name: Name, family: Family = "ipv4") -> Planned:
    """Make sure that there is a table.

    name: The table.
    family: as of nftables.append.

        filter:
          nftables.table_present:
            - family: inet
    """
    if nftables.check_table(name, family):
        return f"nftables table {name} already exists in family {family}"
    where = f"{nftables.family_of(family)} {name}"
    failed = f"Failed to create table {name} for family {family}: "
    if refusal := nftables.refusal(f"add table {where}"):
        raise StateFailed(f"{failed}{refusal}")
    yield Plan(
        {"locale": name},
        f"nftables table {name} would be created in family {family}",
        provides=[("nftables table", where)],
    )
    _change(failed, f"add table {where}")
    return f"nftables table {name} successfully created in family {family}"


def table_absent(name: Name, family: Family = "ipv4") -> Planned:
    """Make sure that there is no such table; its chains and rules go with it.

    name, family: As of nftables.table_present.

        filter:
          nftables.table_absent:
            - family: inet
    """
    if not nftables.check_table(name, family):
        return f"nftables table {name} is already absent from family {family}"
    yield Plan({"locale": name}, f"nftables table {name} would be deleted from family {family}")
    _change("", f"delete table {nftables.family_of(family)} {name}")
    return f"nftables table {name} successfully deleted from family {family}"


def _written(name: str, rule: dict[str, Any], family: str) -> str:
    """A rule in nft's language. Raises StateFailed for one that cannot be written."""
    refused = f"Failed to set nftables rule for {name}.\n"
    with explained(refused):
        text = nftables.rule(rule, family)
    if not text:
        raise StateFailed(f"{refused}it says nothing: jump, dport, source, ... are missing")
    return text


def _handles(place: ChainPlace, text: str, refused: str) -> list[int]:
    """The numbers of the rules that mean this. Raises StateFailed with the rule that was meant."""
    with explained(refused):
        place.settings()
        return nftables.handles(place.table, place.chain, text, place.family)


def _change(failed: str, *statements: str) -> None:
    with explained(failed, changes={}):
        nftables.change(*statements)


def _save(save: bool | str) -> bool:
    """Save all rules if that is wanted."""
    if save:
        nftables.save(_path(save))
    return bool(save)


def _path(save: bool | str) -> str:
    return save if isinstance(save, str) else nftables.SAVED_AT


def _ensure_saved(save: bool | str, comment: str) -> Planned:
    """Return what is set already; whether it is so at the next start, too."""
    if not save or nftables.is_saved(_path(save)):
        return comment
    yield Plan({"saved": _path(save)}, f"{comment}\nThe rules need to be saved to {_path(save)}")
    _save(save)
    return f"{comment}\nSaved the rules to {_path(save)}"


autorequire = comes_after(
    "Rules come after the program that sets them, and the service that would replace them.",
    ("pkg", "nftables"),
    ("service", "nftables"),
)
