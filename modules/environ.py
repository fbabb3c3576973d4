"""Variables of the environment that runner was started in."""

from __future__ import annotations

import os


def get(key: str, default: str = "") -> str | bool:
    """The value of a variable; False for what cannot be a variable's name.

    {{ salt['environ.get']('HOME') }}
    """
    return os.environ.get(key, default) if isinstance(key, str) else False


def has_value(key: str, value: str | None = None) -> bool:
    """Whether a variable is set, to this value."""
    found = os.environ.get(key) if isinstance(key, str) else None
    return found is not None and (value is None or found == value)


def item(keys: str | list[str], default: str = "") -> dict[str, str]:
    """Some variables with their values."""
    return {key: os.environ.get(key, default) for key in ([keys] if isinstance(keys, str) else keys)}


def items() -> dict[str, str]:
    """All variables."""
    return dict(os.environ)
