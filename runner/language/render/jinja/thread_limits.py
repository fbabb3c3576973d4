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
        self.has_ended = False

    def check(self) -> None:
        """Raise an error in the thread, at its next step in Python, when it has used too much."""
        if self.has_ended:
            return
        try:
            self.bound.check(time.clock_gettime(self._clock) - self._began)
        except TooMuch as error:
            self.error = error
            thread, kind = ctypes.c_ulong(self._thread), ctypes.py_object(Stopped)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, kind)


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
    rendering = _RenderingThread(bound)
    with _lock:
        _rendering[thread] = rendering
        if not _checkers:
            _checkers.append(threading.Thread(target=_check_all, daemon=True))
            _checkers[0].start()
    try:
        yield
    finally:
        rendering.has_ended = True  # no call: nothing comes up before
        # An error that is on its way comes up here. It is not taken back: Python 3.11 would look
        # for it at each step from then on, in all threads, and a traced function never begin.
        try:
            _forget(thread)
            for _ in range(2):
                pass
        except Stopped:
            _forget(thread)


def _forget(thread: int) -> None:
    with _lock:
        _rendering.pop(thread, None)


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
