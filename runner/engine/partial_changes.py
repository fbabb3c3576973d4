# SPDX-License-Identifier: Apache-2.0
"""The changes of a state that failed, and the comment on an exception."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping

from runner.api import Plan
from runner.model.places import Value
from runner.model.plain_values import text_of


def made(plan: Plan, look: Callable[[], object]) -> Mapping[str, Value]:
    """The planned changes that a second look does not plan any more; all of them where it
    cannot tell.
    """
    if not plan.exact:
        return plan.changes
    try:
        outcome = look()
        if not isinstance(outcome, Generator):
            return plan.changes
        left = next(outcome).changes
        outcome.close()
    except Exception:
        return plan.changes
    return {
        key: value for key, value in plan.changes.items() if key not in left or left[key] != value
    }


NOT_THE_STATES = (KeyboardInterrupt, GeneratorExit)  # they end a run, or a look


def apology(error: BaseException) -> str:
    """The comment of a state that an exception ended."""
    import traceback

    if isinstance(error, RecursionError):
        return (
            "This goes too deep: folders or values are nested in each other more often than can be"
            " followed"
        )
    if isinstance(error, ValueError) and "embedded null" in text_of(error):
        return "A path or an argument contains a NUL character, which the system does not take"
    if isinstance(error, UnicodeEncodeError):
        half = ascii(error.object[error.start])
        return (
            f"A path or an argument contains {half}, half a character, which the system does not"
            " take"
        )
    frames = traceback.extract_tb(error.__traceback__)
    last = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"An exception occurred in this state: {type(error).__name__}: {text_of(error)}{last}"
