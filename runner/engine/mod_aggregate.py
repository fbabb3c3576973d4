# SPDX-License-Identifier: Apache-2.0
"""Work that one state does for others of its kind: what a module's mod_aggregate may take together
(`aggregate: True`).

Only states that would run now are offered to it: nothing that they require is still to come, no
guard may skip them. Each of them still runs at its turn, finds its work done and reports its own
share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from runner.engine.step import Aggregate, RunPlan
from runner.model.chunk import GUARDS, Chunk
from runner.model.result import Result


def candidates(
    position: int,
    aggregating: Iterable[int],
    plan: RunPlan,
    done: Mapping[int, Result],
    would_run: Callable[[int], bool],
) -> tuple[int, ...]:
    """The states that may be taken in by the one at `position`.

    aggregating: the positions of all that have a mod_aggregate, use it and were not taken in by
    another one. would_run: tells whether a state whose requisites have all ended would run.
    """
    taken = []
    for other in aggregating:
        chunk = plan.chunk(other)
        if other == position or other in done or chunk.state != plan.chunk(position).state:
            continue
        groups = [group for group in plan.relations.of(other).groups if group.kind.orders]
        ended = not any(group.kind.prepares for group in groups)
        ended = ended and all(target in done for group in groups for target in group.targets)
        ended = ended and all(first in done for first in plan.comes_after(other))
        if ended and not chunk.args.keys() & GUARDS and would_run(other):
            taken.append(other)
    return tuple(taken)


def merged(
    aggregate: Aggregate, chunk: Chunk, others: Iterable[Chunk], results: Mapping[str, Result]
) -> Chunk:
    """The chunk with the arguments that its module's mod_aggregate gives it."""
    running = {
        tag: {"result": result.result, "changes": dict(result.changes)}
        for tag, result in results.items()
    }
    low = aggregate(dict(chunk.low), [dict(other.low) for other in others], running)
    args = {key: value for key, value in low.items() if key in chunk.args or key not in chunk.low}
    return chunk._replace(
        args={key: value for key, value in args.items() if not key.startswith("__")}, low=low
    )
