# SPDX-License-Identifier: Apache-2.0
"""What keeps a machine from falling asleep while a run changes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from runner.engine.listeners import Listeners
from runner.model.events import ChangerCalled, Event
from runner.support import programs

PROGRAM = "/usr/bin/systemd-inhibit"
LOGIND = ("/run/systemd/system", "/run/systemd/seats")  # are there where logind runs


@contextmanager
def awake(listeners: Listeners) -> Iterator[None]:
    """Hold a lock of logind's from the first change on, where there is a logind that grants it. A
    run that changes nothing asks for none.
    """
    with ExitStack() as lock:
        listeners.add(_Holder(lock))
        yield


class _Holder:
    events = (ChangerCalled,)

    def __init__(self, lock: ExitStack) -> None:
        self._lock, self._asked = lock, False

    def __call__(self, event: Event) -> None:
        if not self._asked:
            self._asked = True
            if all(map(os.path.isdir, LOGIND)):
                self._take()

    def _take(self) -> None:
        import subprocess

        null, words = subprocess.DEVNULL, ["--what=sleep", "--mode=block", "--who=runner"]
        words += ["--why=A run changes this machine", "cat"]
        with suppress(OSError):  # the run goes on without
            # a run that is killed closes its end of the pipe: cat ends, and with it the lock
            program = programs.running(
                [PROGRAM, *words], stdin=subprocess.PIPE, stdout=null, stderr=null
            )
            self._lock.enter_context(program)
