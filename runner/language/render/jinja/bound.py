# SPDX-License-Identifier: Apache-2.0
"""What rendering one file may take: of the processor's time and of memory."""

from __future__ import annotations

import os

from runner.model.errors import RenderError

# of the processor, for one file with all that it imports (`render_limit` of the configuration)
SECONDS = 5.0
MEGABYTES = 512  # that the process may grow after the first look
MILLION = 1_000_000  # characters of a text to parse allow SECONDS more
TICK = 0.1  # seconds of the processor between two looks


class TooMuch(RenderError):
    """A template costs more than it may."""


class Bound:
    """The share of the limits that the current file has used."""

    def __init__(self, seconds: float) -> None:
        self._limit = self._seconds = seconds
        self._ticks = 0
        self._at_first = 0.0

    def tick(self) -> None:
        """Look after another TICK. Raises TooMuch."""
        self._ticks += 1
        if self._ticks == 1:
            self._at_first = _resident()
        self.check(self._ticks * TICK)

    def allow_parsing(self, characters: int) -> None:
        """Allow more time for a text: parsing one always ends, and takes time in proportion to it.
        Of several texts the longest counts, or a loop without end that parses would never end.
        """
        self._seconds = max(self._seconds, round(self._limit * (1 + characters / MILLION), 1))

    def check(self, used: float) -> None:
        """Raise TooMuch when the file has used more. used: seconds of the processor."""
        if used >= self._seconds:
            hint = (
                "is there a loop without end? `render_limit: 60` in the configuration allows more"
            )
            raise TooMuch(
                f"this takes more than {self._seconds:g} s of the processor", None, hint, "limit"
            )
        if _resident() - self._at_first > MEGABYTES:
            raise TooMuch(f"this takes more than {MEGABYTES} MB of memory", None, None, "limit")


def _resident() -> float:
    """Megabytes of memory."""
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.read(file, 200).split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576
        finally:
            os.close(file)
    except (OSError, IndexError, ValueError):
        return 0.0
