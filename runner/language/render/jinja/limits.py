# SPDX-License-Identifier: Apache-2.0
"""Limits of rendering one file: endless loops and texts that grow without end are errors that name
their place.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

from runner.language.render.jinja import thread_limits
from runner.language.render.jinja.bound import SECONDS, TICK, Bound, TooMuch
from runner.model.errors import RenderError
from runner.model.places import Source
from runner.model.stdlib import in_main_thread, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_bounds: list[Bound] = []  # of the file that is being rendered
_listening: list[
    bool
] = []  # whether ticks are heard: a handler is set once, which costs more than many a file


@contextmanager
def bounded(file: str, seconds: float | None = None) -> Iterator[None]:
    """Raise TooMuch in what runs inside when it takes too much. What it starts (commands) is not
    counted.

    seconds: 0 for no limit. Inside of another bound that one holds.
    """
    limit = SECONDS if seconds is None else seconds
    if not in_main_thread():  # which alone gets signals
        with thread_limits.thread_limited(Bound(limit)) if limit else nullcontext():
            yield
        return
    if not limit or _bounds:
        yield
        return
    if not _listening:
        signals.signal(signals.SIGPROF, _tick)
        _listening.append(True)
    _bounds.append(Bound(limit))
    signals.setitimer(signals.ITIMER_PROF, TICK, TICK)
    try:
        yield
    except TooMuch as error:
        raise (
            error
            if error.source
            else RenderError(error.message, Source(file), error.hint, error.code)
        ) from None
    finally:
        signals.setitimer(signals.ITIMER_PROF, 0)
        _bounds.pop()


def allow_parsing(characters: int) -> None:
    """Give the current file more time for a text that is to be parsed."""
    if not in_main_thread():
        bound = thread_limits.bound_of_thread()
    else:
        bound = _bounds[-1] if _bounds else None
    if bound:
        bound.allow_parsing(characters)


def _tick(number: int, frame: Any) -> None:
    """Look at what was used; a tick that was on its way when the timer was stopped finds nothing to
    look at.
    """
    for bound in _bounds:
        bound.tick()
