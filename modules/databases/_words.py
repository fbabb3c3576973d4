# SPDX-License-Identifier: Apache-2.0
"""Words of SQL that there are: which one was meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection


def unknown_right(word: str, known: Collection[str]) -> str:
    """What is wrong with a right that no server knows."""
    near = difflib.get_close_matches(word, [*known], 1, 0.6)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
    return f"there is no right {word}: {meant}"
