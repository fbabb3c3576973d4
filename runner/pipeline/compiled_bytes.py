# SPDX-License-Identifier: Apache-2.0
"""A compiled tree as bytes, which `kept_plan.py` reads. What has a secret stands in them as its
place in a document, whose text is made anew in each run and kept nowhere.
"""

from __future__ import annotations

import marshal

from runner.engine.step import Step
from runner.model.chunk import EdgeGroup, Requisite, Requisites, SpreadLow
from runner.model.places import Document, JoinedList, Place
from runner.pipeline.kept_plan import (
    COLLECTIONS,
    PLACED,
    RECORDS,
    REQUISITES,
    CompiledPlan,
    NotKept,
    is_built_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    from runner.pipeline.kept_plan import _Place, _Row
    from runner.support.yaml.rendered_text import Rendered

    Mask = Callable[[Any], Any]

PART = 1000  # rows that are written at once: remembering the objects of all takes more memory
DATES = ("date", "datetime", "timezone", "timedelta")  # which Python in a tree may make
_MAY_HIDE = frozenset([str, bytes, int, float])


def to_bytes(
    plan: CompiledPlan, texts: Sequence[Rendered], mask: Mask | None, plain: Collection[int] = ()
) -> bytes:
    """Raises NotKept for a plan with anything in it that only this run has, such as a function of
    the tree, or a secret that stands in no document as it is. mask: hide secrets, if there are any.
    plain: the numbers of texts that are as they were typed.
    """
    writer = _Writer(plan.steps, texts, mask, plan.secrets)
    sets: dict[tuple[int, ...], int] = {}
    edges = [
        (holder, [writer.group(group, sets) for group in of_holder.groups])
        for holder, of_holder in plan.relations.by_holder.items()
    ]
    parts = _parts([writer.step(step) for step in plan.steps]), _parts(edges)
    lists = [writer.noted([shared]) for shared in writer.lists.values]
    shared = lists, [writer.noted(writer.requisites(part)) for part in writer.parts.values]
    places = [[*map(writer.place, several)] for several in writer.places.values]
    head = writer.noted([[*plan.relations[1:]], *plan[2:]])
    typed = _typed((step.chunk.place for step in plan.steps), writer, plain)
    return marshal.dumps((head, *shared, [*map(_spans, sets)], places, parts, typed))


def _typed(places: Iterable[Place], writer: _Writer, plain: Collection[int]) -> dict[int, Any]:
    """Where states were typed, which each run notes: the position of a place in a text -> as
    written.
    """
    typed: dict[int, Any] = {}
    for place in places:
        number, line, column = writer.place(place)
        if number not in plain:
            written = place.document.position(line, column)
            via = [(call.file, call.line, call.column) for call in written.via]
            row = written.file, written.line, written.column, via
            typed.setdefault(number, {})[line, column] = row
    return typed


def _parts(rows: list[Any]) -> list[bytes]:
    return [marshal.dumps(rows[first : first + PART]) for first in range(0, len(rows), PART)]


def _spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Numbers as spans, first and last, of those that follow each other."""
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans


class _Writer:
    """Makes rows."""

    def __init__(
        self,
        steps: Sequence[Step],
        texts: Sequence[Rendered],
        mask: Mask | None,
        secrets: Collection[str],
    ) -> None:
        """secrets: those that need not be so long that they are masked."""
        self.lists = _Numbered()  # what states share: as it is typed, and what became of it
        self.parts = _shared(steps)
        self.places = _Numbered()  # that groups share
        self._texts = texts
        self._numbers = {id(document): number for number, document in enumerate(texts)}
        self._mask = mask
        self._secrets = secrets
        self._notes: list[tuple[Any, ...]] = []
        self._arguments: dict[int, tuple[Any, ...]] = {}  # the ways to those that have notes

    def step(self, step: Step) -> _Row:
        call, chunk = step.call, step.chunk
        if call and not is_built_in(call.function):
            raise NotKept(call.function.name)
        row = [
            call and [call.function.name, *call[1:]],
            [*step[2:-1]],
            step.aggregate is not None,
            [*chunk[:REQUISITES]],
            self._parted(chunk.requisites),
            self.place(chunk.place),
            {key: self.place(place) for key, place in chunk.arg_places.items()},
            [*chunk[REQUISITES + 3 :]],
        ]
        return row if self._mask is None and _is_plain(row) else self.noted(row)

    def _parted(self, requisites: tuple[Requisite, ...] | Requisites) -> _Row:
        """The requisites of a chunk as a row; a tuple of rows where it shares parts with others,
        which have only their numbers.
        """
        if not isinstance(requisites, Requisites):
            return self.requisites(requisites)
        return tuple(
            self.parts.number(part) if part in self.parts else self.requisites(part)
            for part in requisites.parts
        )

    def requisites(self, requisites: Iterable[Requisite]) -> _Row:
        return [
            [str(kind), state, target, self.place(place)]
            for kind, state, target, place in requisites
        ]

    def group(self, group: EdgeGroup, sets: dict[tuple[int, ...], int]) -> _Row:
        """A group as a row. sets: targets that groups share, by their numbers. A single one stands
        for itself.
        """
        _, kind, targets, place, automatic, ordering, places = group
        where = targets[0] if len(targets) == 1 else -1 - sets.setdefault(targets, len(sets))
        at = self.places.number(places) if places else -1
        return where, str(kind), self.place(place), automatic, ordering and str(ordering), at

    def place(self, place: Place) -> _Place:
        return self._number(place.document), place.line, place.column

    def _number(self, document: Document) -> int:
        if (number := self._numbers.get(id(document))) is None:
            raise NotKept(repr(type(document)))  # of values that nobody typed
        return number

    def noted(self, row: list[Any]) -> _Row:
        """A row of any values: its plain form, and notes."""
        self._notes, self._arguments = [], {}
        return self._plain(row, ()), self._notes

    def _plain(self, value: Any, way: tuple[Any, ...]) -> Any:
        """A value as a row has it. way: to where it stands, for notes."""
        kind = type(value)
        if kind in _MAY_HIDE:
            return value if self._mask is None or not self._is_hidden(value, way) else None
        if value is None or kind is bool:
            return value
        if id(value) in self._arguments:  # a chunk has its arguments twice
            self._notes.append((way, "same", self._arguments[id(value)]))
            return None
        before = len(self._notes)
        if kind is dict:
            if self._mask and any(self._mask(key) != key for key in value):
                raise NotKept("a secret")
            whole = {key: self._plain(item, (*way, key)) for key, item in value.items()}
            return value if len(self._notes) == before else whole
        name = kind.__name__
        about: tuple[Any, ...] = ()
        if name in PLACED:
            entries = dict(value) if isinstance(value, dict) else list(value)
            parts = [entries, *(getattr(value, attribute) for attribute in PLACED[name][1])]
            if isinstance(value, JoinedList):
                parts[-1] = [
                    (at, self._number_of_list(other), *span) for at, other, *span in value.shared
                ]
            about = self._number(value.document), value.start
        elif kind is SpreadLow:
            parts = [value.low]
        elif kind is Place:
            parts = [*self.place(value)]
        elif kind is list or name in RECORDS or name in COLLECTIONS:
            parts = [*value]
        elif kind.__module__ == "datetime" and name in DATES:
            parts = [*value.__reduce__()[1]]
        else:
            raise NotKept(repr(kind))
        made = [self._plain(item, (*way, place)) for place, item in enumerate(parts)]
        if name in (*COLLECTIONS, "list") and len(self._notes) == before:
            return value
        if kind is not list:
            self._notes.append((way, name, *about))
        if len(way) == 3:
            self._arguments[id(value)] = way
        return made

    def _number_of_list(self, shared: JoinedList) -> int:
        if shared.shared:
            raise NotKept("a list that shares what it shares")
        return self.lists.number(shared)

    def _is_hidden(self, value: Any, way: tuple[Any, ...]) -> bool:
        """Return whether a value has a secret, and note its place: the document, the first and last
        character. Raises NotKept where it is in none.
        """
        assert self._mask is not None
        if self._mask(value) == value and str(value) not in self._secrets:
            return False
        for number, text in enumerate(self._texts if isinstance(value, str) else ()):
            if (at := text.text.find(value)) >= 0:
                self._notes.append((way, "text", number, at, at + len(value)))
                return True
        raise NotKept("a secret")


class _Numbered:
    """Objects by their identity, each with a number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[int, int] = {}

    def __contains__(self, value: object) -> bool:
        return id(value) in self._numbers

    def number(self, value: object) -> int:
        if value not in self:
            self._numbers[id(value)] = len(self.values)
            self.values.append(value)
        return self._numbers[id(value)]


def _shared(steps: Sequence[Step]) -> _Numbered:
    """Requisites that several chunks share."""
    found, several = _Numbered(), _Numbered()
    for step in steps:
        if isinstance(step.chunk.requisites, Requisites):
            for part in filter(None, step.chunk.requisites.parts):
                if part in found:
                    several.number(part)
                found.number(part)
    return several


def _is_plain(row: _Row) -> bool:
    try:
        return bool(marshal.dumps(row))
    except ValueError:
        return False
