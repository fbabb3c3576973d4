# SPDX-License-Identifier: Apache-2.0
"""Facts that the plans of a dry run will have made true."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Sequence

from runner.api import OPEN, Plan, StateFailed
from runner.model.chunk import Chunk

# kinds of facts that bring more than looks see on the planned machine: what answers at a service
# that will run, what a package has in it, the systemd of a user who will linger
BRINGING = ("service", "pkg", "command", "linger")


class Foreseen(enum.IntEnum):
    """Who sees what a pending plan makes."""

    NOT = 0  # nobody
    BY_LOOKS = 1  # looks of states do
    IN_FILES = 2  # commands do, too: it makes nothing but files


class PendingFacts:
    """Facts that plans provide, and the states after which anything may be."""

    def __init__(self) -> None:
        self.facts: dict[object, str] = {}  # fact -> "state: ID"
        self.seen: dict[object, str] = {}  # those that looks see; commands of guards may not
        self._foreseen: dict[str, Foreseen] = {}  # by "state: ID"
        self._open: dict[str, None] = {}  # after these anything may be there

    @property
    def open_by(self) -> str:
        """The first state after which anything may be there; empty without one."""
        return next(iter(self._open), "")

    def note(self, chunk: Chunk, provides: object, foreseen: Foreseen = Foreseen.NOT) -> None:
        """Note what a pending plan provides."""
        state = f"{chunk.state}: {chunk.id}"
        self._foreseen[state] = min(foreseen, self._foreseen.get(state, foreseen))
        if isinstance(provides, Iterable):
            for fact in provides:
                brings = isinstance(fact, tuple) and fact[0] in BRINGING
                seen = foreseen is not Foreseen.NOT and not brings
                (self.seen if seen else self.facts).setdefault(fact, state)
        elif provides is OPEN and foreseen is Foreseen.NOT:
            self._open[state] = None

    def brings(self, facts: Iterable[object], required: Sequence[str] = ()) -> str:
        """The state that will have provided one of some facts, or may have; empty when none.

        required: pending states that the one with the question requires, the nearest first: they go
        first. A fact of the kind `check` is what a program says, which sees the machine as it is:
        any of them may change it.
        """
        facts = tuple(facts)
        judged = any(isinstance(fact, tuple) and fact[0] == "check" for fact in facts)
        return (
            self._provider(facts)
            or (next(filter(None, map(self.maker_of, facts)), "") if judged else "")
            or next((state for state in required if state in self._open), "")
            or (next(iter(required), "") if judged else "")
            or self.open_by
        )

    def may_bring(self, facts: Collection[object], required: Sequence[str]) -> str:
        """The same for a state that has nothing to do without them: for OPEN, or where a pending
        state is required.
        """
        if self._provider(facts) or not self.open_by:
            return self._provider(facts)
        if OPEN in facts:
            return self.brings((), required)
        return next((state for state in required if state in self._open), next(iter(required), ""))

    def hindered(self, dry_run_check: Callable[[Plan], object], plan: Plan) -> StateFailed | None:
        """The reason why a plan cannot be carried out, unless a pending one may change that."""
        try:
            dry_run_check(plan)
        except StateFailed as failure:
            return None if self.brings(failure.missing) else failure
        return None

    def is_seen(self, state: str, by_commands: bool) -> bool:
        """Return whether looks, or commands, see what a pending state makes."""
        needed = Foreseen.IN_FILES if by_commands else Foreseen.BY_LOOKS
        return self._foreseen.get(state, Foreseen.NOT) >= needed

    def maker_of(self, fact: object) -> str:
        """The state that provides a fact, for what does not see the planned machine; empty when
        none.
        """
        return self.facts.get(fact) or self.seen.get(fact, "")

    def _provider(self, facts: Iterable[object]) -> str:
        for fact in facts:
            match fact:
                case ("planned", str(path)):  # what asks does not see the planned machine
                    return self._planner(path)
                case ("space", _):  # who knows what a program frees
                    return next(filter(self._runs_programs, self._foreseen), "")
                case _ if fact in self.facts:
                    return self.facts[fact]
        return ""

    def _runs_programs(self, state: str) -> bool:
        return self._foreseen[state] < Foreseen.IN_FILES

    def _planner(self, path: str) -> str:
        """The state that plans a path, or another one where its Plan does not say so."""
        while path not in ("", "/"):
            if planner := self.seen.get(("file", path)):
                return planner
            path = path.rpartition("/")[0]
        return next(iter(self._foreseen), "")
