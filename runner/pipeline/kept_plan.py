# SPDX-License-Identifier: Apache-2.0
"""What of a compiled tree is kept for other runs, as `compiled_bytes.py` writes it.

It is rows of plain values, as `marshal` has them: they need no import, and nothing in them can be
executed. Documents stand in them by their number, state functions and kinds of requisites by their
names: each run has its own. Beside a row stand notes of what in it is no plain value: the way there
and what is to be made of what lies there.
"""

from __future__ import annotations

import datetime
import marshal
from collections.abc import Mapping

from runner.engine.loader.registry import Registry, StateFunction
from runner.engine.step import Call, Step
from runner.model.chunk import Chunk, EdgeGroup, Edges, Relations, Requisite, Requisites, SpreadLow
from runner.model.errors import Diagnostic
from runner.model.places import Document, JoinedList, Later, Place, PlacedList, PlacedMap, Source
from runner.model.records import Record
from runner.model.requisite_kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    from runner.model.places import Written
    from runner.support.yaml.rendered_text import Rendered

    Text: TypeAlias = Rendered | Written | Later  # of an SLS file
    _Place = tuple[int, int, int]  # the number of a document, the line, the column
    _Row: TypeAlias = Any  # lists and tuples of plain values, perhaps with notes

# what is no plain value: as rows of their fields, as lists, as rows of their entries and attributes
RECORDS: Mapping[str, Any] = {kind.__name__: kind for kind in (Diagnostic, Source)}
COLLECTIONS: Mapping[str, Any] = {kind.__name__: kind for kind in (tuple, set, frozenset)}
PLACED: Mapping[str, tuple[Any, tuple[str, ...]]] = {
    "PlacedMap": (PlacedMap, ("at",)),
    "PlacedList": (PlacedList, ("items_at",)),
    "JoinedList": (JoinedList, ("items_at", "places", "shared")),
}
REQUISITES = Chunk._fields.index("requisites")  # what a row has of a chunk in other forms


class NotKept(Exception):
    """A compiled tree cannot be brought back by another run."""


class CompiledPlan(Record):
    """What of a compiled tree is the same in each run that has the same texts, and in which
    templates of states use the same of the variables that these hand on: the positions of the
    states, the variables, the answers. secrets: those that are arguments which are always secret.
    """

    steps: tuple[Step, ...]
    relations: Relations
    order: tuple[int, ...]
    warnings: tuple[Diagnostic, ...] = ()
    handed_on: tuple[tuple[int, str, bool], ...] = ()
    secrets: tuple[str, ...] = ()


def from_bytes(data: bytes | memoryview, texts: Sequence[Text], registry: Registry) -> CompiledPlan:
    """The plan of `to_bytes`. Raises NotKept where its functions are others by now, or RunnerError
    where they cannot be had.
    """
    head, lists, parts_of, spans, places_of, parts, typed = marshal.loads(data)
    for number, of_text in typed.items():
        if isinstance(text := texts[number], Later):
            text.typed = of_text
    reader = _Reader(texts, registry)
    relations, *others = reader.whole(head)
    reader.lists += (reader.whole(row)[0] for row in lists)
    reader.parts += (reader.requisites(reader.whole(row)) for row in parts_of)
    places = [tuple(reader.place(*place) for place in row) for row in places_of]
    sets = [
        tuple(each for first, last in of_set for each in range(first, last + 1)) for of_set in spans
    ]
    steps = tuple(reader.step(row) for part in parts[0] for row in marshal.loads(part))
    by_holder = {
        holder: Edges(reader.group(holder, row, sets, places) for row in of_holder)
        for part in parts[1]
        for holder, of_holder in marshal.loads(part)
    }
    return CompiledPlan(steps, Relations(by_holder, *relations), *others)


def is_built_in(function: StateFunction) -> bool:
    """Return whether a state function is the same in each run with the same code."""
    reaction = function.reaction
    return function.is_built_in and (reaction is None or reaction.is_built_in)


