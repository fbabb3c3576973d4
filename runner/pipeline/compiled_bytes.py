# SPDX-License-Identifier: Apache-2.0
"""A compiled tree as bytes, and back. Documents, state functions and kinds of requisites stand in
them by number and name: each run has its own. What has a secret stands in them as its place in a
document, whose text is made anew in each run and kept nowhere.
"""

from __future__ import annotations

import io

from runner.engine.loader.registry import Registry, StateFunction
from runner.engine.step import Call, Step
from runner.model.chunk import (
    Chunk,
    EdgeGroup,
    Edges,
    Relations,
    Requisite,
    Requisites,
    SpreadLow,
)
from runner.model.diagnostics import Diagnostic
from runner.model.places import JoinedList, JoinedMap, Place, PlacedList, PlacedMap, Source, Untyped
from runner.model.requisite_kinds import KINDS, RequisiteKind
from runner.pipeline.kept_plan import CompiledPlan, NotKept
from runner.support.yaml.rendered_text import Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pickle
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    Mask = Callable[[Any], Any]
else:
    import _pickle as pickle  # `pickle` is the same in Python, and imports more

PART = 1000  # values that are written at once: remembering the objects of all takes more memory
_CLASSES = {
    kind.__name__: kind
    for kind in (
        Step,
        Call,
        Relations,
        Diagnostic,
        Source,
        Place,
        Untyped,
        PlacedMap,
        PlacedList,
        JoinedMap,
        JoinedList,
        SpreadLow,
    )
}
_KNOWN = frozenset(_CLASSES.values())
_DATES = ("date", "datetime", "timezone", "timedelta")  # which YAML makes


def to_bytes(plan: CompiledPlan, documents: Sequence[Rendered], mask: Mask | None) -> bytes:
    """Raises NotKept for a plan with anything in it that only this run has, such as a function of
    the tree, or a secret that stands in no document as it is. mask: hide secrets, if there are any.
    """
    relations = plan.relations
    sets: dict[tuple[int, ...], int] = {}
    places: dict[int, tuple[int, tuple[Place, ...]]] = {}
    rows = [
        (holder, [_row(group, sets, places) for group in edges.groups])
        for holder, edges in relations.by_holder.items()
    ]
    made = io.BytesIO()
    writer = _Writer(made, plan.steps, documents)
    if mask is not None:
        writer = _SecretWriter(made, plan.steps, documents, mask, plan.secrets)
    parts = [*_parts(plan.steps), *_parts(rows)]
    shared = [[_of_requisite(each) for each in part] for part in writer.shared]
    at = [[(*place,) for place in each] for _, each in places.values()]
    others = (relations._replace(by_holder={}), *plan[2:])
    writer.dump((len(plan.steps), len(parts), [*map(_spans, sets)], at, shared, *others))
    for part in parts:
        writer.clear_memo()
        writer.dump(part)
    return made.getvalue()


def _parts(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[first : first + PART] for first in range(0, len(values), PART))


# Requisites and edges are many, and a record that is written by itself costs more than its work
# in a run: they are written as rows of plain values.
if TYPE_CHECKING:
    _Row = tuple[
        Any, ...
    ]  # an EdgeGroup but for its holder: its targets by number, its place in parts
_REQUISITES = Chunk._fields.index("requisites")


def _row(
    group: EdgeGroup,
    sets: dict[tuple[int, ...], int],
    places: dict[int, tuple[int, tuple[Place, ...]]],
) -> _Row:
    """A group as a row. sets, places: the targets that groups share, and their places, by their
    numbers. A single target stands for itself.
    """
    _, kind, targets, place, automatic, ordering, several = group
    alone = len(targets) == 1
    where = targets[0] if alone else -1 - sets.setdefault(targets, len(sets))
    at = places.setdefault(id(several), (len(places), several))[0] if several else -1
    return where, kind, *place, automatic, ordering, at


