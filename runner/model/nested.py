# SPDX-License-Identifier: Apache-2.0
"""Walks through data: mappings and lists at any depth."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.chunk import SLOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A copy with what is no mapping and no list changed.

    >>> mapped({"a": ["x", 1]}, str)
    {'a': ['x', '1']}
    """
    if isinstance(value, Mapping):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mapped(item, change) for item in value]
    return change(value)


def strings(value: Any) -> Iterator[str]:
    """The texts among the values, without keys.

    >>> list(strings({"a": ["x", 1], "b": ("y",)}))
    ['x', 'y']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def has_slot(value: Any) -> bool:
    """Return whether a value holds a slot at any depth."""
    if isinstance(value, str):
        return value.startswith(SLOT)
    if isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            if item.startswith(SLOT) if type(item) is str else has_slot(item):
                return True
    return False
