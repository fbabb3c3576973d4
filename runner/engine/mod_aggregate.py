"""Work that one state does for others of its kind: what a module's mod_aggregate may take together
(`aggregate: True`).

Only states that would run now are offered to it: nothing that they require is still to come, no
guard may skip them. Each of them still runs at its turn, finds its work done and reports its own
share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runner.engine.guards import GUARDS
from runner.model.chunk import Chunk, Relations
from runner.model.requisite_kinds import Kind
from runner.model.result import Result

# (low chunk, the low chunks that may be taken in, results by tag) -> low chunk with the arguments
# of all
Hook = Callable[[dict[str, Any], list[dict[str, Any]], dict[str, Any]], Mapping[str, Any]]


def candidates(
    position: int,
    hooks: Mapping[int, Hook],
    chunks: tuple[Chunk, ...],
    relations: Relations,
    done: Mapping[int, Result],
    runs: Callable[[int], bool],
) -> tuple[int, ...]:
    """The states that may be taken in by the one at `position`.

    hooks: by position, of the states that aggregate. runs: whether a state whose requisites have
    all ended would run.
    """
    found = []
    for other in hooks:
        if other == position or other in done or chunks[other].state != chunks[position].state:
            continue
        edges = [edge for edge in relations.of(other) if edge.kind is not Kind.LISTEN]
        ended = all(edge.kind is not Kind.PREREQ and edge.target in done for edge in edges)
        if ended and not GUARDS & chunks[other].args.keys() and runs(other):
            found.append(other)
    return tuple(found)


def merged(
    hook: Hook, chunk: Chunk, others: Iterable[Chunk], results: Mapping[str, Result]
) -> Chunk:
    """The chunk with the arguments that its module's mod_aggregate gives it."""
    running = {
        tag: {"result": found.result, "changes": dict(found.changes)}
        for tag, found in results.items()
    }
    low = hook(dict(chunk.low), [dict(other.low) for other in others], running)
    args = {key: value for key, value in low.items() if key in chunk.args or key not in chunk.low}
    return chunk._replace(
        args={key: value for key, value in args.items() if not key.startswith("__")}, low=low
    )
