# SPDX-License-Identifier: Apache-2.0
"""Descriptors that are held for long: never the last ones, which whatever comes next needs."""

from __future__ import annotations

import os
from functools import cache

RESERVE = 16  # that stay free


def held(descriptor: int) -> int | None:
    """Return a copy of a descriptor; None where few are left."""
    try:
        copy = os.dup(descriptor)  # the lowest number that is free
    except OSError:
        return None
    if may_be_held(copy):
        return copy
    os.close(copy)
    return None


def may_be_held(descriptor: int) -> bool:
    """Return whether a descriptor is none of the last ones."""
    most = _most()
    return most < 0 or descriptor < most - RESERVE


@cache
def _most() -> int:
    """How many this process may have, which it does not change; -1: any number."""
    return os.sysconf("SC_OPEN_MAX")
