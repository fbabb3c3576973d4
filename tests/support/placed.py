# SPDX-License-Identifier: Apache-2.0
"""Values with their places, as tests compare them."""

from __future__ import annotations

from typing import Any


def shape(value: Any) -> Any:
    """A value with its types and places."""
    if isinstance(value, dict):
        inner = [(key, shape(item)) for key, item in value.items()]
        return inner, getattr(value, "start", None), getattr(value, "at", None)
    if isinstance(value, list):
        places = getattr(value, "start", None), getattr(value, "items_at", None)
        return [shape(item) for item in value], *places
    return type(value), value
