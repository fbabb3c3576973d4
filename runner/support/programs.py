# SPDX-License-Identifier: Apache-2.0
"""Programs that runner starts for itself, which never outlive what they were started for."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subprocess import Popen


@contextmanager
def running(
    argv: Sequence[str], *, children_may_stay: bool = True, **options: Any
) -> Iterator[Popen[bytes]]:
    """Start a program in a process group of its own; when the block is left before the program has
    ended, the whole group is killed.

    children_may_stay: what a program that has ended left behind, such as a server, goes on.
    options: as of Popen. Raises OSError where the program cannot be started.
    """
    program = subprocess.Popen(list(argv), start_new_session=True, **options)
    try:
        yield program
    finally:
        if program.returncode is None or not children_may_stay:
            _kill(program)
        for pipe in (program.stdin, program.stdout, program.stderr):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def _kill(program: Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
