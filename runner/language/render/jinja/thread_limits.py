# SPDX-License-Identifier: Apache-2.0
"""The bounds of what is rendered beside the main thread (`parallel: True`), where no signal is
handled.

One thread looks at all that render and raises the error in those that take too much.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from runner.language.render.jinja.bound import TICK, Bound, TooMuch


class _RenderingThread:
    """A thread that renders, and the bound that it keeps."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._began = time.clock_gettime(self._clock)
        self.error: TooMuch | None = None

    def check(self) -> None:
        """Raise an error in the thread when it has used too much."""
        try:
            self.bound.check(time.clock_gettime(self._clock) - self._began)
        except TooMuch as error:
            self.error = error
            _raise_in(self._thread, Stopped)

    def end(self) -> None:
        """An error that has not come up yet never does."""
        if self.error:
            _raise_in(self._thread, None)


class Stopped(TooMuch):
    """Raised in a thread that takes too much; it says what was found about that thread."""

    def __init__(self, *_: object) -> None:
        rendering = _rendering.get(threading.get_ident())
        error = rendering.error if rendering else None
        message = error.message if error else "this takes too much"
        super().__init__(message, None, error.hint if error else None, "limit")


_rendering: dict[int, _RenderingThread] = {}  # by their identifiers
_lock = threading.Lock()
_checkers: list[threading.Thread] = []


@contextmanager
def thread_limited(bound: Bound) -> Iterator[None]:
    """Raise TooMuch in what this thread does inside when it takes too much. Inside of another bound
    that one holds.
    """
    thread = threading.get_ident()
    if thread in _rendering:
        yield
        return
    with _lock:
        _rendering[thread] = _RenderingThread(bound)
        if not _checkers:
            _checkers.append(threading.Thread(target=_check_all, daemon=True))
            _checkers[0].start()
    try:
        yield
    finally:
        with _lock:
            _rendering.pop(thread).end()


def bound_of_thread() -> Bound | None:
    """The bound that this thread keeps."""
    rendering = _rendering.get(threading.get_ident())
    return rendering.bound if rendering else None


def _check_all() -> None:
    """Look at all threads until none renders."""
    while True:
        time.sleep(TICK)
        with _lock:
            if not _rendering:
                _checkers.clear()
                return
            for thread in _rendering.values():
                thread.check()


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Have a thread raise an error at its next step in Python; None takes back what it has not
    raised yet.
    """
    kind = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)
