"""The frozen values that travel between the stages."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Protocol

from runner.records import Record

if TYPE_CHECKING:
    from runner.errors import Diagnostic

Value = Any  # what YAML can say: None, bool, int, float, str, list, dict


class Source(Record):
    """A place in a file as its author wrote it (line and column count from 1; 0 means unknown)."""

    file: str
    line: int = 0
    column: int = 0
    via: tuple[Source, ...] = ()  # the calls (macro, include) that brought it here, innermost first
    rendered: str | None = None  # what the line had become after rendering, when that differs
    values: tuple[tuple[str, str], ...] = ()  # what the expressions or variables of the line were then
    hidden: bool = False  # the line is not to be shown

    def __str__(self) -> str:
        where = self.file
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
        ...


class Untyped(Record):
    """A document for values that no one typed (made by a program, the command line, a py renderer)."""

    file: str

    def source(self, line: int, column: int) -> Source:
        return Source(self.file, line, column)


class Place(Record):
    """A position in a document; cheap to carry, resolved to a Source only when a message needs it."""

    document: Document
    line: int = 0
    column: int = 0

    @property
    def source(self) -> Source:
        return self.document.source(self.line, self.column)


class PlacedMap(dict[Any, Any]):
    """A mapping from YAML: a plain dict that remembers where each key and value stands."""

    __slots__ = ("at", "document", "start")

    def __init__(self, document: Document, start: tuple[int, int]) -> None:
        self.document = document
        self.start = start
        self.at: dict[Any, tuple[int, int, int, int]] = {}  # line and column of each key, then of its value

    def __deepcopy__(self, memo: dict[int, Any]) -> PlacedMap:
        made = PlacedMap(self.document, self.start)
        memo[id(self)] = made
        made.at = self.at.copy()
        for key, value in self.items():
            made[key] = deepcopy(value, memo) if isinstance(value, dict | list | set) else value
        return made

    @property
    def place(self) -> Place:
        return Place(self.document, *self.start)

    def key_place(self, key: object) -> Place:
        line, column, _, _ = self.where(key)
        return Place._make((self.document, line, column))

    def value_place(self, key: object) -> Place:
        _, _, line, column = self.where(key)
        return Place._make((self.document, line, column))

    def where(self, key: object) -> tuple[int, int, int, int]:
        """The line and column of a key, then those of its value."""
        return self.at.get(key) or (*self.start, *self.start)


class PlacedList(list[Any]):
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
        made.extend(deepcopy(item, memo) if isinstance(item, dict | list | set) else item for item in self)
        return made

    @property
    def place(self) -> Place:
        return Place(self.document, *self.start)

    def item_place(self, index: int) -> Place:
        line, column = self.items_at[index] if index < len(self.items_at) else self.start
        return Place._make((self.document, line, column))


class JoinedList(PlacedList):
    """Items of several lists, perhaps of several files: each keeps its own place."""

    __slots__ = ("places",)

    def __init__(self, first: Place) -> None:
        super().__init__(first.document, (first.line, first.column))
        self.places: list[Place] = []

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


def key_place(container: object, key: object, default: Place) -> Place:
    """Where a key of a (perhaps unplaced) mapping stands."""
    return container.key_place(key) if isinstance(container, PlacedMap) and key in container.at else default


def value_place(container: object, key: object, default: Place) -> Place:
    """Where the value of a key of a (perhaps unplaced) mapping stands."""
    return container.value_place(key) if isinstance(container, PlacedMap) and key in container.at else default


def item_place(container: object, index: int, default: Place) -> Place:
    """Where an item of a (perhaps unplaced) list stands."""
    return container.item_place(index) if isinstance(container, PlacedList) else default


# ---------------------------------------------------------------- a state, from high data to the run

LAST = 1_000_000  # what Salt adds to the order numbers for `last` and negative ones


class Kind(enum.StrEnum):
    """The requisites; the value is what a user writes."""

    REQUIRE = "require"
    REQUIRE_ANY = "require_any"
    WATCH = "watch"
    WATCH_ANY = "watch_any"
    ONCHANGES = "onchanges"
    ONCHANGES_ANY = "onchanges_any"
    ONFAIL = "onfail"
    ONFAIL_ANY = "onfail_any"
    ONFAIL_ALL = "onfail_all"
    PREREQ = "prereq"
    LISTEN = "listen"


RESERVED = ("include", "extend", "exclude")  # what stands at the margin of an SLS and is no ID
DEAF = {Kind.WATCH: Kind.REQUIRE, Kind.WATCH_ANY: Kind.REQUIRE_ANY}  # to a module without a mod_watch
REQUISITE_KEYS = frozenset([*Kind, *(f"{kind}_in" for kind in Kind), "use", "use_in"])


class Requisite(Record):
    """One reference as a chunk holds it: `kind: [{state: target}]`."""

    kind: Kind
    state: str  # "file", "sls", "id", or "" for a bare ID
    target: str
    place: Place


class Chunk(Record):
    """One state of one name, ready to be ordered and run. `args` are raw, as `show lowstate` prints them."""

    state: str
    fun: str
    id: str
    name: str
    order: float
    sls: str
    env: str
    args: Mapping[str, Value]  # without state, fun, name, order, requisites and __keys
    low: Mapping[str, Value]  # all of it, in Salt's shape and order of keys
    requisites: tuple[Requisite, ...]
    place: Place  # of the function
    arg_places: Mapping[str, Place] = {}
    origins: Mapping[str, str] = {}  # of the arguments that the state does not say itself
    defined: int = 0  # its place among all chunks in the order of high data, before order numbers count
    wanted: float = float("inf")  # the number as written (negative too): what this chunk needs is pulled up to it

    @property
    def given_name(self) -> str | None:
        """The name that the state function gets; None where `names` holds a null, which stands for no name."""
        return None if self.low.get("name", self.name) is None else self.name

    @property
    def tag(self) -> str:
        """The key of this chunk's result, Salt's: `file_|-ID_|-NAME_|-managed`."""
        return f"{self.state}_|-{self.id}_|-{self.name}_|-{self.fun}"

    @property
    def function(self) -> str:
        return f"{self.state}.{self.fun}"


def titled(chunks: Sequence[Chunk]) -> list[str]:
    """The ID of each chunk, with its name behind it where `names` made several of one state."""
    several = Counter((chunk.state, chunk.id) for chunk in chunks)
    return [f"{chunk.id} ({chunk.name})" if several[chunk.state, chunk.id] > 1 else chunk.id for chunk in chunks]


class Edge(Record):
    """`holder` has a requisite of this kind on `target` (both are positions in the tuple of chunks)."""

    holder: int
    kind: Kind
    target: int
    place: Place
    automatic: bool = False  # a hook of a module asked for it: what fails there stops nobody
    ordering: Kind | None = None  # the kind that counts for the order, if another: a file has no use for a `watch`


class Relations(Record):
    """All edges between the chunks, by their holders."""

    edges: tuple[Edge, ...]
    by_holder: Mapping[int, tuple[Edge, ...]]
    automatic: tuple[tuple[int, int, str], ...] = ()  # (first, then, the hook that asked for it): order only
    prepared_by: Mapping[int, tuple[int, ...]] = {}  # target -> those with a prereq on it
    looks: Mapping[int, tuple[int, ...]] = {}  # a state -> what prereqs look at right before it runs

    def of(self, holder: int) -> tuple[Edge, ...]:
        """The edges of one chunk, in the order of its requisites."""
        return self.by_holder.get(holder, ())


class Result(Record):
    """What became of one chunk. `result` is Salt's: True, False, or None (would change, or cannot be known)."""

    chunk: Chunk
    result: bool | None
    comment: str
    changes: Mapping[str, Value] = {}
    ran: bool = True  # False when a requisite kept the state function from being called
    run_num: int = 0
    start_time: str = ""
    duration: float = 0.0  # milliseconds
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Value] = {}  # further keys of Salt's JSON (skip_watch, ...)
    cause: str | None = None  # the tag of the state that made this one be skipped
    sure: bool = True  # False: a dry run that could not know
    undecided: bool = False  # a dry run could not even look: it depends on what is pending, and counts as a change
    owed: tuple[str, ...] = ()  # reactions paid or still owed
    key: str = ""  # the key in the JSON when it is not the chunk's tag (listen)
    inputs: tuple[str, ...] = ()  # the files of the tree that it was made from, and what else it goes by
    origin: str = ""  # why it changed something: reaction, intent, drift or repeats; empty: not known
    noop: bool = False  # only planned, because the state says so, in a run that changes other things
    note: str = ""  # a sentence about that, for people
    reacted: bool = True  # False: its own changes are none that a watch asks for, mod_watch is still due
    before: Mapping[str, Value] = {}  # what its changes replaced, of the shape of `changes`, for people
    reaction: str = ""  # what mod_watch did, for people

    @property
    def tag(self) -> str:
        return self.key or self.chunk.tag

    def outcome(self, dry: bool) -> str:
        """The word for what became of the state, one of OUTCOMES. dry: in a dry run."""
        if self.result is False:
            return "failed" if self.ran else "skipped"
        if (self.noop and self.result is None) or (self.note and not self.changes):
            return "no-op"
        if self.result is None:
            return "would change" if self.changes or self.sure else "undecided"
        if self.changes:
            return "would change" if dry else "changed"
        return "unchanged"


