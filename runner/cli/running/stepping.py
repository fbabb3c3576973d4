# SPDX-License-Identifier: Apache-2.0
"""`--step`: a person is asked before each state."""

from __future__ import annotations

import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.engine.interrupts import Interrupted
from runner.model.errors import UsageError
from runner.output.text import safe

if TYPE_CHECKING:
    from runner.cli.running.options import Common
    from runner.model.chunk import Chunk

QUESTION = "[y]es, [n]o, [a]ll that follow, [q]uit? "


@contextmanager
def steps(common: Common) -> Iterator[Callable[[Chunk], bool]]:
    """A function that asks whether a state is to run. Raises UsageError where nobody can be
    asked.
    """
    check(common, "--step", "leave it out: a run without it asks nothing")
    terminal = os.dup(sys.stdin.fileno())  # a run has no stdin
    try:
        yield _Steps(terminal)
    finally:
        os.close(terminal)


def check(common: Common, option: str, hint: str) -> None:
    """Raise UsageError where an option that asks a person does not fit. hint: without a person."""
    if common.test:
        raise UsageError(f"{option} and --test: a dry run does nothing that could be asked for")
    if not common.for_people or common.quiet:
        raise UsageError(f"{option} shows a plan to a person: no --out and no --quiet goes with it")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{option} asks a person, and there is no terminal here", hint=hint)


def answer(terminal: int, question: str) -> str:
    """Return what the person at the terminal answers, in small letters; what was typed before the
    question is no answer. Empty at the end of the input.
    """
    termios.tcflush(terminal, termios.TCIFLUSH)
    print(question, end="", file=sys.stderr, flush=True)
    line = os.read(terminal, 4096)
    if not line:
        print(file=sys.stderr)
    return line.decode(errors="replace").strip().lower()


class _Steps:
    def __init__(self, terminal: int) -> None:
        self._terminal, self._all = terminal, False

    def __call__(self, chunk: Chunk) -> bool:
        title = f"{chunk.function} {chunk.name}"
        title += f" ({chunk.id})" if chunk.id != chunk.name else ""
        while not self._all:
            word = answer(self._terminal, f"{safe(title)}: {QUESTION}")
            if word in ("y", "yes"):
                return True
            if word in ("n", "no"):
                return False
            if word in ("", "q", "quit"):  # empty: nobody is there any more, or nobody chose
                raise Interrupted(signal.SIGINT, "ended at a step")
            self._all = word in ("a", "all")
        return True
