"""Variables of the environment that runner was started in."""

from __future__ import annotations

import os
from typing import Any


def get(key: str, default: str = "") -> str:
    """The value of a variable.

    {{ salt['environ.get']('HOME') }}
    """
    return os.environ.get(key, default)


def has_value(key: str, value: str | None = None) -> bool:
    """Whether a variable is set, to this value."""
    found = os.environ.get(key)
    return found is not None and (value is None or found == value)


def item(keys: str | list[str], default: str = "") -> dict[str, str]:
    """Some variables with their values."""
    return {key: os.environ.get(key, default) for key in ([keys] if isinstance(keys, str) else keys)}


def items() -> dict[str, Any]:
    """All variables."""
    return dict(os.environ)
