# SPDX-License-Identifier: Apache-2.0
"""How far a fleet run is; on a terminal one line that is written over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TextIO

from runner.output.text import safe
from runner.tools.fleet.grouping import shown_names
from runner.tools.fleet.records import HostOutcome

PAUSE = 0.2  # seconds between two looks at it


class Progress:
    """Shows nothing."""

    def __call__(self, working: Sequence[str], done: Sequence[HostOutcome]) -> None:
        """Take note of who is at work and who is done."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class ProgressLine(Progress):
    """Writes the line; `close` removes it."""

    def __init__(self, stream: TextIO, total: int, width: int) -> None:
        self._stream, self._total, self._width = stream, total, width
        self._due = 0.0
        self._shown = False

    def __call__(self, working: Sequence[str], done: Sequence[HostOutcome]) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + PAUSE
        failed = sum(not outcome.went_well for outcome in done)
        text = f"{len(done)} of {self._total} done"
        if failed:
            text += f", {failed} failed"
        if working:
            text += f"; at work: {shown_names(working)}"
        line = safe(text, self._stream).replace("\n", " ")[: self._width - 1]
        self._stream.write(f"\r\x1b[K{line}")
        self._stream.flush()
        self._shown = True

    def close(self) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
