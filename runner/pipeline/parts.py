# SPDX-License-Identifier: Apache-2.0
"""Parts of a tree that is compiled: they cost what is in them, and not what is left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from runner.language.compiler.ordering import PrereqLook, arrange, looks
from runner.model.chunk import EdgeGroup
from runner.pipeline.compile import Compiled
from runner.pipeline.selection import Selection


class Parts:
    """A compiled tree. dependents: by tag, the tags of the states that have a requisite on it."""

    def __init__(self, whole: Compiled) -> None:
        self.whole = whole
        self.dependents: dict[str, list[str]] = {}
        self._position = {chunk.tag: position for position, chunk in enumerate(whole.chunks)}
        self._rank = {position: rank for rank, position in enumerate(whole.order)}
        # a state -> the groups that have it among their targets, each list once for all of these
        self._on: dict[int, list[list[EdgeGroup]]] = {}
        by_targets: dict[tuple[int, ...], list[EdgeGroup]] = {}
        for group in whole.relations.edges.groups:
            if group.targets not in by_targets:
                by_targets[group.targets] = []
                for target in group.targets:
                    self._on.setdefault(target, []).append(by_targets[group.targets])
            by_targets[group.targets].append(group)
        for position, groups in self._on.items():
            holders = dict.fromkeys(group.holder for each in groups for group in each)
            tags = [whole.steps[holder].chunk.tag for holder in holders]
            self.dependents[whole.steps[position].chunk.tag] = tags

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
        nodes = list(self._nodes(place, relations.looked_at))
        return whole._replace(
            steps=tuple(whole.steps[position] for position in positions),
            relations=relations._replace(looks=looks(nodes)),
            order=arrange(nodes),
            left_out=(*selected.left_out, *whole.left_out),
        )

    def _touching(self, positions: Mapping[int, int]) -> Iterator[EdgeGroup]:
        """Yield the requisites that one of these states is an end of."""
        for position in positions:
            yield from self.whole.relations.of(position).groups
        on = (groups for position in positions for groups in self._on.get(position, ()))
        for groups in {id(groups): groups for groups in on}.values():
            yield from (group for group in groups if group.holder not in positions)

    def _nodes(self, place: Mapping[int, int], looked_at: Collection[int]) -> Iterator[int]:
        """Yield the states in their order, with the prereq looks where the whole has them."""
        waiting = self.whole.relations.looks
        for position in self.whole.order if waiting else sorted(place, key=self._rank.__getitem__):
            for target in waiting.get(position, ()):
                if place.get(target) in looked_at:
                    yield PrereqLook(place[target])
            if position in place:
                yield place[position]
