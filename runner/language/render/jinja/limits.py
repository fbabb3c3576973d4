# SPDX-License-Identifier: Apache-2.0
"""Limits of rendering one file: endless loops and texts that grow without end are errors that name
their place.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from runner.model.errors import RenderError
from runner.model.places import Source

# of the processor, for one file with all that it imports (`render_limit` of the configuration)
SECONDS = 5.0
MEGABYTES = 512  # that the process may grow after the first look
MILLION = 1_000_000  # characters of a text to parse allow SECONDS more
TICK = 0.1  # seconds of the processor between two looks


class TooMuch(RenderError):
    """A template costs more than it may."""


class Bound:
    """The share of the limits that the current file has used."""

    def __init__(self, seconds: float) -> None:
        self._limit = self._seconds = seconds
        self._ticks = 0
        self._at_first = 0.0

    def tick(self) -> None:
        """Look after another TICK. Raises TooMuch."""
        self._ticks += 1
        if self._ticks == 1:
            self._at_first = _resident()
        self.check(self._ticks * TICK)

    def allow_parsing(self, characters: int) -> None:
        """Allow more time for a text: parsing one always ends, and takes time in proportion to it.
        Of several texts the longest counts, or a loop without end that parses would never end.
        """
        self._seconds = max(self._seconds, round(self._limit * (1 + characters / MILLION), 1))

    def check(self, used: float) -> None:
        """Raise TooMuch when the file has used more. used: seconds of the processor."""
        if used >= self._seconds:
            hint = (
                "is there a loop without end? `render_limit: 60` in the configuration allows more"
            )
            raise TooMuch(
                f"this takes more than {self._seconds:g} s of the processor", None, hint, "limit"
            )
        if _resident() - self._at_first > MEGABYTES:
            raise TooMuch(f"this takes more than {MEGABYTES} MB of memory", None, None, "limit")


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
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        from runner.language.render.jinja.thread_limits import thread_limited

        with thread_limited(Bound(limit)) if limit else nullcontext():
            yield
        return
    if not limit or _bounds:
        yield
        return
    if not _listening:
        signal.signal(signal.SIGPROF, _tick)
        _listening.append(True)
    _bounds.append(Bound(limit))
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        yield
    except TooMuch as error:
        raise (
            error
            if error.source
            else RenderError(error.message, Source(file), error.hint, error.code)
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _bounds.pop()


def allow_parsing(characters: int) -> None:
    """Give the current file more time for a text that is to be parsed."""
    if threading.current_thread() is not threading.main_thread():
        from runner.language.render.jinja.thread_limits import bound_of_thread

        bound = bound_of_thread()
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


def _resident() -> float:
    """Megabytes of memory."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 200).split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576
        finally:
            os.close(file)
    except (OSError, IndexError, ValueError):
        return 0.0
