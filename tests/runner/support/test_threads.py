# SPDX-License-Identifier: Apache-2.0
"""What a run needs of threads, with and without `threading`."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import sys, _thread
from runner.support.threads import in_main_thread
{first}
lock = _thread.allocate_lock()
lock.acquire()
seen = []
def look():
    seen.append(in_main_thread())
    lock.release()
_thread.start_new_thread(look, ())
lock.acquire()
print(in_main_thread(), seen, "threading" in sys.modules)
"""


def test_one_thread_is_the_main_one() -> None:
    for first, known in (("", False), ("import threading", True)):
        argv = [sys.executable, "-S", "-c", LOOK.format(first=first)]
        environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
        done = subprocess.run(argv, capture_output=True, text=True, env=environment)
        assert (done.stdout, done.stderr) == (f"True [False] {known}\n", "")
