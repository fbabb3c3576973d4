"""Pure: a chunk's requisites, the results so far and the pending reactions -> run, react, skip or
fail, and why.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Sequence

from runner.model.chunk import Chunk, Edge
from runner.model.records import Record
from runner.model.requisite_kinds import Kind
from runner.model.result import Result


class Verdict(enum.Enum):
    RUN = "run"
    WATCH = "watch"  # run, and react if it changed nothing itself
    SKIP = "skip"  # not run, and that is fine
    FAIL = "fail"  # not run, because something it needs failed


class Decision(Record):
    """What is to be done with a chunk. `changed`: the edges that made a watch fire; `cause`: the
    root of a failure.
    """

    verdict: Verdict
    comment: str = ""
    changed: tuple[Edge, ...] = ()
    cause: str | None = None


RUN = Decision(Verdict.RUN)
NEEDED = (Kind.REQUIRE, Kind.WATCH)
ANY = (Kind.REQUIRE_ANY, Kind.WATCH_ANY)
WATCH = (Kind.WATCH, Kind.WATCH_ANY)
ONCHANGES = (Kind.ONCHANGES, Kind.ONCHANGES_ANY)
SKIPPED = "State was not run because requisites were skipped by another state"
NOT_REACTED = "mod_watch was not run because requisites were skipped by another state"
ONFAIL = (Kind.ONFAIL, Kind.ONFAIL_ANY)

Lookup = Callable[[Edge], Result | None]


def decide(edges: Sequence[Edge], result: Lookup, owed: Iterable[str] = ()) -> Decision:
    """What Salt's truth table says.

    edges: the requisites of one chunk. result: the result of an edge's target; for a prereq edge
    its look. owed: the kinds of reaction (watch, onchanges) that this chunk owes from earlier.

    >>> decide((), lambda edge: None).verdict
    <Verdict.RUN: 'run'>
    """
    owed = tuple(owed)
    if not edges and not owed:
        return RUN
    seen = [(edge, result(edge)) for edge in edges if edge.kind is not Kind.LISTEN]
    needed = [(edge, found) for edge, found in seen if not edge.automatic]
    if _is_stopped(needed):
        failed = [found for _, found in needed if found is not None and found.result is False]
        names = dict.fromkeys(f"{found.chunk.sls}.{found.chunk.id}" for found in failed)
        comment = f"One or more requisite failed: {', '.join(names)}"
        return Decision(Verdict.FAIL, comment, cause=failed[0].cause or failed[0].tag)
    looks = {_sets_off(found) for edge, found in seen if edge.kind is Kind.PREREQ}
    if looks == {False}:
        return Decision(
            Verdict.SKIP, SKIPPED if _skipped(seen, (Kind.PREREQ,)) else "No changes detected"
        )
    if (
        len(looks) == 2
    ):  # some of what it looks at will change, and some not: Salt asks nothing more then
        return RUN
    # of a state whose module cannot react a watch is a require
    changed = tuple(
        edge for edge, found in seen if (edge.ordering or edge.kind) in WATCH and _sets_off(found)
    )
    fired = any(edge.kind in ONCHANGES and _sets_off(found) for edge, found in seen)
    if not _onfail(seen) and not (
        fired and changed
    ):  # with both Salt asks no more whether something failed
        return Decision(Verdict.SKIP, "State was not run because onfail req did not change")
    if not fired and any(edge.kind in ONCHANGES for edge, _ in seen) and "onchanges" not in owed:
        none = "State was not run because none of the onchanges reqs changed"
        return Decision(Verdict.SKIP, SKIPPED if _skipped(seen, ONCHANGES) else none)
    if changed or "watch" in owed:
        return Decision(Verdict.WATCH, changed=changed)
    return Decision(Verdict.RUN, NOT_REACTED) if _skipped(seen, WATCH) else RUN


Seen = Sequence[tuple[Edge, Result | None]]


def _changed(found: Result | None) -> bool:
    if found is None or found.result is False or found.noop:
        return False
    return found.undecided or bool(found.changes)


def _sets_off(found: Result | None) -> bool:
    """Whether a change is one that others react to: the state itself may say that it is not
    (`skip_req`).
    """
    return found is not None and _changed(found) and not found.extra.get("skip_req")


def _skipped(seen: Seen, kinds: Collection[Kind]) -> bool:
    """Whether a change that sets nothing off is among requisites of some kinds."""
    return any(
        edge.kind in kinds and _changed(found) and not _sets_off(found) for edge, found in seen
    )


def _is_failed(found: Result | None) -> bool:
    return found is not None and found.result is False


def _is_stopped(seen: Seen) -> bool:
    """Whether something that is needed failed; of an `_any` group one that ran and did not fail is
    enough.
    """
    if any(_is_failed(found) for edge, found in seen if edge.kind in (*NEEDED, Kind.PREREQ)):
        return True
    for kind in ANY:  # of a state whose module cannot react watch_any joins its require_any
        group = [
            found
            for edge, found in seen
            if (edge.ordering or edge.kind) is kind and found is not None
        ]
        if any(_is_failed(found) for found in group) and not any(
            found.ran and found.result is not False for found in group
        ):
            return True
    return False


def _onfail(seen: Seen) -> bool:
    """Whether what a state is the answer to has failed. What failed without having run neither
    calls for it nor not.
    """
    if not all(_calls(found) for edge, found in seen if edge.kind is Kind.ONFAIL_ALL):
        return False
    for kind in ONFAIL:
        group = [found for edge, found in seen if edge.kind is kind and found is not None]
        if any(not _calls(found) for found in group) and not any(
            _calls(found) and found.ran for found in group
        ):
            return False
    return True


def _calls(found: Result | None) -> bool:
    """Whether an onfail is called for: by a failure, or by a state whose change was to be prepared
    and was not.
    """
    return _is_failed(found) or (
        found is not None and found.result is None and found.cause is not None
    )


def kept(chunk: Chunk, decision: Decision) -> Result:
    """The result of a state that its requisites kept from running."""
    return Result(
        chunk, decision.verdict is Verdict.SKIP, decision.comment, ran=False, cause=decision.cause
    )


def prereq_failed(result: Result, failed: Result) -> Result:
    """The result of what was only looked at, because the state that should have prepared its change
    failed.
    """
    if result.result is not None:
        return result
    return result._replace(changes={}, cause=failed.cause or failed.tag)


def verified(result: Result, again: Result) -> Result:
    """The result of a state that was looked at again after its change (`--verify`): a second Plan
    is a failure.
    """
    if again.result is True:
        return result
    left = (
        f"it would change {', '.join(map(str, again.changes))} again"
        if again.changes
        else again.comment
    )
    return result._replace(result=False, comment=f"{result.comment}\nThis did not converge: {left}")
