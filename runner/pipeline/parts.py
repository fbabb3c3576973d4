# SPDX-License-Identifier: Apache-2.0
"""Parts of a tree that is compiled: they cost what is in them, and not what is left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from runner.language.compiler.ordering import PrereqLook, arrange, looks
from runner.model.chunk import Edge
from runner.pipeline.compile import Compiled
from runner.pipeline.selection import Selection


class Parts:
    """A compiled tree. dependents: by tag, the tags of the states that have a requisite on it."""

    def __init__(self, whole: Compiled) -> None:
        self.whole = whole
        self.dependents: dict[str, list[str]] = {}
        self._position = {chunk.tag: position for position, chunk in enumerate(whole.chunks)}
        self._rank = {position: rank for rank, position in enumerate(whole.order)}
        self._on: dict[int, list[Edge]] = {}
        for edge in whole.relations.edges:
            self._on.setdefault(edge.target, []).append(edge)
            target, holder = whole.steps[edge.target].chunk, whole.steps[edge.holder].chunk
            self.dependents.setdefault(target.tag, []).append(holder.tag)

    def of(self, tags: Collection[str] | None, reacts: Callable[[str], bool]) -> Compiled:
        """The states with these tags (None: all), as if the others were left out of the run, in the
        order that the whole has. reacts: tells whether a state that is left out is to react later,
        by its module.
        """
        whole = self.whole
        if tags is None:
            return whole
        positions = sorted(self._position[tag] for tag in tags if tag in self._position)
        place = {position: number for number, position in enumerate(positions)}
        selected = Selection(whole.chunks, positions)
        relations = selected.part(whole.relations, self._touching(place), reacts)
        nodes = list(self._nodes(place, relations.prepared_by))
        return whole._replace(
            steps=tuple(whole.steps[position] for position in positions),
            relations=relations._replace(looks=looks(nodes)),
            order=arrange(nodes),
            left_out=(*selected.left_out, *whole.left_out),
        )

    def _touching(self, positions: Mapping[int, int]) -> Iterator[Edge]:
        """Yield the requisites that one of these states is an end of."""
        for position in positions:
            yield from self.whole.relations.of(position)
            yield from (edge for edge in self._on.get(position, ()) if edge.holder not in positions)

    def _nodes(self, place: Mapping[int, int], looked_at: Collection[int]) -> Iterator[int]:
        """Yield the states in their order, with the prereq looks where the whole has them."""
        waiting = self.whole.relations.looks
        for position in self.whole.order if waiting else sorted(place, key=self._rank.__getitem__):
            for target in waiting.get(position, ()):
                if place.get(target) in looked_at:
                    yield PrereqLook(place[target])
            if position in place:
                yield place[position]
