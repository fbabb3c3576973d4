# SPDX-License-Identifier: Apache-2.0
"""The end of a run that cannot end itself: a state in a thread is in C code that lets no other
thread work.

A regular expression that backtracks does this for hours: a signal is noted, and nobody comes to
heed it. So while states run side by side a small process of its own hears of signals, from Python's
handler in C, and kills a runner that has not heeded one after some seconds. The next run finds what
was left, as after any kill.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

PATIENCE = 10  # seconds until a signal has to be heeded
LAST = 60  # and after that, until the run has to be over

# It is given the number of the process and a pipe; on the pipe arrive the numbers of signals, and
# 0 when one is heeded. The end of the pipe is the end of the run. Signals of other kinds (the ticks
# of render_limit, without end while a template is rendered) postpone nothing. Nor does a standard
# error that nobody reads.
_PROGRAM = """
import os, select, signal, sys, time
runner, pipe, patience, last = map(int, sys.argv[1:])
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
deadline = heeded = None
while True:
    wait = None if deadline is None else max(0, deadline - time.monotonic())
    if not select.select([pipe], [], [], wait)[0]:
        break
    heard = os.read(pipe, 4096)
    if not heard or os.getppid() != runner:
        sys.exit()
    if 0 in heard and not heeded:
        heeded, deadline = True, time.monotonic() + last
    elif deadline is None and {2, 15, 1, 14} & set(heard):
        deadline = time.monotonic() + patience
    if deadline is not None and time.monotonic() >= deadline:
        break
if os.getppid() != runner:
    sys.exit()
children = []
for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
            if parent == runner and int(name) != os.getpid():
                children.append(int(name))
    except (OSError, ValueError, IndexError):
        pass
message = (b"runner: killed, since it did not heed a signal or its time limit: a state with "
    b"parallel: True let nothing else work (a regular expression that takes for ever?); "
    b"the next run goes on\\n")
try:
    if select.select([], [2], [], 1)[1]:
        os.write(2, message)
except OSError:
    pass
os.kill(runner, signal.SIGKILL)
for child in children:
    try:
        os.killpg(child, signal.SIGTERM)
    except OSError:
        pass
"""


class SignalWatchdog:
    """Kills this process when it heeds no signal. Where it cannot be started, nobody does."""

    def __init__(self) -> None:
        theirs, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        words = map(str, (os.getpid(), theirs, PATIENCE, LAST))
        argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, *words]
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs],
                start_new_session=True,
            )
        except (OSError, ValueError):  # no /dev/null, no more processes
            os.close(self._pipe)
            return
        finally:
            os.close(theirs)
        self._before = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)

    def heeded(self) -> None:
        """A signal has been heeded: the run is about to end."""
        if self._process:
            with suppress(OSError):
                os.write(self._pipe, b"\0")

    def stop(self) -> None:
        """The run is over."""
        if self._process:
            signal.set_wakeup_fd(self._before, warn_on_full_buffer=False)
            os.close(self._pipe)
            self._process.kill()
            self._process.wait()
            self._process = None
