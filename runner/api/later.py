# SPDX-License-Identifier: Apache-2.0
"""Work that is looked at again before the run ends: what a state has started may die after the
state has ended.
"""

from __future__ import annotations

import time

from runner.api import LATER_CHECKS, here, is_planning
from runner.model.chunk import Chunk
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class LaterCheck(Record):
    """A look that is due. due: on time.monotonic's clock. problem: returns the mistake, or "".
    hint: of what is only a warning, the cure.
    """

    chunk: Chunk
    due: float
    problem: Callable[[], str]
    hint: str = ""


def check_later(subject: str, seconds: float, problem: Callable[[], str]) -> None:
    """Have a state's work looked at again before the run ends: what it started may die after it.

    subject: what it is about; a later call about the same replaces this one.
    seconds: the least time until then.
    problem: returns the mistake, or an empty text; with one the run has a further result, a failed
    one. Outside of a run's states nothing is looked at, nor what is only planned.

    >>> check_later("service nginx", 5, lambda: "" if is_active("nginx") else "nginx died")
    """
    if here.chunk is not None and not is_planning():
        here.store(LATER_CHECKS)[subject] = LaterCheck(
            here.chunk, time.monotonic() + seconds, problem
        )


def warn_later(subject: str, problem: Callable[[], str], hint: str) -> None:
    """Have the machine looked at before the run ends, and a warning given for what is wrong then.

    subject: as of check_later. problem: returns it, or an empty text. hint: the cure.
    """
    if here.chunk is not None and not is_planning():
        here.store(LATER_CHECKS)[subject] = LaterCheck(here.chunk, time.monotonic(), problem, hint)


def forget_check(subject: str) -> None:
    """Drop the later check of a subject: it was ended on purpose."""
    if not is_planning():
        here.store(LATER_CHECKS).pop(subject, None)
