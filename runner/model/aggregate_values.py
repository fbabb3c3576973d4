# SPDX-License-Identifier: Apache-2.0
"""Values that add themselves to the earlier ones of their key, as the yamlex renderer's
`!aggregate` marks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AggregateMap(dict[Any, Any]):
    """A mapping that is laid over the earlier one instead of replacing it."""


class AggregateList(list[Any]):
    """A list whose new items are added to the earlier one."""


def joined(old: Any, new: Any) -> Any:
    """The value of a key that two mappings have: the new one, except where it is marked to be added
    to the old one.

    >>> joined({"a": 1}, {"b": 2})
    {'b': 2}
    >>> joined({"a": 1}, AggregateMap(b=2))
    {'a': 1, 'b': 2}
    >>> joined([1], AggregateList([1, 2]))
    [1, 2]
    """
    if isinstance(new, AggregateMap) and isinstance(old, Mapping):
        return AggregateMap(laid_over(old, new))
    if isinstance(new, AggregateList) and isinstance(old, list):
        return AggregateList([*old, *(item for item in new if item not in old)])
    if isinstance(new, dict) and isinstance(old, Mapping):
        return {key: joined(old[key], value) if key in old else value for key, value in new.items()}
    return new


def laid_over(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[Any, Any]:
    """All keys of both, values of the same key joined."""
    return {
        **old,
        **{key: joined(old[key], value) if key in old else value for key, value in new.items()},
    }
