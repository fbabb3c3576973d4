# SPDX-License-Identifier: Apache-2.0
"""The requisites of a run as the history keeps them: who reacts to which state, and the graph of
its page.
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from runner.engine.run_plan import RunPlan
    from runner.model.chunk import Chunk
    from runner.support.redaction import Secrets


class KeptRelations:
    """The relations between the states of a run, without secrets."""

    def __init__(self, plan: RunPlan, secrets: Secrets) -> None:
        self._plan, self._secrets = plan, secrets

    def watchers(self, tag: str) -> Iterable[Chunk]:
        """The states with a mod_watch that watch another state, or listen to it, by its tag as
        results have it.
        """
        return self._watchers.get(tag, ())

    @cached_property
    def _watchers(self) -> dict[str, list[Chunk]]:
        watchers: dict[str, list[Chunk]] = {}
        for edge in self._plan.relations.edges:
            if edge.kind.reaction in ("watch", "listen") and self._plan.steps[edge.holder].reacts:
                tag = self._secrets.chunk(self._plan.chunk(edge.target)).tag
                watchers.setdefault(tag, []).append(self._plan.chunk(edge.holder))
        return watchers

    def graph(self) -> dict[str, Any]:
        """The states that have to do with each other and how; empty where none has.

        states: their tags as results have them. edges: [the state that runs or counts first, the
        other one, the kind], as positions in `states`; automatic: the same of relationships that
        nobody has typed.
        """
        positions: dict[int, int] = {}
        number = positions.setdefault
        edges: list[tuple[int, int, str]] = []
        automatic: list[tuple[int, int, str]] = []
        # every run does this with all of its requisites: a loop of few calls
        for holder, kind, target, _, is_automatic, _ in self._plan.relations.edges:
            ahead = kind.orders and kind.prepares
            first, then = (holder, target) if ahead else (target, holder)
            row = (number(first, len(positions)), number(then, len(positions)), str(kind))
            (automatic if is_automatic else edges).append(row)
        automatic += [
            (number(first, len(positions)), number(then, len(positions)), str(kind))
            for first, then, kind in self._plan.relations.automatic
        ]
        if not positions:
            return {}
        tags = [self._secrets.chunk(self._plan.chunk(position)).tag for position in positions]
        return {"states": tags, "edges": edges, "automatic": automatic}
