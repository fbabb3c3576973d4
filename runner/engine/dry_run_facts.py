"""Facts that the plans of a dry run will have made true."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from runner.api import OPEN, Plan, StateFailed
from runner.model.chunk import Chunk


class PendingFacts:
    """Facts that plans provide, and the states after which anything may be."""

    def __init__(self) -> None:
        self.facts: dict[object, str] = {}  # fact -> "state: ID"
        self._open: dict[str, None] = {}  # after these anything may be there

    @property
    def open_by(self) -> str:
        """The first state after which anything may be there; empty without one."""
        return next(iter(self._open), "")

    def note(self, chunk: Chunk, provides: object) -> None:
        state = f"{chunk.state}: {chunk.id}"
        if provides is OPEN:
            self._open[state] = None
        elif isinstance(provides, Iterable):
            for fact in provides:
                self.facts.setdefault(fact, state)

    def brings(self, facts: Iterable[object], required: Sequence[str] = ()) -> str:
        """The state that will have provided one of some facts, or may have; empty when none.

        required: pending states that the one with the question requires, the nearest first: they go
        first.
        """
        return self._provider(facts) or next(
            (state for state in required if state in self._open), self.open_by
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

    def _provider(self, facts: Iterable[object]) -> str:
        return next((self.facts[fact] for fact in facts if fact in self.facts), "")
