# SPDX-License-Identifier: Apache-2.0
"""The places of values: where in a file as its author wrote it each key and value stands."""

from __future__ import annotations

import copy
from _thread import RLock  # threading imports more

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Protocol, TypeAlias
else:
    Protocol = object

Value: TypeAlias = "Any"  # what YAML can say: None, bool, int, float, str, list, dict


_RENDERING = RLock()  # several threads may need a text


# where a run with `--root`, whose machine is an image, sees the files of its host
SEEN = "/run/runner/host"


def of_host(text: str) -> str:
    """A text with the paths of the host's files as they are there.

    >>> of_host("/run/runner/host/srv/salt/top.sls:3")
    '/srv/salt/top.sls:3'
    """
    return text.replace(SEEN, "") if SEEN in text else text


class Source(Record):
    """A place in a file as its author wrote it (line and column count from 1; 0 means unknown)."""

    file: str
    line: int = 0
    column: int = 0
    via: tuple[Source, ...] = ()  # the calls (macro, include) that brought it here, innermost first
    rendered: str | None = None  # what the line had become after rendering, when that differs
    values: tuple[
        tuple[str, str], ...
    ] = ()  # what the expressions or variables of the line were then
    hidden: bool = False  # the line is not to be shown

    def __str__(self) -> str:
        where = of_host(self.file)
        if self.line:
            where += f":{self.line}"
            if self.column:
                where += f":{self.column}"
        return where


class Document(Protocol):
    """A rendered text that knows where each of its lines was typed."""

    @property
    def file(self) -> str: ...

    def source(self, line: int, column: int) -> Source:
        """The place as written of a line and column (from 1) of the rendered text."""

    def position(self, line: int, column: int) -> Source:
        """The same without what the line had become."""


class Untyped(Record):
    """A document for values nobody typed (of a program, the command line, a py renderer)."""

    file: str

    def source(self, line: int, column: int) -> Source:
        return Source(self.file, line, column)

    def position(self, line: int, column: int) -> Source:
        return Source(self.file, line, column)


class Written:
    """A document whose text is as its author wrote it."""

    __slots__ = ("file", "text")

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file

    def source(self, line: int, column: int) -> Source:
        return Source(self.file, line, column)

    def position(self, line: int, column: int) -> Source:
        return Source(self.file, line, column)


class Later:
    """A document that is rendered when somebody needs more of it than is known. typed: the places
    in it that are known, as their rows.
    """

    __slots__ = ("_made", "_render", "file", "typed")

    def __init__(self, render: Callable[[], Any], file: str) -> None:
        """render: gives the rendered text; None where it is another one by now."""
        self._render: Callable[[], Any] | None = render
        self._made: Any = None
        self.file = file
        self.typed: Mapping[tuple[int, int], tuple[Any, ...]] = {}

    def source(self, line: int, column: int) -> Source:
        made = self.rendered()
        source: Source = made.source(line, column) if made else self._known(line, column)
        return source

    def position(self, line: int, column: int) -> Source:
        made = None if (line, column) in self.typed else self.rendered()
        source: Source = made.position(line, column) if made else self._known(line, column)
        return source

    def _known(self, line: int, column: int) -> Source:
        *place, via = self.typed.get((line, column), (self.file, 0, 0, ()))
        return Source._make((*place, tuple(Source(*call) for call in via), None, (), False))

    def rendered(self) -> Any:
        """What `render` gives, asked for once."""
        with _RENDERING:
            if self._render:
                self._made, self._render = self._render(), None
            return self._made


class Place(Record):
    """A position in a document; cheap to carry, resolved to a Source when a message needs it. Its
    text is `FILE:LINE:COLUMN`.
    """

    document: Document
    line: int = 0
    column: int = 0

    @property
    def source(self) -> Source:
        return self.document.source(self.line, self.column)

    def __str__(self) -> str:
        return str(self.document.position(self.line, self.column))


class PlacedMap(dict["Any", "Any"]):
    """A mapping from YAML: a plain dict that remembers where each key and value stands."""

    __slots__ = ("at", "document", "start")

    def __init__(self, document: Document, start: tuple[int, int]) -> None:
        self.document = document
        self.start = start
        self.at: dict[
            Any, tuple[int, int, int, int]
        ] = {}  # line and column of each key, then of its value

    def __deepcopy__(self, memo: dict[int, Any]) -> PlacedMap:
        made = PlacedMap(self.document, self.start)
        memo[id(self)] = made
        made.at = self.at.copy()
        for key, value in self.items():
            made[key] = (
                copy.deepcopy(value, memo) if isinstance(value, dict | list | set) else value
            )
        return made

    @property
    def place(self) -> Place:
        return Place(self.document, *self.start)

    def key_place(self, key: object) -> Place:
        line, column, *_ = self.at.get(key) or self.start
        return Place._make((self.document, line, column))

    def value_place(self, key: object) -> Place:
        _, _, line, column = self.where(key)
        return Place._make((self.document, line, column))

    def where(self, key: object) -> tuple[int, int, int, int]:
        """The line and column of a key, then those of its value."""
        return self.at.get(key) or (*self.start, *self.start)


