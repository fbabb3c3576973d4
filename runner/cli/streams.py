"""The standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


def with_streams() -> None:
    """Give a process without standard streams the null device; else files of ours would get their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
                os.close(handle)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


@contextmanager
def answer_alone(out: str, events: str | None = None) -> Iterator[None]:
    """What the code of a tree prints, and what its programs do, goes to stderr: stdout has the answer and no more."""
    if out == "pretty" or events == "-":
        yield
        return
    sys.stdout.flush()
    try:
        answer = os.dup(1)
    except OSError:  # there is no stdout
        yield
        return
    try:
        os.dup2(2, 1)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(answer, 1)
        os.close(answer)
