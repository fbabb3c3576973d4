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

from runner.render.jinja.limits import TICK, Bound, TooMuch


class _Watch:
    """One thread that renders."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound
        self._thread = threading.get_ident()
        self._clock = time.pthread_getcpuclockid(self._thread)
        self._began = time.clock_gettime(self._clock)
        self.error: TooMuch | None = None

    def look(self) -> None:
        """Raise an error in the thread when it has used too much."""
        try:
            self._bound.check(time.clock_gettime(self._clock) - self._began)
        except TooMuch as error:
            self.error = error
            _raise_in(self._thread, Stopped)

    def end(self) -> None:
        """An error that has not come up yet never does."""
        if self.error:
            _raise_in(self._thread, None)


class Stopped(TooMuch):
    """What is raised in a thread that takes too much; it says what its watch has found."""

    def __init__(self, *_: object) -> None:
        watch = _watches.get(threading.get_ident())
        error = watch.error if watch else None
        message = error.message if error else "this takes too much"
        super().__init__(message, None, error.hint if error else None, "limit")


_watches: dict[int, _Watch] = {}
_lock = threading.Lock()
_watchers: list[threading.Thread] = []


@contextmanager
def watched(bound: Bound) -> Iterator[None]:
    """Raise TooMuch in what this thread does inside when it takes too much. Inside of another bound
    that one holds.
    """
    thread = threading.get_ident()
    if thread in _watches:
        yield
        return
    with _lock:
        _watches[thread] = _Watch(bound)
        if not _watchers:
            _watchers.append(threading.Thread(target=_watch, daemon=True))
            _watchers[0].start()
    try:
        yield
    finally:
        with _lock:
            _watches.pop(thread).end()


def _watch() -> None:
    """Look at all threads until none renders."""
    while True:
        time.sleep(TICK)
        with _lock:
            if not _watches:
                _watchers.clear()
                return
            for watch in _watches.values():
                watch.look()


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Have a thread raise an error at its next step in Python; None takes back what it has not
    raised yet.
    """
    kind = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)
