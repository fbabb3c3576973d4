# SPDX-License-Identifier: Apache-2.0
"""An SLS that is asked for, the states of one name that it becomes (low chunks), and the edges
between these.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model import paths
from runner.model.places import JoinedList, Place, Untyped, Value
from runner.model.records import Record
from runner.model.requisite_kinds import RequisiteKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LAST = 1_000_000  # what Salt adds to the order numbers for `last` and negative ones


# the arguments that may keep a state from running, and those of them that are commands
GUARDS = ("onlyif", "unless", "creates")
COMMAND_GUARDS = ("onlyif", "unless")
# the arguments that may refer to a file of the tree, a function or a template engine
REFERRING = frozenset(("source", "sources", "source_hash", "template", *COMMAND_GUARDS))
SLOT = "__slot__:"  # such a text is a call of a function, made right before the state's look
RESERVED = ("include", "extend", "exclude")  # what stands at the margin of an SLS and is no ID


NOWHERE = Place(Untyped("command line"))


class Request(Record):
    """An SLS to put into the run."""

    sls: str
    env: str
    place: Place = NOWHERE
    outside: bool = False  # the path of a file that is in no tree


class SlsFile(Record):
    """The answer of the reader of SLS files: the rendered value, and whether the file is the
    folder's init.sls.
    """

    value: Value
    file: str
    is_init: bool


class Requisite(Record):
    """One reference as a chunk holds it: `kind: [{state: target}]`."""

    kind: RequisiteKind
    state: str  # "file", "sls", "id", or "" for a bare ID
    target: str
    place: Place


class Requisites:
    """The requisites of a chunk in parts: those that all states of an SLS file were given are one
    part of each of them.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[tuple[Requisite, ...]]) -> None:
        self.parts = tuple(parts)

    def __iter__(self) -> Iterator[Requisite]:
        for part in self.parts:
            yield from part

    def __bool__(self) -> bool:
        return any(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Requisites) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


class SpreadLow(Mapping[str, Value]):
    """A low chunk whose lists are in parts: whoever asks for one gets all of it."""

    __slots__ = ("low",)

    def __init__(self, low: Mapping[str, Value]) -> None:
        self.low = low

    def __getitem__(self, key: str) -> Value:
        value = self.low[key]
        return value.spread() if isinstance(value, JoinedList) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.low)

    def __len__(self) -> int:
        return len(self.low)


class Chunk(Record):
    """One state of one name, ready to be ordered and run. `args` are raw, as `show lowstate` prints
    them.
    """

    state: str
    fun: str
    id: str
    name: str
    order: float
    sls: str
    env: str
    args: Mapping[str, Value]  # without state, fun, name, order, requisites and __keys
    low: Mapping[str, Value]  # all of it, in Salt's shape and order of keys
    requisites: tuple[Requisite, ...] | Requisites
    place: Place  # of the function
    arg_places: Mapping[str, Place] = {}
    origins: Mapping[str, str] = {}  # of the arguments that the state does not say itself
    defined: int = (
        0  # its place among all chunks in the order of high data, before order numbers count
    )
    # the number as written (negative too): what this chunk needs is pulled up to it
    explicit_order: float = float("inf")

    @property
    def given_name(self) -> str | None:
        """The name that the state function gets; None where `names` holds a null, which stands for
        no name.
        """
        return None if self.low.get("name", self.name) is None else self.name

    @property
    def tag(self) -> str:
        """The key of this chunk's result, Salt's: `file_|-ID_|-NAME_|-managed`."""
        return f"{self.state}_|-{self.id}_|-{self.name}_|-{self.fun}"

    @property
    def function(self) -> str:
        return f"{self.state}.{self.fun}"

    def may_refer(self) -> bool:
        """Return whether it may name a file of the tree, a function or a template engine."""
        return not REFERRING.isdisjoint(self.args) or "salt://" in self.name

    @property
    def is_conditional(self) -> bool:
        """Return whether its guards or requisites may skip it where nothing has failed."""
        return not self.args.keys().isdisjoint(GUARDS) or any(
            requisite.kind.conditional for requisite in self.requisites
        )

    def is_to_make(self, path: str) -> bool:
        """Return whether the state says that a path is what it makes, or in a folder of that."""
        keys = () if self.state == "file" else ("target", "creates", "home")
        named = (self.name, *(self.args.get(key) for key in keys))
        return any(
            isinstance(made, str)
            and len(made) > 1
            and made.startswith("/")
            and paths.lies_in(path, made)
            for made in named
        )


