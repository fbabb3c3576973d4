# SPDX-License-Identifier: Apache-2.0
"""Who reacts to which state of a run, for the history."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from runner.engine.run_plan import RunPlan
from runner.model.chunk import Chunk
from runner.support.redaction import Secrets


def no_watchers(tag: str) -> Iterable[Chunk]:
    """The watchers of what is no state: none."""
    return ()


class WatchersByTag:
    """The states with a mod_watch that watch another state, or listen to it, by its tag as results
    have it: without secrets.
    """

    def __init__(self, plan: RunPlan, secrets: Secrets) -> None:
        self._plan, self._secrets = plan, secrets

    def __call__(self, tag: str) -> Iterable[Chunk]:
        return self._watchers.get(tag, ())

    @cached_property
    def _watchers(self) -> dict[str, list[Chunk]]:
        watchers: dict[str, list[Chunk]] = {}
        for edge in self._plan.relations.edges:
            if edge.kind.reaction in ("watch", "listen") and self._plan.steps[edge.holder].reacts:
                tag = self._secrets.chunk(self._plan.chunk(edge.target)).tag
                watchers.setdefault(tag, []).append(self._plan.chunk(edge.holder))
        return watchers
