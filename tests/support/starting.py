# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start in the background, and all that tests wait for.

A program that was just started is not there yet: it may not have become itself, and it has not
done its first thing. So each start waits for both, with PATIENCE, and says what it waited for.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE = 180  # seconds that anything may take on a busy machine: quiet, most take less than one
PROGRAM = """
import json, pwd, subprocess, sys, time
argv, ready, patience, output, cwd, user = json.loads(sys.argv[1])
options = {"cwd": cwd, "start_new_session": True, "stdin": subprocess.DEVNULL}
if user:
    account = pwd.getpwnam(user)
    options |= {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
with open(output, "wb") as out:  # Popen returns when the program has become itself
    program = subprocess.Popen(argv, stdout=out, stderr=out, **options)
end = time.monotonic() + patience
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
    """A line of shell that starts a program in a session of its own, waits until it runs and a
    line of shell succeeds, and prints its process number.

    words: the program with its arguments, or a line of shell. output: the file for what it prints.
    """
    argv = [*words] if len(words) > 1 else ["sh", "-c", *words]
    given = json.dumps([argv, ready, PATIENCE, output, cwd, user])
    return shlex.join([sys.executable, "-c", PROGRAM, given])


def waits(line: str) -> str:
    """A line of shell that waits until another one succeeds, and says so where it never does."""
    waiting = shlex.quote(f"until {{ {line}; }} >/dev/null 2>&1; do sleep 0.02; done")
    told = shlex.quote(f"waited {PATIENCE} seconds for: {line}")
    return f"{{ timeout {PATIENCE} sh -c {waiting} || {{ echo {told} >&2; false; }}; }}"


def wait_until(condition: Callable[[], T], what: str) -> T:
    """Return what a condition answers, once that is true. what: what is waited for, in words."""
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < end, f"waited {PATIENCE} seconds for: {what}"
        time.sleep(0.02)
    return answer


@contextmanager
def background(
    argv: Sequence[str], ready: Path | Callable[[], object] | None = None, **more: Any
) -> Iterator[subprocess.Popen[str]]:
    """A program of this computer, from when it is ready until the end of the `with`, where it is
    killed. ready: the file that it makes then, or what is true then; by default it only runs.
    """
    done = ready.exists if isinstance(ready, Path) else ready
    with subprocess.Popen(argv, text=True, **more) as process:
        try:
            if done:
                wait_until(lambda: done() or process.poll() is not None, f"{ready} of {argv}")
                assert done(), f"{argv} ended with {process.returncode} before {ready}"
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()
