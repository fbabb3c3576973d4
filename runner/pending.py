"""What the plans of a dry run will have made true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from runner.api import OPEN, Plan, StateFailed
from runner.model import Chunk


class Pending:
    """Facts, and the first state after which anything may be."""

    def __init__(self) -> None:
        self.facts: dict[object, str] = {}  # fact -> "state: ID"
        self.open_by = ""

    def note(self, chunk: Chunk, provides: object) -> None:
        who = f"{chunk.state}: {chunk.id}"
        if provides is OPEN:
            self.open_by = self.open_by or who
        elif isinstance(provides, Iterable):
            for fact in provides:
                self.facts.setdefault(fact, who)

    def brings(self, facts: Iterable[object]) -> str:
        """Who will have provided one of some facts, or may have; empty when nobody."""
        return self._provider(facts) or self.open_by

    def may_bring(self, facts: Collection[object], required: str) -> str:
        """The same for a state that has nothing to do without them: OPEN is asked for, or a pending state required."""
        return self._provider(facts) or (self.open_by and (required or (self.open_by if OPEN in facts else "")))

    def hindered(self, hindrance: Callable[[Plan], object], plan: Plan) -> StateFailed | None:
        """Why a plan cannot be carried out, unless a pending one may change that."""
        try:
            hindrance(plan)
        except StateFailed as failure:
            return None if self.brings(failure.lacks) else failure
        return None

    def _provider(self, facts: Iterable[object]) -> str:
        return next((self.facts[fact] for fact in facts if fact in self.facts), "")
