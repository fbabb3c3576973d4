# SPDX-License-Identifier: Apache-2.0
"""The steps of a run, what is decided about one, what the invoker is to do with it: values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runner.engine.loader.registry import StateFunction
from runner.model.chunk import Chunk, Edge
from runner.model.places import Value
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Final

Low = dict[str, "Any"]
# mod_aggregate: (low chunk, the low chunks that may be taken in, results by tag) -> low chunk with
# the arguments of all
Aggregate = Callable[[Low, list[Low], dict[str, "Any"]], Mapping[str, "Any"]]


class Mode:
    """What calling a state is for."""

    REAL: Final = "real"
    DRY: Final = "dry"
    LOOK: Final = "look"  # of a prereq: nothing may be changed, nothing is recorded or reported


class Call(Record):
    """A state function with its bound arguments, ready to be called."""

    function: StateFunction
    arguments: Mapping[str, Value]
    checks_itself: bool = False  # the function has a check_cmd of its own

    @property
    def own_arguments(self) -> Mapping[str, Value]:
        """The arguments for the hooks of its module: without those that a decorator takes."""
        added = self.function.function.__dict__.get("adds", {}).keys() & self.arguments.keys()
        if not added:
            return self.arguments
        return {key: value for key, value in self.arguments.items() if key not in added}


class Step(Record):
    """One chunk of a run, with all that is known of it before the first state runs."""

    chunk: Chunk
    call: Call | None = None  # None: it can be bound only right before it runs
    reacts: bool = False  # its module has a mod_watch
    self_refreshing: bool = False  # it reacts to its own changes, too (SELF_REFRESH)
    non_idempotent: bool = False  # it changes something in each run by its nature
    noop: bool = False  # it is only planned, in a real run too
    # the file that it looks at, and changes, and nothing else (ABOUT_ONE_FILE); empty for more
    one_file: str = ""
    writes_many: bool = False  # files that get their names together (WRITES_MANY)
    aggregate: Aggregate | None = None  # does the work of others, where it uses `aggregate`

    @property
    def title(self) -> str:
        """The state as messages call it."""
        return f"{self.chunk.state}: {self.chunk.id}"

    def with_chunk(self, chunk: Chunk) -> Step:
        """The step with other arguments, which have to be bound anew."""
        return self._replace(chunk=chunk, call=None)


Hooked = tuple[Step, Call, "Any"]  # with a hook of its module


def asked(steps: Iterable[Step], name: str) -> list[Hooked]:
    """The bound steps whose module has a hook, with that: of most runs none."""
    steps = tuple(steps)
    if all(
        name not in module.__dict__ for module in {s.call.function.module for s in steps if s.call}
    ):
        return []
    return [
        (step, step.call, hook)
        for step in steps
        if step.call and (hook := step.call.function.module.__dict__.get(name))
    ]


class Reaction(Record):
    """Call mod_watch instead of the state function. `changed`: "state: ID" of what changed."""

    changed: tuple[str, ...] = ()
    key: str = ""  # the key of the result when it is a listener's
    low: Mapping[str, Any] = {}  # what its low chunk says instead of the state's, or beside it


def _nothing() -> None:
    return None


class Invocation(Record):
    """One request to the invoker: which step, and how it is to be called."""

    step: Step
    mode: str  # one of Mode
    reaction: Reaction | None = None  # call mod_watch instead
    before_change: Callable[[], None] = _nothing  # called after the Plan, before any change
    # the states that this one requires and whose changes are still pending, nearest first (dry
    # runs)
    waits_for: Callable[[], tuple[str, ...]] = tuple
    will_be_done: bool = True  # of a dry run: the real run does more than plan it
    number: int = 0  # Salt's __run_num__ of the first attempt


class Verdict:
    """What becomes of a chunk."""

    RUN: Final = "run"
    WATCH: Final = "watch"  # run, and react if it changed nothing itself
    SKIP: Final = "skip"  # not run, and that is fine
    FAIL: Final = "fail"  # not run, because something it needs failed
    OPEN: Final = "open"  # in a dry run: run if what is pending fails, or changes something


NOT_RUN = (Verdict.SKIP, Verdict.FAIL, Verdict.OPEN)


class Decision(Record):
    """The verdict on a chunk. `changed`: the edges that made a watch fire; `cause`: the
    root of the failure that keeps it from running. `postponed`: it does not run because of a
    failure or of a choice for this run, and would have otherwise: what is due stays so.
    `decided_by`: the pending state ("state: ID") after which an open verdict is known.
    """

    verdict: str  # one of Verdict
    comment: str = ""
    changed: tuple[Edge, ...] = ()
    cause: str | None = None
    postponed: bool = False
    decided_by: str = ""


RUN = Decision(Verdict.RUN)
DECLINED = Decision(Verdict.SKIP, "State was not run because it was declined", postponed=True)
