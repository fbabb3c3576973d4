# SPDX-License-Identifier: Apache-2.0
"""Programs that modules start, and the end of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from typing import Any

import pytest
from harness import HarnessHere
from starting import PATIENCE, a_while
from starting import running as running_programs

from modules import cmd
from modules._machine import processes
from runner.api import CommandFailed, running
from runner.api.programs import allow_programs, end_programs


def test_a_program_that_is_being_started_when_the_run_ends_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, starts = subprocess.Popen, threading.Event()

    def slow_start(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        process = start(*args, **kwargs)
        starts.set()
        time.sleep(0.2)
        return process

    monkeypatch.setattr(subprocess, "Popen", slow_start)
    results: list[processes.Completed] = []

    def work() -> None:
        with running(HarnessHere()):
            results.append(
                processes.run_to_end(["sleep", "1000"], env={}, cwd=None, stdin=None, timeout=None)
            )

    state = threading.Thread(target=work)
    state.start()
    assert starts.wait(PATIENCE)
    try:
        end_programs()
    finally:
        allow_programs()
    state.join(PATIENCE)
    assert [result.retcode for result in results] == [-15]


TRACEBACK = """ERROR: Exception:
Traceback (most recent call last):
  File "x.py", line 3, in y
    z()
ValueError: no such thing

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "x.py"
pip.Broken
after"""


def test_the_traceback_of_a_program_is_not_what_it_said() -> None:
    done = processes.Completed(1, "", TRACEBACK)
    assert done.error_text.splitlines()[:2] == ["ERROR: Exception:", "no such thing"]
    assert done.error_text.endswith("\nit failed without a word\nafter")
    assert processes.Completed(1, "out\n", "").error_text == "out"


def test_a_program_that_fails_is_a_failure_with_its_words() -> None:
    for attempt, script, said in (
        ("", "echo no >&2; exit 1", "no"),
        ("sh", "echo why; exit 1", "sh: why"),
        ("", "exit 3", "sh failed with exit code 3"),
    ):
        with running(HarnessHere()), pytest.raises(CommandFailed) as failure:
            cmd.probe(["sh", "-c", script]).or_fail(attempt, ("file", "/x"))
        assert (failure.value.message, failure.value.missing) == (said, (("file", "/x"),))
    done = processes.Completed(0, "x", "warning")
    assert done.or_fail() is done


def test_what_is_waited_for_at_a_timeout_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def communicate(process: subprocess.Popen[bytes], *_: object) -> None:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # not for what it has started
        raise subprocess.TimeoutExpired("sh", 5)

    monkeypatch.setattr(processes, "communicate", communicate)
    with running(HarnessHere()):
        done = processes.run_to_end(
            ["sh", "-c", "sleep 1000 &"], env={**os.environ}, cwd=None, stdin=None, timeout=5
        )
    assert done.stdout.startswith("timed out after 5 seconds since what it started holds its")


def test_a_signal_that_ends_no_sleep_is_heeded() -> None:
    """One that comes just before a sleep. Here another thread takes it, which is the same."""
    seconds = a_while()

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def send() -> None:
        while not running_programs(seconds):
            time.sleep(0.02)
        time.sleep(0.1)  # it is waited for
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, stop)
    thread = threading.Thread(target=send)
    try:
        with running(HarnessHere()), pytest.raises(KeyboardInterrupt):
            thread.start()
            cmd.run(f"sleep {seconds}", timeout=PATIENCE)
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
