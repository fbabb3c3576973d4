# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM, a lost terminal and the time limit of a run, all as one exception: the run ends
with its report.
"""

from __future__ import annotations

from contextlib import contextmanager

from runner.api import interrupt
from runner.model.stdlib import in_main_thread, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# seconds: timeout(1), and sudo on some terminals, send to the process and to its group
TWICE = 0.05
SIGNALS = (signals.SIGINT, signals.SIGTERM, signals.SIGHUP)


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
    return int(signals.SIGINT), "interrupted by Ctrl-C"


@contextmanager
def ending(limit: float | None) -> Iterator[None]:
    """Raise Interrupted where the run is when a signal comes or its time is over; a second signal
    ends it at once, but for one that comes with it.

    limit: seconds for the whole run; None for no limit. Outside the main thread signals stay the
    caller's business.
    """
    if not in_main_thread():
        yield
        return
    before = {number: signals.getsignal(number) for number in (*SIGNALS, signals.SIGALRM)}
    for number in SIGNALS:
        if before[number] != signals.SIG_IGN:  # `nohup` means it
            signals.signal(number, _stop)
    if limit:
        signals.signal(signals.SIGALRM, lambda *_: _over(limit))
        signals.setitimer(signals.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signals.setitimer(signals.ITIMER_REAL, 0)
        for number, handler in before.items():
            signals.signal(number, handler or signals.SIG_DFL)


def _stop(number: int, frame: Any) -> None:
    mask = signals.pthread_sigmask(signals.SIG_BLOCK, SIGNALS)
    signals.sigtimedwait(SIGNALS, TWICE)  # the same one once more
    for following in SIGNALS:
        signals.signal(following, signals.SIG_DFL)
    signals.pthread_sigmask(signals.SIG_SETMASK, mask)
    names = {int(signals.SIGTERM): "SIGTERM", int(signals.SIGHUP): "SIGHUP"}
    name = names.get(number, "Ctrl-C")
    interrupt(Interrupted(number, f"interrupted by {name}"))


def _over(limit: float) -> None:
    interrupt(Interrupted(int(signals.SIGTERM), f"the time limit of {limit:g} s is over"))