class _Places(Mapping["str", "Place"]):
    """The places of arguments, each made where somebody asks for it: of most states nobody does."""

    __slots__ = ("_documents", "_rows")

    def __init__(self, documents: list[Document], rows: Mapping[str, _Place]) -> None:
        self._documents, self._rows = documents, rows

    def __getitem__(self, key: str) -> Place:
        number, line, column = self._rows[key]
        return Place(self._documents[number], line, column)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return repr(dict(self))


class _Reader:
    """lists, parts: what states share: lists of requisites as they are typed, and what became of
    them.
    """

    def __init__(self, texts: Sequence[Text], registry: Registry) -> None:
        self.documents: list[Document] = [*texts]
        self.lists: list[JoinedList] = []
        self.parts: list[Any] = []
        self._texts = texts
        self._registry = registry
        self._functions: dict[str, StateFunction] = {}

    def whole(self, row: Any) -> Any:
        """A row with what its notes say of it, from the inside out."""
        if type(row) is not tuple:
            return row
        row, notes = row
        for (*above, last), name, *parts in notes:
            holder = row
            for key in above:
                holder = holder[key]
            if name == "same":
                (first, second, third), *_ = parts
                holder[last] = row[first][second][third]
            else:
                holder[last] = self._made(name, holder[last], *parts)
        return row

    def step(self, row: _Row) -> Step:
        bound, traits, has_aggregate, values, requisites, place, places, rest = self.whole(row)
        number, line, column = place
        at = self.documents
        chunk = Chunk._make(
            (
                *values,
                self.requisites(requisites) if requisites else (),
                Place._make((at[number], line, column)),
                _Places(at, places),
                *rest,
            )
        )
        if bound is None:
            return Step._make((chunk, None, *traits, None))
        name, arguments, checks_itself = bound
        function = self._functions.get(name) or self._function(name)
        aggregate = function.hook("mod_aggregate") if has_aggregate else None
        return Step._make((chunk, Call(function, arguments, checks_itself), *traits, aggregate))

    def _function(self, name: str) -> StateFunction:
        found = self._functions[name] = self._registry.state(name)
        if not is_built_in(found):
            raise NotKept(name)
        return found

    def place(self, number: int, line: int, column: int) -> Place:
        return Place(self.documents[number], line, column)

    def requisites(self, rows: _Row) -> Any:
        """Those of a chunk; of several parts (a tuple), of which some have only a number."""
        if type(rows) is tuple:
            return Requisites(
                self.parts[part] if isinstance(part, int) else self.requisites(part)
                for part in rows
            )
        return tuple(
            Requisite(KINDS[kind], state, target, self.place(*place))
            for kind, state, target, place in rows
        )

    def group(
        self,
        holder: int,
        row: _Row,
        sets: Sequence[tuple[int, ...]],
        places: Sequence[tuple[Place, ...]],
    ) -> EdgeGroup:
        where, kind, place, automatic, ordering, at = row
        targets = (where,) if where >= 0 else sets[-1 - where]
        ordering = ordering and KINDS[ordering]
        return EdgeGroup(
            holder,
            KINDS[kind],
            targets,
            self.place(*place),
            automatic,
            ordering,
            places[at] if at >= 0 else (),
        )

    def _made(self, name: str, plain: Any, *parts: Any) -> Any:
        """An object of its plain form. parts: what else is known of it."""
        if name in PLACED:
            kind, attributes = PLACED[name]
            number, start = parts
            entries, *more = plain
            made = kind.__new__(kind)
            made.document, made.start = self.documents[number], start
            for attribute, value in zip(attributes, more, strict=True):
                setattr(made, attribute, value)
            take = made.update if isinstance(made, dict) else made.extend
            take(entries)
            if name == "JoinedList":
                made.shared = [(at, self.lists[other], *span) for at, other, *span in made.shared]
            return made
        if name == "text":
            number, first, last = parts
            text = self._texts[number]
            rendered = text.rendered() if isinstance(text, Later) else text
            if rendered is None:
                raise NotKept(text.file)
            return rendered.text[first:last]
        if name == "Place":
            return self.place(*plain)
        if name == "SpreadLow":
            return SpreadLow(plain[0])
        if name in RECORDS:
            return RECORDS[name](*plain)
        if name in COLLECTIONS:
            return COLLECTIONS[name](plain)
        return getattr(datetime, name)(*plain)
