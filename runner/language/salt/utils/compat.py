# SPDX-License-Identifier: Apache-2.0
"""salt.utils.compat: what newer Pythons lack, and names for a module."""

from __future__ import annotations

from typing import Any


def pack_dunder(name: str) -> None:
    """Nothing to do: a tree's modules have `__utils__`."""


def cmp(x: Any, y: Any) -> int:
    """-1, 0 or 1: whether a value is less than, equal to or more than another one."""
    return int(x > y) - int(x < y)
