# SPDX-License-Identifier: Apache-2.0
"""Values as JSON and YAML can say them. What code of others answers is made so once, where it
enters the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LONGEST_TIME = 10**9  # seconds that something may take: more than 30 years

_CONTAINERS = (Mapping, list, tuple, Set)
DEEPEST = 200  # levels; what lies deeper, or holds itself, is cut off there


def plain(value: Any, levels: int = DEEPEST) -> Any:
    """Texts, numbers, booleans, None, lists, and mappings with texts as keys; all else becomes a
    text.

    >>> plain({1: {b"x", "y"}, None: float("nan")})
    {'1': ['x', 'y'], 'null': 'NaN'}
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict or kind is list or isinstance(value, _CONTAINERS):
        return _container(value, levels - 1) if levels else "..."
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int):
        # Python refuses to write one of many decimal digits
        return int(value) if value.bit_length() < 10_000 else hex(value)
    return text_of(value)


def texts_in(value: Any) -> Iterator[str]:
    """The texts and numbers that data holds, as texts: what is hidden when all of it is secret.

    >>> list(texts_in({"a": ["x", 1], "b": True}))
    ['x', '1']
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def text_of(value: object) -> str:
    """A value as text, whatever its own code does when it is asked for one."""
    try:
        if isinstance(value, bytes | bytearray):
            return value.decode(errors="replace")
        return str.__str__(value) if isinstance(value, str) else str.__str__(str(value))
    except Exception:
        return f"<{type(value).__name__} that cannot be shown>"


def exception(error: BaseException) -> str:
    """What an exception is, with its text where it has one.

    >>> exception(AssertionError()), exception(KeyError("x"))
    ('AssertionError', "KeyError: 'x'")
    """
    text = text_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _container(value: Any, levels: int) -> Any:
    try:
        if type(value) is dict:
            return {
                key if type(key) is str else key_of(key): (
                    item if type(item) is str or item is None else plain(item, levels)
                )
                for key, item in value.items()
            }
        if isinstance(value, Mapping):
            # whatever its own code does
            pairs = dict.items(value) if isinstance(value, dict) else value.items()
            return {key_of(key): plain(item, levels) for key, item in pairs}
        if hasattr(value, "_asdict"):
            return plain(value._asdict(), levels)
        items = [plain(item, levels) for item in value]
    except Exception:
        return text_of(value)
    return sorted(items, key=str) if isinstance(value, Set) else items


def key_of(key: object) -> str:
    """A key as JSON writes it."""
    if type(key) is str:
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return text_of(plain(key) if isinstance(key, int | float) else key)


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