def titled(chunks: Sequence[Chunk]) -> list[str]:
    """The ID of each chunk, with its name behind it where `names` made several of one state."""
    several: dict[tuple[str, str], int] = {}
    for chunk in chunks:
        several[chunk.state, chunk.id] = several.get((chunk.state, chunk.id), 0) + 1
    return [
        f"{chunk.id} ({chunk.name})" if several[chunk.state, chunk.id] > 1 else chunk.id
        for chunk in chunks
    ]


LEFT_OUT = -1  # the target, or the holder, of a requisite that is not in this run


class Edge(Record):
    """`holder` has a requisite of this kind on `target` (both are positions in the tuple of
    chunks).
    """

    holder: int
    kind: RequisiteKind
    target: int
    place: Place
    automatic: bool = False  # a hook of a module asked for it: what fails there stops nobody
    ordering: RequisiteKind | None = (
        None  # the kind that counts for the order, if another: a file has no use for a `watch`
    )

    @property
    def counts_as(self) -> RequisiteKind:
        """The kind that it comes down to at this holder."""
        return self.ordering or self.kind

    @property
    def sequence(self) -> tuple[int, int] | None:
        """The positions of what runs first and of what then; None for what orders nothing."""
        if not self.kind.orders:
            return None
        return (self.holder, self.target) if self.kind.prepares else (self.target, self.holder)


class EdgeGroup(Record):
    """The edges of one requisite of `holder`: it may stand for many states, those of an SLS file or
    of a pattern. Groups on the same states share their `targets`. places: of each target, where
    several requisites that its holder shares with others are one group.
    """

    holder: int
    kind: RequisiteKind
    targets: tuple[int, ...]
    place: Place
    automatic: bool = False
    ordering: RequisiteKind | None = None
    places: tuple[Place, ...] = ()

    @property
    def counts_as(self) -> RequisiteKind:
        """As of `Edge`."""
        return self.ordering or self.kind

    @property
    def together(self) -> object:
        """The same for groups on the same states; those of one state need not share `targets`."""
        return self.targets if len(self.targets) == 1 else id(self.targets)

    def edges(self) -> Iterator[Edge]:
        return map(self.edge, range(len(self.targets)))

    def edge(self, number: int) -> Edge:
        """One of them."""
        holder, kind, targets, place, automatic, ordering, places = self
        place = places[number] if places else place
        return Edge(holder, kind, targets[number], place, automatic, ordering)

    def on(self, target: int) -> Edge:
        """The one on a state."""
        return self.edge(self.targets.index(target))

    def alone(self) -> Iterator[EdgeGroup]:
        """Groups of one each."""
        for target, edge in zip(self.targets, self.edges(), strict=True):
            yield EdgeGroup(edge.holder, edge.kind, (target,), *edge[3:])


class Edges:
    """Edges by their groups: each edge is made where somebody asks for it."""

    __slots__ = ("groups",)

    def __init__(self, groups: Iterable[EdgeGroup] = ()) -> None:
        self.groups = tuple(groups)

    def __iter__(self) -> Iterator[Edge]:
        for group in self.groups:
            yield from group.edges()

    def __len__(self) -> int:
        return sum(len(group.targets) for group in self.groups)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def __add__(self, others: Edges) -> Edges:
        return Edges(self.groups + others.groups) if others.groups else self

    def __repr__(self) -> str:
        return f"Edges({self.groups!r})"

    @classmethod
    def of(cls, edges: Iterable[Edge]) -> Edges:
        return cls(EdgeGroup(edge[0], edge[1], (edge[2],), *edge[3:]) for edge in edges)


NO_EDGES = Edges()


class Relations(Record):
    """All edges between the chunks, by their holders."""

    by_holder: Mapping[int, Edges]
    automatic: tuple[
        tuple[int, int, str], ...
    ] = ()  # (first, then, the hook that asked for it): order only
    looks: Mapping[
        int, tuple[int, ...]
    ] = {}  # a state -> what prereqs look at right before it runs

    unanswered: Mapping[int, Edges] = {}  # conditional ones, on what is left out
    # of states that are left out and would react to some of the run, which they are to do later:
    # their tags and requisites, whose holder is LEFT_OUT
    absent_reactors: tuple[tuple[str, EdgeGroup], ...] = ()

    @property
    def edges(self) -> Edges:
        """All of them, in the order of their holders."""
        return Edges(group for edges in self.by_holder.values() for group in edges.groups)

    @property
    def preparing(self) -> tuple[EdgeGroup, ...]:
        """Those by which a state looks at others before they run (prereq)."""
        return tuple(group for group in self.edges.groups if group.kind.prepares)

    @property
    def looked_at(self) -> set[int]:
        """What they look at."""
        sets = {id(group.targets): group.targets for group in self.preparing}
        return set().union(*sets.values())

    def of(self, holder: int) -> Edges:
        """The edges of one chunk, in the order of its requisites."""
        return self.by_holder.get(holder, NO_EDGES)
