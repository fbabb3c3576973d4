# SPDX-License-Identifier: Apache-2.0
"""The requisites of a run as the history keeps them: who reacts to which state, and the graph of
its page.
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from runner.engine.step import RunPlan
    from runner.model.chunk import Chunk
    from runner.support.redaction import Secrets


class KeptRelations:
    """The relations between the states of a run, without secrets."""

    def __init__(self, plan: RunPlan, secrets: Secrets) -> None:
        self._plan, self._secrets = plan, secrets

    def watchers(self, tag: str) -> Sequence[Sequence[Chunk]]:
        """The states with a mod_watch that watch another state, or listen to it, by its tag as
        results have it; those of one SLS file or pattern are the same list for all of it.
        """
        return self._watchers.get(tag, ())

    @cached_property
    def _watchers(self) -> dict[str, list[list[Chunk]]]:
        together: dict[object, tuple[tuple[int, ...], list[Chunk]]] = {}
        for group in self._plan.relations.edges.groups:
            step = self._plan.steps[group.holder]
            if group.kind.needs_mod_watch and step.reacts:
                together.setdefault(group.together, (group.targets, []))[1].append(step.chunk)
        watchers: dict[str, list[list[Chunk]]] = {}
        for targets, chunks in together.values():
            for target in targets:
                tag = self._secrets.chunk(self._plan.chunk(target)).tag
                watchers.setdefault(tag, []).append(chunks)
        return watchers

    def graph(self) -> dict[str, Any]:
        """The states that have to do with each other and how; empty where none has.

        states: their tags as results have them. edges: [the state that runs or counts first, the
        other one, the kind], as positions in `states`; automatic: the same of relationships that
        nobody has typed. sets: states that requisites name together, by an SLS file or a pattern;
        such a set stands in `edges` and `automatic` as -1 - its position.
        """
        positions: dict[int, int] = {}
        number = positions.setdefault
        edges: list[tuple[int, int, str]] = []
        automatic: list[tuple[int, int, str]] = []
        # every run does this with all of its requisites: a loop of few calls
        sets: dict[tuple[int, ...], int] = {}
        for holder, kind, targets, _, is_automatic, *_ in self._plan.relations.edges.groups:
            if len(targets) == 1:
                other = number(targets[0], len(positions))
            else:
                for target in targets if targets not in sets else ():
                    number(target, len(positions))
                other = -1 - sets.setdefault(targets, len(sets))
            own = number(holder, len(positions))
            first, then = (own, other) if kind.orders and kind.prepares else (other, own)
            (automatic if is_automatic else edges).append((first, then, str(kind)))
        automatic += [
            (number(first, len(positions)), number(then, len(positions)), str(kind))
            for first, then, kind in self._plan.relations.automatic
        ]
        if not positions:
            return {}
        tags = [self._secrets.chunk(self._plan.chunk(position)).tag for position in positions]
        members = [[positions[target] for target in targets] for targets in sets]
        return {"states": tags, "edges": edges, "automatic": automatic, "sets": members}
