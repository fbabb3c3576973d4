# SPDX-License-Identifier: Apache-2.0
"""A rule of the packet filter that a state wants to be there, or not."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from modules.firewalls import iptables
from runner.api import Named, Plan, Planned, Record, StateFailed, here
from states._tools import explained

Position = int | Literal["last"]
# whatever the program has; also what commands of guards take by the same name
Option = Annotated[Any, Named(lambda name: True, ("timeout",))]


class WantedRule(Record):
    """A rule that is to be there, or not."""

    name: str
    chain: str
    table: str
    family: str
    save: bool | str
    rule: str

    @classmethod
    def of(
        cls,
        name: str,
        chain: str | None,
        table: str,
        family: str,
        save: bool | str,
        rule: dict[str, Any],
    ) -> WantedRule:
        """The rule that a state describes. Raises StateFailed without a chain."""
        if not chain:
            raise StateFailed(
                "chain: which chain is meant? INPUT, FORWARD, OUTPUT or one of your own"
            )
        return cls(name, chain, table, family, save, iptables.rule(rule))

    @property
    def words(self) -> list[str]:
        return shlex.split(self.rule)

    def command(self, action: str, position: object = "") -> str:
        return iptables.command(self.family, self.table, action, self.chain, self.rule, position)

    def is_there(self, shown: str, insert: bool = False) -> bool:
        """Return whether the chain has it. Raises StateFailed when there is no such chain, or
        iptables finds it wrong.
        """
        refusal = _refused(self, shown if insert else f"{shown} for {self.family}")
        if iptables.listed(self.family, self.table, self.chain) is None:
            missing = ("chain", f"{self.family} {self.table} {self.chain}")
            raise StateFailed(
                f"{refusal}\nthere is no chain {self.chain} in the table {self.table}",
                missing=missing,
            )
        with explained(f"{refusal}\n"):
            return iptables.has_rule(self.family, self.table, self.chain, self.rule)


def warn_of_position(module: str, position: Position | None) -> None:
    """Say that a rule that is appended comes last, whatever its position."""
    if position not in (None, "last", -1):
        here.warn(
            f"position: {position} is ignored, {module}.append adds a rule at the end:"
            f" {module}.insert has positions"
        )


def _refused(wanted: WantedRule, shown: str) -> str:
    return f"Failed to set iptables rule for {wanted.name}.\nAttempted rule was {shown}"


def change(wanted: WantedRule, action: str, words: list[str], shown: str) -> None:
    alter(wanted.family, wanted.table, action, *words, failed=f"{_refused(wanted, shown)}\n")


def alter(family: str, table: str, *words: str, failed: str) -> None:
    """Carry out a change of the rules. Raises StateFailed when iptables refuses it."""
    with explained(failed, changes={}):
        iptables.change(family, table, *words)


def path(save: bool | str, family: str) -> str:
    return save if isinstance(save, str) else iptables.saved_at(family)


def done(wanted: WantedRule, shown: str, verb: str, comment: str) -> str:
    if not wanted.save:
        return comment
    wrote = iptables.write_saved(wanted.family, path(wanted.save, wanted.family))
    return f"{verb} and saved iptables rule {wanted.name} for {wanted.family}\n{shown}\n{wrote}"


def ensure_saved(wanted: WantedRule, shown: str, comment: str) -> Planned:
    """A rule that already exists; whether it is so at the next start, too."""
    place = path(wanted.save, wanted.family)
    if not wanted.save or iptables.is_saved(wanted.family, place):
        return comment
    yield Plan({"saved": place}, f"{comment}\nThe iptables rules need to be saved to {place}")
    wrote = iptables.write_saved(wanted.family, place)
    return f"{comment}\nSaved iptables rule {wanted.name} for {wanted.family}\n{shown}\n{wrote}"
