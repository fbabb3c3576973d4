# SPDX-License-Identifier: Apache-2.0
"""What a dry run may fetch for what it plans: `foresee` of the configuration, and whether this
machine has a network.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

from runner.api import CommandFailed, StateFailed, Unforeseen, here, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

MOST_MEGABYTES, MOST_SECONDS = 512, 180.0  # of what is fetched, and for how long, in one run
TOO_LONG = "fetching took too long; `foresee: {seconds: SECONDS}` allows more"
# what programs say where nothing can be reached
_UNREACHABLE = pattern(
    r"(?i)unreachable|name resolution|name or service|no such name|resolve host|ENOTFOUND|EAI_AGAIN"
    r"|timed out|does not answer in",
)


def settings() -> dict[str, Any]:
    """`foresee` of the configuration."""
    given: Mapping[str, Any] = here.opts.get("foresee") or {}
    defaults = {"packages": "auto", "downloads": True}
    return {**defaults, "size": MOST_MEGABYTES, "seconds": MOST_SECONDS, **given}


def is_foreseen() -> bool:
    """Return whether what is fetched now is for a state of a dry run."""
    return here.is_dry_run and here.chunk is not None


class NotFetched(CommandFailed):
    """It is more than a dry run is to fetch."""


class Allowance:
    """How much this dry run may still fetch, and for how long; all of it in a real run."""

    def __init__(self) -> None:
        self._spent = here.store("fetched ahead") if is_foreseen() else None
        self._settings = settings()
        self._began = time.monotonic()

    def take(self, size: int) -> None:
        """Count bytes that are fetched now. Raises NotFetched where they are too many."""
        if self._spent is None:
            return
        total = self._spent.get("size", 0) + size
        if total > int(self._settings["size"]) << 20:
            size = -(-total // 1048576)
            raise NotFetched(f"{size} MiB would be fetched; `foresee: {{size: MiB}}` allows more")
        self._spent["size"] = total

    def seconds(self) -> float:
        """Return how long it may still take. Raises NotFetched where the time is over."""
        if self._spent is None:
            return float("inf")
        since = time.monotonic() - self._began
        left: float = float(self._settings["seconds"]) - self._spent.get("seconds", 0.0) - since
        if left <= 0:
            raise NotFetched(TOO_LONG)
        return left

    def count_time(self) -> None:
        """Count how long it took."""
        if self._spent is not None:
            since = time.monotonic() - self._began
            self._spent["seconds"] = self._spent.get("seconds", 0.0) + since


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Leave a state of a dry run undecided where what is asked inside fails since this machine has
    no network. what: what is then not known.
    """
    try:
        yield
    except StateFailed as failure:
        refuse_unreachable(what, failure.message)
        raise


def refuse_unreachable(what: str, problem: str) -> None:
    """Raise Unforeseen in a dry run for a problem that a machine without a network has."""
    if is_foreseen() and _UNREACHABLE.search(problem) and not has_network():
        raise Unforeseen(f"{what} is not known, as this machine has no network: {problem}")


def has_network() -> bool:
    """Return whether this machine has a route to others."""
    return any(
        any(line.split() and line.split()[position] != "lo" for line in _lines(path))
        for path, position in (("/proc/net/route", 0), ("/proc/net/ipv6_route", -1))
    )


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as opened:  # os: the network
            lines = opened.read().splitlines()
    except OSError:
        return []
    return [line for line in lines if not line.startswith("Iface")]
