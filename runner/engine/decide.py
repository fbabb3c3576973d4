# SPDX-License-Identifier: Apache-2.0
"""Pure: a chunk's requisites, the results so far and its pending reactions -> run, react, skip or
fail, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from runner.engine.step import RUN, Decision, Verdict
from runner.model.chunk import Chunk, Edge
from runner.model.records import Record
from runner.model.requisite_kinds import RequisiteKind
from runner.model.result import Result, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from runner.model.requisite_kinds import Reaction


SKIPPED = "State was not run because requisites were skipped by another state"
NOT_REACTED = "mod_watch was not run because requisites were skipped by another state"


def decide(seen: Seen, pending: Collection[str] = ()) -> Decision:
    """Decide by Salt's truth table.

    seen: the requisites of one chunk that order something, each with the result of its target; of a
    prereq with its look. pending: the kinds of reaction (watch, onchanges) that are due from
    earlier.

    >>> decide(()).verdict
    'run'
    """
    needed = [(edge, target) for edge, target in seen if not edge.automatic]
    is_stopped = _is_stopped(needed)
    if not (
        is_stopped
        or pending
        or any(edge.kind.conditional or edge.kind.reaction for edge, _ in seen)
    ):
        return RUN  # nothing but requirements, which are met
    refusals = list(_refusals(seen, pending))
    postponed = all(refusal.postponed for refusal in refusals)
    if is_stopped:
        failed = [target for _, target in needed if target is not None and target.result is False]
        names = dict.fromkeys(f"{target.chunk.sls}.{target.chunk.id}" for target in failed)
        comment = f"One or more requisite failed: {some_of([*names])}"
        return Decision(Verdict.FAIL, comment, _root(failed[0]), postponed)
    if refusals:
        return refusals[0]._replace(postponed=postponed)
    if _is_partly_prepared(seen):
        return RUN
    if "watch" in pending:
        return Decision(Verdict.WATCH)
    if changed := _changed_of_watch(seen):
        return Decision(Verdict.WATCH, decided_by=decider(changed))
    return Decision(Verdict.RUN, NOT_REACTED) if _skipped(_reacting(seen, "watch")) else RUN


def _refusals(seen: Seen, pending: Collection[str]) -> Iterator[Decision]:
    """The conditions that are not met, in the order in which Salt asks for them."""
    prepared = [(edge, target) for edge, target in seen if edge.kind.prepares]
    if prepared and not any(sets_off(target) for _, target in prepared):
        yield _refusal(prepared, "No changes detected")
    if _is_partly_prepared(seen):
        return
    onchanges = _reacting(seen, "onchanges")
    firing = _setting_off(onchanges)
    fired = bool(firing)
    # with both Salt asks no more whether something failed
    if not _onfail(seen) and not (fired and _changed_of_watch(seen)):
        if open_end := _may_fail(seen):
            told = f"It would be run if {open_end} failed"
            yield Decision(Verdict.OPEN, told, decided_by=open_end)
        else:
            asked = [(edge, target) for edge, target in seen if edge.kind.must_fail]
            yield Decision(
                Verdict.SKIP,
                "State was not run because onfail req did not change",
                postponed=any(target is None for _, target in asked),
            )
    if "onchanges" in pending:
        return
    if not fired and onchanges:
        yield _refusal(onchanges, "State was not run because none of the onchanges reqs changed")
    if fired and (by := decider(firing)):
        told = f"It would be run if {_title(firing[0])} changed something"
        yield Decision(Verdict.OPEN, told, decided_by=by)


def _refusal(seen: Seen, comment: str) -> Decision:
    """Return what becomes of a state when nothing of this changes; of what failed or is left out
    nobody knows what it would have done.
    """
    hindered = [target for _, target in seen if target is None or is_hindered(target)]
    cause = next((_root(target) for target in hindered if target is not None), None)
    comment = SKIPPED if _skipped(seen) else comment
    return Decision(Verdict.SKIP, comment, cause, bool(hindered))


def _is_partly_prepared(seen: Seen) -> bool:
    """Return whether some of what a prereq looks at will change, and some not: Salt asks nothing
    more then.
    """
    return len({sets_off(target) for edge, target in seen if edge.kind.prepares}) == 2


def _changed_of_watch(seen: Seen) -> list[Result]:
    """What a state reacts to; of one whose module cannot react a watch is a require."""
    return _setting_off(
        (edge, target) for edge, target in seen if edge.counts_as.reaction == "watch"
    )


def _setting_off(seen: Iterable[tuple[Edge, Result | None]]) -> list[Result]:
    return [target for _, target in seen if target is not None and sets_off(target)]


def decider(changed: Sequence[Result]) -> str:
    """The state after which it is known whether any of this changes something ("state: ID"); empty
    where something surely does.
    """
    if not all(result.may_change for result in changed):
        return ""
    return changed[0].decided_by or _title(changed[0])


def _title(result: Result) -> str:
    return f"{result.chunk.state}: {result.chunk.id}"


class Telling(Record):
    """What the results of many states come to, each with its place among them. first: of all that
    say the same here the first. more: all others that a decision names.
    """

    first: Sequence[tuple[int, Result | None]]
    more: Sequence[tuple[int, Result]] = ()

    @property
    def named(self) -> Sequence[tuple[int, Result | None]]:
        """All of these, in their order."""
        return sorted((*self.first, *self.more), key=itemgetter(0)) if self.more else self.first


def telling(results: Sequence[Result]) -> Telling:
    """What results come to."""
    first: dict[tuple[object, ...], tuple[int, Result]] = {}
    more: list[tuple[int, Result]] = []
    for place, result in enumerate(results):
        says = (
            result.result,
            result.cause is None,
            result.ran,
            result.exact,
            result.undecided,
            result.noop,
            bool(result.changes),
            bool(result.extra.get("skip_req")),
        )
        if says not in first:
            first[says] = place, result
        elif result.result is False:
            more.append((place, result))
    return Telling((*first.values(),), more)


def is_hindered(target: Result) -> bool:
    """Return whether a state did not do its work because of a failure, its own or another's."""
    return target.result is False or target.cause is not None


