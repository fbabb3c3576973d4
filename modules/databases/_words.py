# SPDX-License-Identifier: Apache-2.0
"""Words of SQL that there are: which one was meant."""

from __future__ import annotations

from collections.abc import Callable, Collection

from runner.api.near import closest


def unknown_right(word: str, known: Collection[str]) -> str:
    """What is wrong with a right that no server knows."""
    near = closest(word, known)
    meant = f"did you mean {near}?" if near else f"there are {', '.join(sorted(known))}"
    return f"there is no right {word}: {meant}"


def longer_than(limit: int, unit: str = "characters") -> Callable[[str], str | None]:
    """What is wrong with a name that a server cuts off, or refuses. unit: bytes, or what it is."""

    def problem(text: str) -> str | None:
        size = len(text.encode()) if unit == "bytes" else len(text)
        if size <= limit:
            return None
        return f"expected a name of up to {limit} {unit}, and this has {size}"

    return problem
