# SPDX-License-Identifier: Apache-2.0
"""The planned machine: what a dry run carries states out on, instead of the machine.

A dry run resumes a state function after its Plan, too. Its changers then alter the planned machine
(`changer(planned=...)`), which the looks of the states that follow see. Where a state does what
nothing stands in for, it is left there: `Unforeseen`.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps

from runner.model.stdlib import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any, ParamSpec, TypeVar

    from runner.api.doubts import Doubts

    P = ParamSpec("P")
    R = TypeVar("R")

MACHINE = "planned machine"  # the store that it is in
_doubts: ContextVar[Doubts | None] = ContextVar("doubts", default=None)
_altering: ContextVar[str] = ContextVar("altering", default="")
_planning: ContextVar[Planning] = ContextVar("planning")


class Planning:
    """A state that is carried out on the planned machine. only_files: it altered nothing else.
    leaves_pending: it will make more than looks see; pending: of that what is known (facts), None
    for all that its Plan provides.
    """

    only_files = True
    leaves_pending = False
    pending: Collection[object] | None = ()


class Overview:
    """What the engine goes by of the planned machine, which is a value of modules. settled: the
    paths that this run has planned. open: by "state: ID" what is not known of what it makes. told:
    by words of commands that ask for it the state which alters what is in no file.
    """

    def __init__(self) -> None:
        self.settled: dict[str, object] = {}
        self.open: dict[str, list[str]] = {}
        self.told: dict[str, str] = {}

    @property
    def is_seen_by_commands(self) -> bool:
        """Return whether commands see what is planned."""
        return False


def overview(stores: Mapping[str, Mapping[Any, Any]]) -> Overview:
    """The planned machine in the stores of a run; an empty one where nothing was planned."""
    return stores.get(MACHINE, {}).get(MACHINE) or Overview()


class Unforeseen(BaseException):
    """Raised where a dry run carries a state out on the planned machine, by what cannot say what it
    would make of that; by a look of a dry run that cannot be had, whose state is undecided then and
    says why. Only the engine catches it.
    """


@contextmanager
def changes_planned() -> Iterator[Planning]:
    """Let changers alter the planned machine (engine and tests only)."""
    planning = Planning()
    token, outer = _altering.set("state"), _planning.set(planning)
    try:
        yield planning
    finally:
        _altering.reset(token)
        _planning.reset(outer)


def leave_pending(facts: Collection[object] | None = None) -> None:
    """Keep what the Plan provides pending although its state is carried out: that will make more
    than looks see. facts: only these.
    """
    planning = _planning.get()
    planning.leaves_pending |= facts is None or bool(facts)
    if planning.pending is not None:
        planning.pending = None if facts is None else (*planning.pending, *facts)


def is_planning() -> bool:
    """Return whether what changes now is the planned machine."""
    return bool(_altering.get())


def is_state_planning() -> bool:
    """Return whether a state alters the planned machine, and no stand-in of a changer."""
    return _altering.get() == "state"


def refuse_unforeseen(what: str) -> None:
    """Raise Unforeseen where a dry run carries a state out, for what asks the machine itself, or
    changes something otherwise than by a changer.
    """
    if _altering.get() == "state":
        raise Unforeseen(what)


def planned_as(stand_in: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare what a dry run calls, where it carries a state out, instead of a function that
    changes nothing, but waits, checks what was done, or asks about it (of a changer:
    `changer(planned=...)`). stand_in: called with the same arguments.

    >>> @planned_as(lambda name: "")  # what was only planned has no log
    ... def log(name: str) -> str: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        @wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_planning():
                return inner(*args, **kwargs)
            planned: R = stand_in(*args, **kwargs)
            return planned

        return call

    return wrap


def foreseen_failures(check: Callable[P, object]) -> Callable[P, Any]:
    """What a dry run calls instead of a changer that may refuse, but whose change cannot be
    foreseen (`changer(planned=...)`). check: raises StateFailed where the changer would.
    """

    def planned(*args: P.args, **kwargs: P.kwargs) -> Any:
        check(*args, **kwargs)
        raise Unforeseen(check.__name__)

    return planned


@contextmanager
def in_stand_in() -> Iterator[None]:
    """Ask the machine for the planned one, where the answer is the same."""
    token = _altering.set("stand-in" if _altering.get() else "")
    try:
        yield
    finally:
        _altering.reset(token)


def only_files(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a stand-in that alters nothing but files, which commands see, too."""
    function.__dict__["only_files"] = True
    return function


def stand_in(planned: Callable[P, R], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> R:
    """Alter the planned machine instead of a changer, which may ask the machine for that."""
    if not planned.__dict__.get("only_files"):
        _planning.get().only_files = False
    with in_stand_in():
        return planned(*args, **kwargs)


@contextmanager
def doubting(doubts: Doubts | None) -> Iterator[None]:
    """Let looks note what they cannot know, and see it as it is in the doubts' world."""
    token = _doubts.set(doubts)
    try:
        yield
    finally:
        _doubts.reset(token)


def promised(kind: str, name: str) -> bool:
    """Return whether a state before this one makes something of which looks know nothing yet, as a
    dry run knows by what its Plan `provides`.
    """
    pending = doubts()
    return pending is not None and pending.promises(kind, name)


def doubts() -> Doubts | None:
    """The doubts of the look that runs now; None where all is known, and on the planned machine."""
    return None if _altering.get() else _doubts.get()
