# SPDX-License-Identifier: Apache-2.0
"""What the commands of states print while they run, for a terminal that shows the end of it.

Nothing is kept unless `follow` was called.
"""

from __future__ import annotations

from runner.api import here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 32768  # bytes of a command's output that are looked at: more than lines on a terminal


class _LastOutput:
    """The output of the command that was started last."""

    def __init__(self) -> None:
        self.followed = False
        self.last = bytearray()
        self.told: Callable[[], str] = str


_output = _LastOutput()


def follow() -> None:
    """Keep what commands print from now on."""
    _output.followed = True


def begun(told: Callable[[], str] = str) -> Callable[[bytes], object]:
    """Note that a command begins; gives what takes its output. A state with `no_log` shows none.
    told: says what it does, where its output does not; empty when it has ended.
    """
    if not _output.followed:
        return _ignore
    _output.told = told
    printed = _output.last = bytearray()
    return _ignore if is_silent() else lambda data: _add(printed, data)


def forget() -> None:
    """Note that the state has ended whose commands were followed."""
    _output.last, _output.told = bytearray(), str


def told() -> str:
    """What the command that was started last does, where its output does not say so."""
    return _output.told()


def last() -> bytes:
    """The end of what the command that was started last has printed so far."""
    return bytes(_output.last)


def _add(printed: bytearray, data: bytes) -> None:
    printed += data
    if len(printed) > 2 * MOST:  # seldom, since it moves what stays
        del printed[:-MOST]


def _ignore(data: bytes) -> None:
    return None


def is_silent() -> bool:
    """Return whether the state that runs says `no_log`."""
    try:
        return bool(here.chunk and here.chunk.args.get("no_log"))
    except LookupError:  # no state: a template
        return False
