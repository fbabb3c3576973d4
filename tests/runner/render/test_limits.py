"""The bounds of rendering."""

from __future__ import annotations

import os
import signal

from runner.render.limits import bounded


def test_a_tick_that_comes_late_ends_nothing() -> None:
    with bounded("a.sls"):
        pass
    os.kill(os.getpid(), signal.SIGPROF)


def test_the_timer_stands_still_afterwards() -> None:
    with bounded("a.sls"), bounded("b.sls"):
        assert signal.getitimer(signal.ITIMER_PROF)[1] > 0
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
