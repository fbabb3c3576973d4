# SPDX-License-Identifier: Apache-2.0
"""Several state functions run as one: their looks, one merged Plan, then their changes."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping

from runner.api import OPEN, Changes, Done, Fact, Open, Plan, Planned, StateFailed, first_plan, here
from runner.model.places import Value


def combine_plans(
    parts: Mapping[str, Planned | str | Done],
    comment: str = "",
    provides: Iterable[Fact] | Open | None = None,
    between: str = "\n",
    all_the_same: bool = False,
) -> Generator[Plan, None, dict[str, Done]]:
    """Run several looks as one: each part up to its Plan, one merged Plan, then each part that had
    one.

    parts: generators of state functions by key; parts without a Plan have their outcome at once.
    comment: of the merged Plan; by default the parts' comments, a line each.
    provides: facts of the merged Plan besides those of the parts; None by default.
    between: the text between the parts' comments, a line end by default.
    all_the_same: True: in a real run the other parts are carried out although one failed when it
    looked. False by default.

    Returns the outcome of each part by its key; a part without a Plan has `changes == {}`. Raises
    StateFailed when a part fails: before the yield with all failures joined, after it with the
    changes that were made.

    >>> def both(name):
    ...     parts = {"dir": directory(name), "file": managed(name + "/x")}
    ...     outcomes = yield from combine_plans(parts)
    ...     return Done("both are in order")
    """
    outcomes: dict[str, Done] = {}
    pending: dict[str, tuple[Planned, Plan]] = {}
    failures: list[StateFailed] = []
    for key, part in parts.items():
        if isinstance(part, str | Done):
            outcomes[key] = _done(part, {})
            continue
        try:
            pending[key] = (part, first_plan(part))
        except StopIteration as stop:
            outcomes[key] = _done(stop.value, {})
        except StateFailed as failure:
            failures.append(failure)
    plans = [plan for _, plan in pending.values()]
    if failures and (here.dry or not (all_the_same and pending)):
        for part, _ in pending.values():
            part.close()
        missing = failures[0].missing if all(failure.missing for failure in failures) else None
        would = (
            {key: value for plan in plans for key, value in plan.changes.items()}
            if all_the_same
            else None
        )
        raise StateFailed(
            between.join(failure.message for failure in failures), changes=would, missing=missing
        )
    if pending:
        yield _merged(
            plans, comment or between.join(plan.comment for plan in plans if plan.comment), provides
        )
    made: dict[str, Value] = {}
    looked = len(failures)
    for key, (part, plan) in pending.items():
        try:
            next(part)
            raise RuntimeError(f"{key}: a second yield in a state function")
        except StopIteration as stop:
            outcomes[key] = _done(stop.value, plan.changes)
            made.update(outcomes[key].changes or {})
        except StateFailed as failure:
            failures.append(failure)
            made.update(failure.changes or {})
    if failures:
        unknown = any(failure.changes is None for failure in failures[looked:])
        raise StateFailed(
            between.join(failure.message for failure in failures), changes=None if unknown else made
        )
    return outcomes


def _done(outcome: str | Done, changes: Changes) -> Done:
    if isinstance(outcome, str):
        return Done(outcome, changes)
    return outcome._replace(changes=changes) if outcome.changes is None else outcome


def _merged(plans: list[Plan], comment: str, provides: Iterable[Fact] | Open | None) -> Plan:
    changes: dict[str, Value] = {}
    facts: list[Fact | Open] = []
    for plan in plans:
        changes.update(plan.changes)
        facts += [OPEN] if isinstance(plan.provides, Open) else plan.provides
    if provides is not None:
        facts += [OPEN] if isinstance(provides, Open) else provides
    return Plan(
        changes,
        comment,
        exact=all(plan.exact for plan in plans),
        why=next((plan.why for plan in plans if plan.why), None),
        provides=facts,
        reacted_by=_reacting(plans),
        before={key: value for plan in plans for key, value in plan.before.items()},
    )


def _reacting(plans: list[Plan]) -> Collection[str] | None:
    """The keys of the changes of several plans that already are a reaction; None for all."""
    if all(plan.reacted_by is None for plan in plans):
        return None
    return {
        key
        for plan in plans
        for key in (plan.changes if plan.reacted_by is None else plan.reacted_by)
    }
