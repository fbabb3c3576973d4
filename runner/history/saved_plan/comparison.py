# SPDX-License-Identifier: Apache-2.0
"""A plan beside what is true now, and beside what a run has really done: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner.history.saved_plan.observations import Observation
from runner.history.saved_plan.plan import PlannedState
from runner.model.records import Record
from runner.model.result import Result


def no_longer_true(planned: Sequence[PlannedState], now: Sequence[PlannedState]) -> list[str]:
    """Return what of a plan does not hold any more, in words, a line for each state."""
    present = {state.identity: state for state in now}
    earlier = {state.identity for state in planned}
    lines = []
    for state in planned:
        if state.identity not in present:
            lines.append(f"{state.title}: the tree declares it no longer")
        elif differences := [*_differences(state, present[state.identity])]:
            lines.append(f"{state.title}: {'; '.join(differences)}")
    lines += [
        f"{state.title}: it is new, the plan does not have it ({_said(state)})"
        for state in now
        if state.identity not in earlier
    ]
    order = [state.identity for state in planned]
    if not lines and order != [state.identity for state in now]:
        lines.append("the order of the states is another one")
    return lines


def _differences(planned: PlannedState, now: PlannedState) -> Iterator[str]:
    names = planned.arguments.keys() | now.arguments.keys()
    if changed := sorted(
        name for name in names if planned.arguments.get(name) != now.arguments.get(name)
    ):
        yield f"the tree gives it another {', '.join(changed)}"
    if planned.requisites != now.requisites:
        yield "its requisites are others"
    before = [*_before(planned.before, now.before)]
    yield from before
    if planned.outcome == now.outcome:
        if not before:
            yield from _left(planned.after, now.after)
        return
    if planned.word != now.word:
        yield f"{_said(planned)} when the plan was made, now: {_said(now)}"
    elif named := _other_keys(planned.result.changes, now.result.changes):
        yield f"what it would change is different now: {', '.join(named)}"
    elif not before:
        yield "what it would change is different now, in what is not shown"


def _left(planned: Sequence[Observation], now: Sequence[Observation]) -> Iterator[str]:
    """Yield what would be at paths after a state otherwise than its plan says."""
    present = {item.subject: item.facts for item in now}
    for item in planned:
        facts = present.get(item.subject, item.facts)
        if names := [name for name in item.facts if item.facts[name] != facts.get(name)]:
            yield f"{item.subject}: other {', '.join(names)} than planned"


def _said(state: PlannedState) -> str:
    if state.result.changes:
        return f"{state.word}: {', '.join(_first(list(state.result.changes)))}"
    return state.word


def _before(planned: Sequence[Observation], now: Sequence[Observation]) -> Iterator[str]:
    """Yield what a state would find otherwise than when the plan was made."""
    present = {item.subject: item.facts for item in now}
    for item in planned:
        facts = present.get(item.subject)
        if facts is None:
            continue  # it would not change it any more, which the outcome says
        for name in sorted(item.facts.keys() | facts.keys()):
            if item.facts.get(name) != facts.get(name):
                yield _fact(item.subject, name, item.facts.get(name), facts.get(name))


HASHED = ("contents", "entries", "target")


def _fact(subject: str, name: str, before: str | None, now: str | None) -> str:
    if name in HASHED and before and now:
        return f"{subject}: its {name} changed since"
    return f"{subject}: {name} was {before or 'none'}, is {now or 'none'}"


def _other_keys(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    keys = dict.fromkeys([*before, *now])
    return _first([key for key in keys if before.get(key, _NONE) != now.get(key, _NONE)])


_NONE = object()


def _first(names: list[str], most: int = 5) -> list[str]:
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return [*names[:most], *more]


# ---------------------------------------------------------------- what was really done


class RealState(Record):
    """A state of the real run. outcome: the hash that a plan of just these changes would have;
    after: what it left.
    """

    identity: str
    outcome: str
    result: Result
    after: tuple[Observation, ...]


def done_otherwise(planned: Sequence[PlannedState], real: Sequence[RealState]) -> list[str]:
    """Return what a real run did otherwise than its plan said, in words. Of what was undecided the
    plan said nothing.
    """
    plans = {state.identity: state for state in planned}
    lines = []
    for state in real:
        plan = plans.get(state.identity)
        chunk = state.result.chunk
        if plan is None:
            lines.append(f"{chunk.function} {chunk.id}: {_done(state.result)}; not in the plan")
        elif plan.result.exact and (difference := _other_outcome(plan, state)):
            lines.append(f"{plan.title}: {difference}")
    return lines


def _other_outcome(plan: PlannedState, real: RealState) -> str:
    word = real.result.outcome(dry=False)
    if ("would change" if word == "changed" else word) != plan.word:
        return f"{_done(real.result)}; planned: {_said(plan)}"
    if word != "changed":
        return ""
    if real.outcome == plan.outcome:
        # where nothing stood in for what a state does, the planned machine stayed as it was
        before = {item.subject: item.facts for item in plan.before}
        foreseen = [
            item
            for item in plan.after
            if any(
                item.facts[name] != before.get(item.subject, {}).get(name) for name in item.facts
            )
        ]
        return "; ".join(_left(foreseen, real.after))
    names = _other_keys(plan.result.changes, real.result.changes)
    return f"it changed otherwise than planned: {', '.join(names) or 'in what is not shown'}"


def _done(result: Result) -> str:
    word = result.outcome(dry=False)
    if result.changes:
        return f"{word}: {', '.join(_first(list(result.changes)))}"
    return word
