"""What a state that failed in the middle of its change has done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

from runner.api import Plan
from runner.model import Value


def made(plan: Plan, look: Callable[[], object]) -> Mapping[str, Value]:
    """Those of the planned changes that a second look does not plan any more; all of them where it cannot tell."""
    if not plan.sure:
        return plan.changes
    try:
        outcome = look()
        if not isinstance(outcome, Generator):
            return plan.changes
        left = next(outcome).changes
        outcome.close()
    except Exception:
        return plan.changes
    return {key: value for key, value in plan.changes.items() if key not in left or left[key] != value}
