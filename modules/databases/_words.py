# SPDX-License-Identifier: Apache-2.0
"""Words of SQL that there are: which one was meant."""

from __future__ import annotations

from collections.abc import Collection

from runner.api.near import closest


def unknown_right(word: str, known: Collection[str]) -> str:
    """What is wrong with a right that no server knows."""
    near = closest(word, known)
    meant = f"did you mean {near}?" if near else f"there are {', '.join(sorted(known))}"
    return f"there is no right {word}: {meant}"
