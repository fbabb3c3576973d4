# SPDX-License-Identifier: Apache-2.0
"""The outcome of chunks: results, the report of a run, pending reactions."""

from __future__ import annotations

import time
from functools import cached_property

from runner.model.chunk import Chunk
from runner.model.places import Value
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from runner.model.errors import Diagnostic
    from runner.model.made import Thing

# the key, in `extra`, of the sentence that says what is left to the boot
ENDS_RUN = "ends_run"  # of a state after which the run goes no further
AT_BOOT = "at_boot"
HIGHSTATE = "highstate"  # the scope of a run of all states that the top file assigns

MOST_NAMED = 20  # states that a sentence in a result names, of which there may be any number


def some_of(names: Sequence[str]) -> str:
    """Return names as a sentence has them: not all of very many.

    >>> some_of(["a.b", "a.c"])
    'a.b, a.c'
    """
    more = len(names) - MOST_NAMED
    return f"{', '.join(names[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"


def named(tag: str) -> str:
    """The state that a result's tag belongs to.

    >>> named("cmd_|-reload_|-nginx -s reload_|-run")
    'cmd: reload'
    """
    return ": ".join(tag.split("_|-")[:2])


class Result(Record):
    """The outcome of one chunk. `result` is Salt's: True, False, or None (would change, or cannot
    be known).
    """

    chunk: Chunk
    result: bool | None
    comment: str
    changes: Mapping[str, Value] = {}
    ran: bool = True  # False when a requisite kept the state function from being called
    run_num: int = 0
    started: float = 0.0  # seconds since 1970; 0 for what did not run
    duration: float = 0.0  # milliseconds
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Value] = {}  # further keys of Salt's JSON (skip_watch, ...)
    cause: str | None = None  # the tag of the state that made this one be skipped
    exact: bool = True  # False: a dry run that could not know
    # a dry run could not even look: it depends on what is pending, and counts as a change
    undecided: bool = False
    decided_by: str = ""  # the pending state ("state: ID") that decides what is undecided
    owed: tuple[str, ...] = ()  # reactions paid or still owed
    key: str = ""  # the key in the JSON when it is not the chunk's tag (listen)
    inputs: tuple[
        str, ...
    ] = ()  # the files of the tree that it was made from, and what else it goes by
    origin: str = (
        ""  # why it changed something: reaction, intent, drift or repeats; empty: not known
    )
    noop: bool = (
        False  # only planned, because the state says so, in a run that changes other things
    )
    note: str = ""  # a sentence about that, for people
    reacted: bool = (
        True  # False: its own changes are none that a watch asks for, mod_watch is still due
    )
    before: Mapping[
        str, Value
    ] = {}  # what its changes replaced, of the shape of `changes`, for people
    reaction: str = ""  # what mod_watch did, for people
    unstarted: bool = False  # it failed for want of something, before its change began
    things: tuple[Thing, ...] = ()  # what its changes made or removed

    @property
    def tag(self) -> str:
        return self.key or self.chunk.tag

    @property
    def name(self) -> str:
        """The name of the state, with its slot filled."""
        return str(self.extra.get("name", self.chunk.name))

    @property
    def start_time(self) -> str:
        """Salt's start_time: the local time of day with microseconds; empty for what did not
        run.
        """
        if not self.started:
            return ""
        clock = time.strftime("%H:%M:%S", time.localtime(self.started))
        return f"{clock}.{int(self.started % 1 * 1_000_000):06d}"

    @property
    def may_change(self) -> bool:
        """Return whether nobody knows whether it will change something: what reacts to it may be
        run.
        """
        return self.undecided or (
            self.result is None and not (self.changes or self.exact or self.noop)
        )

    def undecided_until(self, by: str, why: str = "") -> Result:
        """The same, where it is not known before a pending state is done. why: the reason."""
        failed = self.result is False
        how = f" (depends on {by}{why})" if failed else f"; decided when {by} is done{why}"
        comment = f"{self.comment.rstrip().removesuffix('.')}{how}".lstrip("; ")
        return self._replace(
            result=None, comment=comment, changes={}, exact=False, undecided=True, decided_by=by
        )

    def outcome(self, dry: bool) -> str:
        """The word for what became of the state, one of OUTCOMES. dry: in a dry run."""
        if self.result is False:
            return "failed" if self.ran else "skipped"
        if self.result is None and self.cause:
            return "skipped"  # its change was to be prepared, which failed
        if (self.result is None and (self.noop or not dry)) or (self.note and not self.changes):
            return "no-op"
        if self.result is None:
            return "would change" if self.changes or self.exact else "undecided"
        if self.changes:
            return "would change" if dry else "changed"
        return "unchanged"


OUTCOMES = ("failed", "changed", "would change", "no-op", "undecided", "skipped", "unchanged")
# why a run ended without running its states to the end
NOT_COMPILED, LOCKED, NOT_STARTED, CRASHED = "did not compile", "locked", "did not start", "crashed"


# what became of the newest tree of `runner pull`: it is used, or the last good one is, because it
# was refused or could not be fetched
NEW, REFUSED, UNREACHABLE = PULLED = ("used", "refused", "unreachable")


class Report:
    """All results of one run, in the order in which the states ran.

    interrupted: the number of the signal that ended the run early; why: what interrupted it, for
    people, or one of the words above; left: the states that it therefore did not come to; errors:
    what was wrong, when it was no state.
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
        self.results, self.dry, self.interrupted, self.why, self.left = (
            results,
            dry,
            interrupted,
            why,
            left,
        )
        self.errors = errors

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def outcome(self) -> str:
        """How the run ended, in a word or two."""
        return self.why or ("failed" if self.failed else "done")

    @cached_property
    def failed(self) -> bool:
        return bool(self.errors) or any(result.result is False for result in self.results)

    def counts(self) -> dict[str, int]:
        """Return how many states had which outcome."""
        numbers = dict.fromkeys(OUTCOMES, 0)
        for result in self.results:
            numbers[result.outcome(self.dry)] += 1
        return numbers

    @cached_property
    def changed(self) -> bool:
        return any(result.changes or result.result is None for result in self.results)


class RunFacts(Record):
    """The facts of a run beside its results. machine: its ID. environment: of its states. run: the
    ID of the run. started, finished: seconds since 1970. revision: of the tree, empty where it has
    none. version: of runner. from_cache: the tree is an earlier one, as the newest
    cannot be used; pull_problem says why.
    """

    machine: str
    environment: str
    run: str
    started: float
    finished: float
    revision: str
    version: str
    from_cache: bool = False
    pull_problem: str = ""


class PendingReaction(Record):
    """A reaction that is owed: the reactor has to react once to changes of the sources, whatever
    happens in between.
    """

    reactor: str  # the reactor's tag
    kind: str  # watch | onchanges | listen
    source: str  # the tag of the first source, with its run and time
    run: str
    time: str  # ISO 8601
    place: str
    sources: str  # all, for people
