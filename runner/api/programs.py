# SPDX-License-Identifier: Apache-2.0
"""Programs that run while states do: what ends them when the run ends before they do."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from runner.model.stdlib import Lock, in_main_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_lock = Lock()
_endings: dict[object, Callable[[], None]] = {}
_stopped = False  # no further programs are started


@contextmanager
def ended_with_run(end: Callable[[], None]) -> Iterator[None]:
    """Have a program, for which a thread waits in this block, ended with the run.

    end: called from another thread; returns when the program has ended. Raises KeyboardInterrupt in
    the thread of a parallel state when the run has been stopped already.

    >>> with ended_with_run(process.kill):
    ...     process.wait()
    """
    key = object()
    with _lock:
        if _stopped and not in_main_thread():
            raise KeyboardInterrupt("the run has been stopped")
        _endings[key] = end
    try:
        yield
    finally:
        with _lock:
            _endings.pop(key, None)


def end_programs() -> None:
    """End all programs that states wait for, at once, and let parallel states start no others
    (engine only).
    """
    global _stopped
    with _lock:
        _stopped = True
        threads = [threading.Thread(target=end, daemon=True) for end in _endings.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def allow_programs() -> None:
    """Let parallel states start programs (again): a run begins (engine only)."""
    global _stopped
    _stopped = False
