# SPDX-License-Identifier: Apache-2.0
"""The base of the states that have a program change something (npm, gem, rabbitmqctl, ...)."""

from __future__ import annotations

from contextlib import contextmanager

from runner.api import Changes, Fact, Line, StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

Variables = dict[Line, Line] | list[Line | dict[Line, Line]]  # as of cmd.run


@contextmanager
def explained(problem: str, *missing: Fact, changes: Changes | None = None) -> Iterator[None]:
    """Put what was attempted before the reason of a failure: with a colon between, unless it ends
    with a space or a new line.

    missing: what a pending state of a dry run may provide, beside what the failure says.
    changes: what was changed all the same, as of StateFailed.
    """
    try:
        yield
    except StateFailed as failure:
        message = problem + ": " * (not problem[-1:].isspace()) + failure.message
        raise StateFailed(message, changes, (*failure.missing, *missing)) from None
