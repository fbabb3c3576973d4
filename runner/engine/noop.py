# SPDX-License-Identifier: Apache-2.0
"""Reactions that no-op states suppress, noted all the way down."""

from __future__ import annotations

from runner.engine.run_plan import RunPlan
from runner.model.chunk import Edge
from runner.model.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class SuppressedReactions:
    """The states of one run that did not react because a no-op state changed nothing."""

    def __init__(self, plan: RunPlan, results: Mapping[int, Result]) -> None:
        """results: those so far, by position."""
        self._plan = plan
        self._results = results
        self._suppressed: set[int] = set()

    def note(self, position: int, result: Result) -> Result:
        """Add to a result what it would have reacted to. What changed something itself sends its
        own events.
        """
        if result.noop or result.changes or result.result is not True:
            return result
        edges = self._plan.relations.of(position)
        targets = [edge.target for edge in edges if self._would_send(edge)]
        if not targets:
            return result
        self._suppressed.add(position)
        names = dict.fromkeys(self._plan.steps[target].title for target in targets)
        note = f"It would have reacted to a change of {', '.join(names)} (no-op)"
        return result._replace(comment=f"{result.comment}\n{note}".strip(), note=note)

    def _would_send(self, edge: Edge) -> bool:
        can_react = not edge.kind.needs_mod_watch or self._plan.steps[edge.holder].reacts
        if not edge.kind.reaction or not can_react:
            return False
        target = self._results.get(edge.target)
        return edge.target in self._suppressed or (
            target is not None and target.noop and bool(target.changes)
        )