OUTCOMES = ("failed", "changed", "would change", "no-op", "undecided", "skipped", "unchanged")
# why a run ended without running its states to the end
NOT_COMPILED, LOCKED, NOT_STARTED, CRASHED = "did not compile", "locked", "did not start", "crashed"


class Report:
    """All results of one run, in the order in which the states ran.

    interrupted: the number of the signal that ended the run early; why: what interrupted it, for people, or one of the
    words above; left: the states that it therefore did not come to; errors: what was wrong, when it was no state.
    """

    def __init__(
        self,
        results: tuple[Result, ...],
        dry: bool,
        interrupted: int = 0,
        why: str = "",
        left: tuple[Chunk, ...] = (),
        errors: tuple[Diagnostic, ...] = (),
    ) -> None:
        self.results, self.dry, self.interrupted, self.why, self.left = results, dry, interrupted, why, left
        self.errors = errors

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def outcome(self) -> str:
        """How the run ended, in a word or two."""
        return self.why or ("failed" if self.failed else "done")

    @property
    def failed(self) -> bool:
        return bool(self.errors) or any(result.result is False for result in self.results)

    def counts(self) -> dict[str, int]:
        """How many states had which outcome."""
        found = dict.fromkeys(OUTCOMES, 0)
        for result in self.results:
            found[result.outcome(self.dry)] += 1
        return found

    @property
    def changed(self) -> bool:
        return any(result.changes or result.result is None for result in self.results)


# ---------------------------------------------------------------- debts: reactions owed


class Debt(Record):
    """A reaction that is owed: the reactor has to react to a change of the source, whatever happens in between."""

    reactor: str  # the reactor's tag
    kind: str  # watch | onchanges | listen
    source: str  # the source's tag
    run: str
    time: str  # ISO 8601
    place: str


# ---------------------------------------------------------------- events that the engine emits


class RunStarted(Record):
    total: int
    dry: bool
    run: str = ""


class StateStarted(Record):
    chunk: Chunk
    number: int


class StatePlanned(Record):
    chunk: Chunk
    changes: Mapping[str, Value]
    comment: str


class ChangerCalled(Record):
    """A function is about to alter the machine."""

    function: str
    target: str
    before: object  # what was there before, as the function's own look tells it
    chunk: Chunk | None = None
    for_undo: object = None  # `before` with its secrets; for the history, which shows it nowhere


class StateFinished(Record):
    result: Result


class CustomEvent(Record):
    """What `fire_event` and event.send give to the listeners."""

    tag: str
    data: Mapping[str, Value]


class RunFinished(Record):
    report: Report


Event = RunStarted | StateStarted | StatePlanned | ChangerCalled | StateFinished | CustomEvent | RunFinished
