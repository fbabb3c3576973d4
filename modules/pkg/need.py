"""What a package needs."""

from __future__ import annotations

from runner.api import Record


class Need(Record):
    """One of several will do.

    alternatives: in the order of preference, each with the packages that it may be: the one of its
    name first, then those that provide it. weak: a recommendation.
    """

    alternatives: tuple[tuple[str, ...], ...]
    weak: bool
