# SPDX-License-Identifier: Apache-2.0
"""The line of a terminal that says what runs now, and below it the end of what that prints."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence

from runner.api import command_output
from runner.output import text as output_text
from runner.support.redaction import redact_all

TICK = 1.0  # seconds between two looks at the clock
LONG = 5.0  # seconds of a command that says nothing until it is told what is waited for
TAIL = 5  # lines that a command has printed last
# lines that are too wide are cut by the terminal, which knows how wide its characters are
_ERASE = "\r\x1b[J"
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"

_ESCAPES = r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|.)"  # colours, moves, titles


_lines: list[LiveLine] = []  # the one of this process, once there is one


def make_room() -> None:
    """Remove the line until the next tick: something else is printed on the terminal."""
    for line in _lines:
        line.pause()


class LiveLine:
    """A line that is replaced in its place, with a clock at its end.

    A thread moves the clock on; it does nothing else, so that it holds no lock which a program that
    is started meanwhile could inherit. write: puts text on the terminal. width: columns. tail:
    gives the lines that are shown below after some seconds, from the first tick on.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        width: int,
        tail: Callable[[float], Sequence[str]] = lambda seconds: (),
    ) -> None:
        self._write, self._width, self._tail = write, width, tail
        self._text, self._began = "", 0.0
        self._lock = threading.RLock()  # what is printed meanwhile makes room for itself
        self._thread: threading.Thread | None = None
        _lines[:] = [self]

    def show(self, text: str) -> None:
        """Show a text, with a clock that begins now."""
        with self._lock:
            self._text, self._began = text, time.monotonic()
            self._draw(())
        if self._thread is None:
            self._thread = threading.Thread(target=self._tick, name="clock", daemon=True)
            self._thread.start()

    def clear(self) -> None:
        """Remove the line, and what is below it."""
        with self._lock:
            if self._text:
                self._text = ""
                self._write(_ERASE)

    def pause(self) -> None:
        """Remove the line until the next tick."""
        with self._lock:
            if self._text:
                self._write(_ERASE)

    def _tick(self) -> None:
        while True:
            time.sleep(TICK)
            seconds = time.monotonic() - self._began
            # not under the lock: it may write to the log
            tail = self._tail(seconds) if self._text else ()
            with self._lock:
                if self._text:
                    self._draw(tail)

    def _draw(self, tail: Sequence[str]) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        clock = f"  {minutes:02}:{seconds:02}"
        line = f"{_ERASE}{self._text[: self._width - 1 - len(clock)]}{clock}"
        if tail:
            below = "".join(f"\r\n  {text}" for text in tail[-TAIL:])
            line += f"{_CUT}{below}{_WRAP}\x1b[{len(tail[-TAIL:])}A"
        self._write(line)


def command_tail(seconds: float) -> list[str]:
    """The last lines that the command that runs now has printed, without secrets, and what is
    waited for. seconds: how long.

    Only lines that have ended: half a secret could not be recognised.
    """
    text = re.sub(_ESCAPES, "", command_output.last().decode("utf-8", "replace"))
    ended = re.split(r"[\r\n]+", redact_all(text))[:-1]
    lines = [line.expandtabs() for line in ended if line.strip()]
    return [*map(output_text.safe, lines), *waited_for(seconds)][-TAIL:]


def waited_for(seconds: float) -> list[str]:
    """What a command does that says nothing itself, once it has lasted for some seconds."""
    told = command_output.told() if seconds >= LONG else ""
    return [output_text.safe(f"({redact_all(told)})")] if told else []
