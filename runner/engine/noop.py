"""What would have reacted, in a real run, if no-op states were none: told all the way down."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner.engine.reactions import REACTIONS
from runner.model.chunk import Chunk, Edge, Relations
from runner.model.requisite_kinds import Kind
from runner.model.result import Result


class SuppressedReactions:
    """The states of one run that a no-op state has spared a reaction."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        relations: Relations,
        reacts: Collection[int],
        results: Mapping[int, Result],
    ) -> None:
        """reacts: positions of the chunks whose module has a mod_watch. results: those so far."""
        self._chunks = chunks
        self._relations = relations
        self._reacts = reacts
        self._results = results
        self._spared: set[int] = set()

    def told(self, position: int, result: Result) -> Result:
        """The result, with what it would have reacted to. What changed something itself sends its
        own events.
        """
        if result.noop or result.changes or result.result is not True:
            return result
        targets = [edge.target for edge in self._relations.of(position) if self._would_send(edge)]
        if not targets:
            return result
        self._spared.add(position)
        names = dict.fromkeys(
            f"{self._chunks[each].state}: {self._chunks[each].id}" for each in targets
        )
        told = f"It would have reacted to a change of {', '.join(names)} (no-op)"
        return result._replace(comment=f"{result.comment}\n{told}".strip(), note=told)

    def _would_send(self, edge: Edge) -> bool:
        onchanges = edge.kind in (Kind.ONCHANGES, Kind.ONCHANGES_ANY)
        if edge.kind not in REACTIONS or not (onchanges or edge.holder in self._reacts):
            return False
        found = self._results.get(edge.target)
        return edge.target in self._spared or (
            found is not None and found.noop and bool(found.changes)
        )