def _root(failed: Result) -> str:
    return failed.cause or failed.tag


Seen = Sequence[tuple[Edge, Result | None]]


def _changed(target: Result | None) -> bool:
    if target is None or target.result is False or target.noop:
        return False
    return target.may_change or bool(target.changes)


def sets_off(target: Result | None) -> bool:
    """Return whether a change is one that others react to: the state itself may say that it is not
    (`skip_req`).
    """
    return target is not None and _changed(target) and not target.extra.get("skip_req")


def _reacting(seen: Seen, reaction: Reaction) -> Seen:
    """The requisites that have a state react in one way."""
    return [(edge, target) for edge, target in seen if edge.kind.reaction == reaction]


def _skipped(seen: Seen) -> bool:
    """Return whether a change that sets nothing off is among some requisites."""
    return any(_changed(target) and not sets_off(target) for _, target in seen)


def _by_kind(seen: Seen) -> Mapping[RequisiteKind, list[Result]]:
    """The results that there are, by the kinds that their requisites come down to: of a state whose
    module cannot react watch_any joins its require_any.
    """
    groups: dict[RequisiteKind, list[Result]] = {}
    for edge, target in seen:
        if target is not None:
            groups.setdefault(edge.counts_as, []).append(target)
    return groups


def _is_failed(target: Result | None) -> bool:
    return target is not None and target.result is False


def _is_stopped(seen: Seen) -> bool:
    """Return whether something that is needed failed; of a kind like `require_any` one that ran and
    did not fail is enough.
    """
    for kind, results in _by_kind(seen).items():
        if kind.must_succeed and any(map(_is_failed, results)):
            if kind.must_succeed == "all":
                return True
            if not any(result.ran and not _is_failed(result) for result in results):
                return True
    return False


def _onfail(seen: Seen) -> bool:
    """Return whether what a state is the answer to has failed. What failed without having run
    neither calls for it nor not.
    """
    if not all(_calls(target) for edge, target in seen if edge.kind.must_fail == "all"):
        return False
    results_by_kind = _by_kind(seen)
    for kind in {edge.counts_as for edge, _ in seen if edge.kind.must_fail == "any"}:
        results = results_by_kind.get(kind, [])
        if not results or not all(map(_calls, results)):
            if not any(_calls(result) and result.ran for result in results):
                return False
    return True


def _may_fail(seen: Seen) -> str:
    """The state of a dry run whose failure an onfail would be called by, and that may fail, as
    nobody knows what it will do; empty when none.
    """
    unknown = [
        target
        for edge, target in seen
        if edge.kind.must_fail and target is not None and _is_open(target)
    ]
    worst = [
        (edge, target._replace(result=False) if target in unknown else target)
        for edge, target in seen
        if target is not None
    ]
    if not unknown or not _onfail(worst):
        return ""
    return _title(unknown[0])


def _is_open(target: Result) -> bool:
    return target.result is None and not (target.exact or target.noop)


def _calls(target: Result | None) -> bool:
    """Return whether an onfail is called for: by a failure, or by a state whose change was to be
    prepared and was not.
    """
    return _is_failed(target) or (
        target is not None and target.result is None and target.cause is not None
    )


def not_run_result(chunk: Chunk, decision: Decision) -> Result:
    """The result of a state that its requisites kept from running."""
    if decision.verdict == Verdict.OPEN:
        by = decision.decided_by
        return Result(
            chunk, None, decision.comment, ran=False, exact=False, undecided=True, decided_by=by
        )
    failed = decision.verdict == Verdict.FAIL
    cause = decision.cause if failed else None
    return Result(chunk, not failed, decision.comment, ran=False, cause=cause)


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