class PlacedList(list["Any"]):
    """A list from YAML: a plain list that remembers where each item stands."""

    __slots__ = ("document", "items_at", "start")

    def __init__(self, document: Document, start: tuple[int, int]) -> None:
        self.document = document
        self.start = start
        self.items_at: list[tuple[int, int]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> PlacedList:
        made = PlacedList(self.document, self.start)
        memo[id(self)] = made
        made.items_at = self.items_at.copy()
        made.extend(
            copy.deepcopy(item, memo) if isinstance(item, dict | list | set) else item
            for item in self
        )
        return made

    @property
    def place(self) -> Place:
        return Place(self.document, *self.start)

    def item_place(self, index: int) -> Place:
        line, column = self.items_at[index] if index < len(self.items_at) else self.start
        return Place._make((self.document, line, column))


class JoinedList(PlacedList):
    """Items of several lists, perhaps of several files: each keeps its own place.

    shared: parts of lists that others have, too: the number of own items before it, the list, where
    in it the part begins and ends (None: with the list). `spread` has all items.
    """

    __slots__ = ("places", "shared")

    def __init__(self, first: Place) -> None:
        super().__init__(first.document, (first.line, first.column))
        self.places: list[Place] = []
        self.shared: list[tuple[int, JoinedList, int, int | None]] = []

    def share(self, other: JoinedList) -> None:
        """Have all further items of another list, too, here and now."""
        self.shared.append((len(self), other, len(other), None))

    def join(self, items: Iterable[Any], places: Iterable[Place]) -> None:
        """Add items of its own, behind all that there are."""
        following = None
        if self.shared and self.shared[-1][3] is None:
            before, following, begin, _ = self.shared.pop()
            if begin < len(following):
                self.shared.append((before, following, begin, len(following)))
        self += items
        self.places += places
        if following is not None:
            self.share(following)

    def spread(self) -> JoinedList:
        """A list of all items, with none that is shared."""
        whole = JoinedList(self.place)
        done = 0
        for before, other, begin, end in self.shared:
            whole.join(self[done:before], self.places[done:before])
            whole.join(other[begin:end], other.places[begin:end])
            done = before
        whole.join(self[done:], self.places[done:])
        return whole

    def item_place(self, index: int) -> Place:
        return self.places[index] if index < len(self.places) else self.place


class JoinedMap(PlacedMap):
    """Entries of several mappings, perhaps of several files: each keeps its own places."""

    __slots__ = ("places",)

    def __init__(self, first: Place) -> None:
        super().__init__(first.document, (first.line, first.column))
        self.places: dict[Any, tuple[Place, Place]] = {}

    def take(self, other: Mapping[Any, Any], default: Place) -> None:
        """Lay another mapping over this one."""
        for key, value in other.items():
            self[key] = value
            self.places[key] = (key_place(other, key, default), value_place(other, key, default))
            self.at[key] = (*self.start, *self.start)

    def key_place(self, key: object) -> Place:
        return self.places[key][0] if key in self.places else self.place

    def value_place(self, key: object) -> Place:
        return self.places[key][1] if key in self.places else self.place


def position_in(text: str, offset: int) -> tuple[int, int]:
    """The line and the column of a character of a text.

    >>> position_in("one\\ntwo", 5)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def key_place(container: object, key: object, default: Place) -> Place:
    """Where a key of a (perhaps unplaced) mapping stands."""
    return (
        container.key_place(key)
        if isinstance(container, PlacedMap) and key in container.at
        else default
    )


def value_place(container: object, key: object, default: Place) -> Place:
    """Where the value of a key of a (perhaps unplaced) mapping stands."""
    return (
        container.value_place(key)
        if isinstance(container, PlacedMap) and key in container.at
        else default
    )


def item_place(container: object, index: int, default: Place) -> Place:
    """Where an item of a (perhaps unplaced) list stands."""
    return container.item_place(index) if isinstance(container, PlacedList) else default


def without_places(value: Any) -> Any:
    """A copy of plain dicts and lists, which every serializer knows and a function may alter."""
    if isinstance(value, dict):
        return {key: without_places(item) for key, item in value.items()}
    return [without_places(item) for item in value] if isinstance(value, list) else value