def _group(
    holder: int, row: _Row, sets: Sequence[tuple[int, ...]], places: Sequence[tuple[Place, ...]]
) -> EdgeGroup:
    where, kind, document, line, column, automatic, ordering, at = row
    targets = (where,) if where >= 0 else sets[-1 - where]
    place = Place(document, line, column)
    several = places[at] if at >= 0 else ()
    return EdgeGroup(holder, kind, targets, place, automatic, ordering, several)


def _spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers as spans, first and last, of those that follow each other."""
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


def _of_requisite(requisite: Requisite) -> _Row:
    kind, state, target, place = requisite
    return kind, state, target, *place


def _requisite(row: _Row) -> Requisite:
    kind, state, target, document, line, column = row
    return Requisite(kind, state, target, Place(document, line, column))


def _as_row(chunk: Chunk, number_of: Mapping[int, int]) -> tuple[Any, ...]:
    """The values of a chunk, its requisites as rows, those that it shares by their numbers."""
    row: list[Any] = [*chunk]
    if isinstance(chunk.requisites, Requisites):
        row[_REQUISITES] = [
            number_of.get(id(part)) or [*map(_of_requisite, part)]
            for part in chunk.requisites.parts
        ]
        row.append(True)
    else:
        row[_REQUISITES] = [*map(_of_requisite, chunk.requisites)]
    return tuple(row)


def _maker(shared: Sequence[tuple[Requisite, ...]]) -> Callable[..., Chunk]:
    """Return what makes a chunk of such values."""

    def of_row(*values: Any) -> Chunk:
        row = [*values[: len(Chunk._fields)]]
        if len(values) == len(row):
            row[_REQUISITES] = tuple(map(_requisite, row[_REQUISITES]))
        else:
            row[_REQUISITES] = Requisites(
                shared[part - 1] if isinstance(part, int) else tuple(map(_requisite, part))
                for part in row[_REQUISITES]
            )
        return Chunk._make(row)

    return of_row


def from_bytes(
    data: bytes | memoryview, documents: Sequence[Rendered], registry: Registry
) -> CompiledPlan:
    """The plan of `to_bytes`. Raises NotKept where its functions are others by now, or RunnerError
    where they cannot be had.
    """
    file = io.BytesIO(data)
    names = _names(documents, registry)
    number, parts, spans, at, rows_of, relations, *others = _BytesReader(
        file, names, documents
    ).load()
    places = [tuple(Place(*place) for place in each) for each in at]
    names[_chunk.__name__] = _maker([tuple(map(_requisite, part)) for part in rows_of])
    sets = [
        tuple(each for first, last in of_set for each in range(first, last + 1)) for of_set in spans
    ]
    rows: list[Any] = []
    for _ in range(parts):
        rows += _BytesReader(file, names, documents).load()
    by_holder = {
        holder: Edges(_group(holder, row, sets, places) for row in of_holder)
        for holder, of_holder in rows[number:]
    }
    relations = relations._replace(by_holder=by_holder)
    return CompiledPlan(tuple(rows[:number]), relations, *others)


# ---------------------------------------------------------------- what stands in for objects


def _document(number: int) -> None:
    """Stand for a rendered text."""


def _function(name: str) -> None:
    """Stand for a state function."""


def _aggregate(name: str) -> None:
    """Stand for the mod_aggregate beside a state function."""


def _kind(name: str) -> None:
    """Stand for a kind of requisites."""


def _chunk(*values: Any) -> None:
    """Stand for a chunk."""


_STANDING_IN = (_document, _function, _aggregate, _kind, _chunk)
_BY_NAME = (*_KNOWN, *_STANDING_IN)


def _names(documents: Sequence[Rendered], registry: Registry) -> dict[str, Any]:
    """Return what the names in the bytes mean in this run."""

    def function(name: str) -> StateFunction:
        found = registry.state(name)
        if not _is_built_in(found):
            raise NotKept(name)
        return found

    makers: tuple[Callable[..., Any], ...] = (
        documents.__getitem__,
        function,
        lambda name: function(name).hook("mod_aggregate"),
        KINDS.__getitem__,
    )
    named = zip(_STANDING_IN, makers, strict=False)
    return {**_CLASSES, **{stand_in.__name__: maker for stand_in, maker in named}}


def _is_built_in(function: StateFunction) -> bool:
    reaction = function.reaction
    return function.is_built_in and (reaction is None or reaction.is_built_in)


def _shared(steps: Sequence[Step]) -> list[tuple[Requisite, ...]]:
    """Requisites that several chunks share."""
    found: dict[int, tuple[Requisite, ...]] = {}
    several: dict[int, tuple[Requisite, ...]] = {}
    for step in steps:
        if isinstance(step.chunk.requisites, Requisites):
            for part in step.chunk.requisites.parts:
                if part and id(part) in found:
                    several[id(part)] = part
                found[id(part)] = part
    return [*several.values()]


class _Writer(pickle.Pickler):
    def __init__(
        self, file: io.BytesIO, steps: Sequence[Step], documents: Sequence[Rendered]
    ) -> None:
        super().__init__(file, 5)
        self.shared = _shared(steps)
        self._number_of = {id(part): number for number, part in enumerate(self.shared, 1)}
        self._documents = {id(text): number for number, text in enumerate(documents)}
        self._aggregates = {
            id(step.aggregate): step.chunk.function for step in steps if step.aggregate
        }

    def reducer_override(self, thing: Any) -> Any:
        if type(thing) is Chunk:
            return _chunk, _as_row(thing, self._number_of)
        if type(thing) in _KNOWN or any(thing is known for known in _BY_NAME):
            return NotImplemented
        kind = thing if isinstance(thing, type) else type(thing)
        if kind.__module__ == "datetime" and kind.__name__ in _DATES:
            return NotImplemented
        if type(thing) is StateFunction and _is_built_in(thing):
            return _function, (thing.name,)
        if type(thing) is RequisiteKind:
            return _kind, (str(thing),)
        if id(thing) in self._documents:
            return _document, (self._documents[id(thing)],)
        if id(thing) in self._aggregates:
            return _aggregate, (self._aggregates[id(thing)],)
        raise NotKept(repr(type(thing)))


class _SecretWriter(_Writer):
    """Slower: it is asked for each value."""

    def __init__(
        self,
        file: io.BytesIO,
        steps: Sequence[Step],
        documents: Sequence[Rendered],
        mask: Mask,
        secrets: Collection[str],
    ) -> None:
        """secrets: those that need not be so long that they are masked."""
        super().__init__(file, steps, documents)
        self._texts = [text.text for text in documents]
        self._mask = mask
        self._secrets = secrets

    def persistent_id(self, thing: Any) -> str | None:
        """The place of a value that has a secret: the document, the first and last character."""
        if type(thing) not in _MAY_HIDE:
            return None
        if self._mask(thing) == thing and str(thing) not in self._secrets:
            return None
        for number, text in enumerate(self._texts if isinstance(thing, str) else ()):
            if (at := text.find(thing)) >= 0:
                return f"{number} {at} {at + len(thing)}"
        raise NotKept("a secret")


_MAY_HIDE = frozenset([str, bytes, int, float])


class _BytesReader(pickle.Unpickler):
    def __init__(
        self, file: io.BytesIO, names: dict[str, Any], documents: Sequence[Rendered]
    ) -> None:
        super().__init__(file)
        self._names = names
        self._documents = documents

    def persistent_load(self, place: str) -> str:
        number, first, last = map(int, place.split())
        return self._documents[number].text[first:last]

    def find_class(self, module: str, name: str) -> Any:
        if name in _DATES:
            import datetime

            return getattr(datetime, name)
        return self._names[name]
