# SPDX-License-Identifier: Apache-2.0
"""The requisites of a run as the history keeps them, for its page."""

from __future__ import annotations

import json

from runner.engine.run_plan import RunPlan
from runner.support.redaction import Secrets


def requisite_graph(plan: RunPlan, secrets: Secrets) -> str:
    """The states that have to do with each other and how, as JSON; empty where none has.

    states: their tags as results have them, without secrets. edges: [the state that runs or counts
    first, the other one, the kind], as positions in `states`; automatic: the same of relationships
    that nobody has typed.
    """
    positions: dict[int, int] = {}
    number = positions.setdefault
    edges: list[tuple[int, int, str]] = []
    automatic: list[tuple[int, int, str]] = []
    # every run does this with all of its requisites: a loop of few calls
    for holder, kind, target, _, is_automatic, _ in plan.relations.edges:
        ahead = kind.orders and kind.prepares
        first, then = (holder, target) if ahead else (target, holder)
        row = (number(first, len(positions)), number(then, len(positions)), kind)
        (automatic if is_automatic else edges).append(row)
    automatic += [
        (number(first, len(positions)), number(then, len(positions)), kind)
        for first, then, kind in plan.relations.automatic
    ]
    if not positions:
        return ""
    tags = [secrets.chunk(plan.chunk(position)).tag for position in positions]
    return json.dumps({"states": tags, "edges": edges, "automatic": automatic})
