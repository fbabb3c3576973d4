# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM, a lost terminal and the time limit of a run, all as one exception: the run ends
with its report.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from runner.api import interrupt

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal asks the run to end. number: of the signal; why: for people."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(why)
        self.number = number
        self.why = why


def number_of(interrupt: KeyboardInterrupt) -> tuple[int, str]:
    """The signal behind an interrupt, and what to say about it."""
    if isinstance(interrupt, Interrupted):
        return interrupt.number, interrupt.why
    return int(signal.SIGINT), "interrupted by Ctrl-C"


@contextmanager
def ending(limit: float | None) -> Iterator[None]:
    """Raise Interrupted where the run is when a signal comes or its time is over; a second signal
    ends it at once.

    limit: seconds for the whole run; None for no limit. Outside the main thread signals stay the
    caller's business.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    for number in SIGNALS:
        if before[number] is not signal.SIG_IGN:  # `nohup` means it
            signal.signal(number, _stop)
    if limit:
        signal.signal(signal.SIGALRM, lambda *_: _over(limit))
        signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _stop(number: int, frame: Any) -> None:
    for following in SIGNALS:
        signal.signal(following, signal.SIG_DFL)
    name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
    interrupt(Interrupted(number, f"interrupted by {name}"))


def _over(limit: float) -> None:
    interrupt(Interrupted(int(signal.SIGTERM), f"the time limit of {limit:g} s is over"))
