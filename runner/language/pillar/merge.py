# SPDX-License-Identifier: Apache-2.0
"""Merging pillar data: `pillar_source_merging_strategy` and `pillar_merge_lists`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.model import aggregate_values
from runner.model.ordered_dict import copied, recurse

Merge = Callable[[Mapping[Any, Any], Mapping[Any, Any], bool], dict[Any, Any]]


def merge(
    old: Mapping[Any, Any], new: Mapping[Any, Any], strategy: str = "smart", lists: bool = False
) -> dict[Any, Any]:
    """A new mapping with what both say; where they differ, `new` wins.

    strategy: smart, recurse (both the same here), none (the same, and lists are never joined),
    overwrite, aggregate (whole top-level keys), list (keeps both). lists: a list becomes the old
    one and those items of the new one that it lacks, instead of the new one.

    >>> merge({"a": {"x": 1}}, {"a": {"y": 2}})
    {'a': {'x': 1, 'y': 2}}
    """
    return STRATEGIES.get(strategy, recurse)(old, new, lists and strategy != "none")


def aggregate(
    old: Mapping[Any, Any], new: Mapping[Any, Any], lists: bool = False
) -> dict[Any, Any]:
    """The later top-level key replaces the earlier one, except where yamlex marks say that it adds
    to it.
    """
    return aggregate_values.laid_over(old, new)


def overwrite(
    old: Mapping[Any, Any], new: Mapping[Any, Any], lists: bool = False
) -> dict[Any, Any]:
    """The later top-level key replaces the earlier one, whatever both hold."""
    return {**old, **new}


def listed(old: Mapping[Any, Any], new: Mapping[Any, Any], lists: bool = False) -> dict[Any, Any]:
    """Mappings are merged at every depth; two other values of one key become a list of both."""
    merged = copied(old)
    for key, value in new.items():
        before = merged.get(key)
        if key not in merged:
            merged[key] = value
        elif isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = listed(before, value)
        else:
            merged[key] = _as_list(before) + _as_list(value)
    return merged


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


STRATEGIES: Mapping[str, Merge] = {
    "smart": recurse,
    "recurse": recurse,
    "none": recurse,
    "overwrite": overwrite,
    "aggregate": aggregate,
    "list": listed,
}
