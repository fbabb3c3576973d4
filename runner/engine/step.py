# SPDX-License-Identifier: Apache-2.0
"""The plan of a run, its steps, what is decided about one, what the invoker is to do with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runner.engine.loader.registry import StateFunction
from runner.model.chunk import NO_EDGES, Chunk, Edge, EdgeGroup, Edges, Relations
from runner.model.places import Value
from runner.model.records import Record
from runner.model.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    """Call mod_watch instead of the state function. `changed`: "state: ID" of what changed.
    `decided_by`: the pending state after which it is known whether any of this does; empty where
    something surely does.
    """

    changed: tuple[str, ...] = ()
    decided_by: str = ""
    key: str = ""  # the key of the result when it is a listener's
    low: Mapping[str, Any] = {}  # what its low chunk says instead of the state's, or beside it


class Invocation(Record):
    """One request to the invoker: which step, and how it is to be called."""

    step: Step
    mode: str  # one of Mode
    reaction: Reaction | None = None  # call mod_watch instead
    before_change: Callable[[], None] = lambda: None  # called after the Plan, before any change
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
    """The verdict on a chunk. `cause`: the root of the failure that keeps it from running.
    `postponed`: it does not run because of a failure or of a choice for this run, and would have
    otherwise: what is due stays so. `decided_by`: the pending state ("state: ID") after which an
    open verdict is known, or whether there is something to react to.
    """

    verdict: str  # one of Verdict
    comment: str = ""
    cause: str | None = None
    postponed: bool = False
    decided_by: str = ""


RUN = Decision(Verdict.RUN)
DECLINED = Decision(Verdict.SKIP, "State was not run because it was declined", postponed=True)


class RunPlan(Record):
    """Steps, their relations, and their positions in the order of the run."""

    steps: tuple[Step, ...]
    relations: Relations
    order: tuple[int, ...]
    failhard: bool = False
    run_id: str = ""
    max_parallel: int = 0  # states that may run side by side; 0: as many as the engine likes
    verify: bool = False  # look again after each change

    def chunk(self, position: int) -> Chunk:
        return self.steps[position].chunk

    def judged_by(self, position: int) -> Edges:
        """The requisites that decide about a state, those on what is left out included."""
        relations = self.relations
        edges = relations.by_holder.get(position, NO_EDGES)
        unanswered = relations.unanswered.get(position)
        return edges if unanswered is None else edges + unanswered

    def comes_after(self, position: int) -> list[int]:
        """The states that a state comes after by itself (automatic relationships)."""
        return [first for first, then, _ in self.relations.automatic if then == position]

    def is_verified(self, position: int, result: Result) -> bool:
        """Return whether a state has to be looked at again: it changed something, and should find
        nothing left to do.
        """
        changed = result.result is True and bool(result.changes)
        return self.verify and changed and not self.steps[position].non_idempotent

    def ready_looks(
        self,
        position: int,
        results: Mapping[int, Result],
        have_ended: Callable[[tuple[int, ...]], bool],
    ) -> Iterator[int]:
        """The prereq looks due in the place of a state, as far as it shows by now whether that will
        run. have_ended: tells of states that a requisite names together whether all of them have.
        """
        for target in self.relations.looks.get(position, ()):
            groups = [group for group in self.relations.of(target).groups if group.kind.orders]
            is_held = any(group.kind.prepares for group in groups)
            if target not in results and groups and not is_held:
                if all(have_ended(group.targets) for group in groups):
                    yield target

    def waits_for(self, position: int, results: Mapping[int, Result]) -> tuple[str, ...]:
        """The states whose changes are still to come that this one requires, also through others;
        the nearest first.
        """
        near, seen, asked = [position], {position}, set[tuple[int, ...]]()
        pending: list[int] = []
        for number in near:
            for group in self.relations.of(number).groups:
                if not group.kind.orders or group.targets in asked:
                    continue
                asked.add(group.targets)
                for target in group.targets:
                    if target in seen or target not in results:
                        continue
                    seen.add(target)
                    near.append(target)
                    result = results[target]
                    stays = result.noop and not self.steps[position].noop  # as it is now
                    if result.result is None and result.cause is None and not stays:
                        pending.append(target)
        return tuple(dict.fromkeys(self.steps[number].title for number in pending))

    def reaction(
        self,
        position: int,
        result: Result,
        decision: Decision,
        to_others: Callable[[int], Reaction],
    ) -> Reaction | None:
        """The mod_watch to call: for a watched change that the state has not reacted to itself, or
        its own change. to_others: the reaction to what a state watches.
        """
        step = self.steps[position]
        if not step.reacts or result.extra.get("skip_watch") or result.undecided:
            return None
        if result.changes and step.self_refreshing and result.result is not False:
            return Reaction((step.title,))
        if result.changes and (result.reacted or result.result is False):
            return None
        if decision.verdict != Verdict.WATCH:
            return None
        return to_others(position)._replace(decided_by=decision.decided_by)

    def listener(self, position: int) -> Reaction:
        """The mod_watch of a listener, to be called at the end of a run."""
        chunk = self.chunk(position)
        key = f"{chunk.state}_|-listener_{chunk.id}_|-{chunk.name}_|-mod_watch"
        return Reaction(key=key, low={"__id__": f"listener_{chunk.id}"})

    def listening(
        self, is_heard: Callable[[Edge], bool], is_due: Callable[[int], bool]
    ) -> list[EdgeGroup]:
        """What listeners listen to, in the order of the states that say so: `listen` before
        `listen_in`. Of many that are listened to by `listen_in` it is the first that is heard; of a
        listener that is due the first.
        """
        rank = {position: number for number, position in enumerate(self.order)}
        heard: dict[int, tuple[Edge, Edge]] = {}  # the first of all, the first that is heard

        def place(group: EdgeGroup) -> tuple[int, bool, int, int]:
            edge = group.edge(0)
            if group.places:
                if id(group.places) not in heard:
                    edges = sorted(group.edges(), key=lambda each: rank.get(each.target, len(rank)))
                    heard[id(group.places)] = edges[0], next(filter(is_heard, edges), edges[0])
                first, edge = heard[id(group.places)]
                edge = first if edge is not first and is_due(group.holder) else edge
            requisites = self.chunk(group.holder).requisites
            own = any(each.place == edge.place for each in requisites if each.kind == group.kind)
            declared_by = group.holder if own else edge.target
            return rank.get(declared_by, len(rank)), not own, edge.place.line, edge.place.column

        groups = (
            group
            for group in self.relations.edges.groups
            if group.kind.reaction == "listen" and self.steps[group.holder].reacts
        )
        return sorted(groups, key=place)

    def reacts_otherwise(self, position: int) -> bool:
        """Return whether a state has requisites that have it run for others' sake (onchanges,
        onfail, prereq).
        """
        relations = self.relations
        if not (relations.by_holder or relations.unanswered):
            return False
        return any(group.kind.conditional for group in self.judged_by(position).groups)
