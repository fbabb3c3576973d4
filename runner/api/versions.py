# SPDX-License-Identifier: Apache-2.0
"""What the operators between two versions mean."""

from __future__ import annotations

import operator as operators

_COMPARISONS = {
    "==": operators.eq,
    "!=": operators.ne,
    ">=": operators.ge,
    "<=": operators.le,
    ">": operators.gt,
    "<": operators.lt,
    "=": operators.eq,
}
OPERATORS = tuple(_COMPARISONS)


def holds(order: int, operator: str) -> bool:
    """Return whether two versions are to each other as an operator says. order: below 0, 0 or above
    0, where the first one is older, the same or newer.

    >>> holds(-1, "<="), holds(0, "!=")
    (True, False)
    """
    return bool(_COMPARISONS[operator](order, 0))
