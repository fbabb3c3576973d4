# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start in the background, and all that tests wait for.

A program that was just started is not there yet: it may not have become itself, and it has not
done its first thing. So each start waits for both, with PATIENCE, and says what it waited for.
"""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 300  # seconds that anything may take on a busy machine: quiet, most take less than one
# how a script of this Python's begins: a line of #! takes no path with a space
SCRIPT = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n"
PROGRAM = """
import json, pwd, subprocess, sys, time
argv, ready, patience, output, cwd, user = json.loads(sys.argv[1])
options = {"cwd": cwd, "start_new_session": True, "stdin": subprocess.DEVNULL}
if user:
    account = pwd.getpwnam(user)
    options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
with open(output, "wb") as out:
    program = subprocess.Popen(argv, stdout=out, stderr=out, **options)
end = time.monotonic() + patience
# Popen returns when exec(2) has begun: the kernel has the words of the program a moment later
while not open(f"/proc/{program.pid}/cmdline").read() and program.poll() is None:
    time.sleep(0.002)
while subprocess.run(["sh", "-c", ready], capture_output=True).returncode:
    if program.poll():
        sys.exit(f"{argv} ended with {program.returncode} before: {ready}")
    if time.monotonic() > end:
        sys.exit(f"{argv}: waited {patience} seconds for: {ready}")
    time.sleep(0.02)
print(program.pid)
"""


def starts(
    *words: str, ready: str = "true", user: str = "", cwd: str = "/", output: str = "/dev/null"
) -> str:
    """Return a line of shell that starts a program in a session of its own, waits until it runs
    and another line succeeds, and prints its process number.

    words: the program with its arguments, or a line of shell. output: the file for what it prints.
    """
    argv = [*words] if len(words) > 1 else ["sh", "-c", *words]
    given = json.dumps([argv, ready, PATIENCE, output, cwd, user])
    return shlex.join([sys.executable, "-c", PROGRAM, given])


def waits(line: str) -> str:
    """Return a line of shell that waits until another one succeeds, and says if it never does."""
    pause = "tries=$((tries + 1)); [ $tries -gt 50 ] && sleep 0.5 || sleep 0.02"
    waiting = f"tries=0; until {{ {line}; }} >/dev/null 2>&1; do {pause}; done"
    told = shlex.quote(f"waited {PATIENCE} seconds for: {line}")
    return (
        f"{{ timeout {PATIENCE} sh -c {shlex.quote(waiting)} || {{ echo {told} >&2; false; }}; }}"
    )


def a_while() -> str:
    """Return more than half an hour, in seconds that no other test sleeps: `running` finds them."""
    return f"{2000 + uuid.uuid4().int % 1000}.{uuid.uuid4().int % 10**9:09}"


def running(word: str, where: str = "cmdline") -> list[int]:
    """Return the processes of this computer with a word in their command lines, or elsewhere
    (`environ`).
    """
    found = []
    for path in Path("/proc").glob(f"[0-9]*/{where}"):
        with suppress(OSError):  # it has just ended
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def patiently(seconds: float, attempt: Callable[[float], T], happened: Callable[[], object]) -> T:
    """Return what an attempt answers that is given a few seconds, in which something has to
    happen: on a busy machine, where it did not, ten times and a hundred times as many.
    """
    for factor in (1, 10, 100):
        answer = attempt(seconds * factor)
        if happened():
            return answer
    raise AssertionError(f"it did not happen within {seconds * 100} seconds")


def wait_until(condition: Callable[[], T], what: str, patience: float | None = None) -> T:
    """Return what a condition answers, once that is true. what: what is waited for, in words."""
    patience = patience or PATIENCE
    begin = time.monotonic()
    while not (answer := condition()):
        waited = time.monotonic() - begin
        assert waited < patience, f"waited {patience} seconds for: {what}"
        time.sleep(min(0.5, max(0.02, waited / 20)))  # asking may be dear
    return answer


@contextmanager
def background(
    argv: Sequence[str], ready: Path | Callable[[], object] | None = None, **more: Any
) -> Iterator[subprocess.Popen[str]]:
    """Give a program of this computer, from when it is ready until the end of the `with`, where
    it is killed with what it has started. ready: the file that it makes then, or what is true
    then; by default it only runs.
    """
    done = ready.exists if isinstance(ready, Path) else ready
    with subprocess.Popen(argv, text=True, start_new_session=True, **more) as process:
        try:
            # Popen returns when exec(2) has begun: the kernel has its words a moment later
            words = Path(f"/proc/{process.pid}/cmdline")
            wait_until(lambda: words.read_bytes() or process.poll() is not None, f"{argv}")
            if done:
                wait_until(lambda: done() or process.poll() is not None, f"{ready} of {argv}")
                assert done(), f"{argv} ended with {process.returncode} before {ready}"
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def at_a_terminal(
    argv: Sequence[str], environment: dict[str, str], asks: bytes, answers: Sequence[bytes | int]
) -> tuple[int, str]:
    """Return the exit code of a program at a terminal, and what it showed. asks: what it prints
    when it waits for an answer. answers: typed one after another, or a signal each.
    """
    ours, theirs = pty.openpty()
    with background(argv, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as program:
        os.close(theirs)
        shown, seen, waiting = b"", 0, list(answers)
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # nobody has it open any more
                break
            if asks in shown[seen:] and waiting:
                seen, answer = len(shown), waiting.pop(0)
                if isinstance(answer, int):
                    program.send_signal(answer)
                else:
                    os.write(ours, answer)
        os.close(ours)
        return program.wait(PATIENCE), shown.decode()
