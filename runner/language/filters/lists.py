# SPDX-License-Identifier: Apache-2.0
"""Filters of lists, and of what can be walked."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from jinja2 import pass_environment
from jinja2.filters import do_max, do_min

if TYPE_CHECKING:
    from jinja2 import Environment


def sequence(value: Any) -> Any:
    """The value, in a list if it is none."""
    return value if isinstance(value, list | tuple | set | Mapping) else [value]


def is_iter(value: Any, ignore: Any = (str,)) -> bool:
    """Return whether a value can be walked; texts do not count."""
    return not isinstance(value, tuple(ignore or ())) and hasattr(value, "__iter__")


def is_list(value: Any) -> bool:
    """Return whether a value is a list."""
    return isinstance(value, list)


def skip(value: Any) -> str:
    """Nothing: calls a function for what it does, not for what it gives."""
    return ""


def avg(values: Any) -> float:
    """The mean of numbers."""
    if not isinstance(values, list | tuple):
        return (
            float(values) if not isinstance(values, Mapping) else float(sum(values) / len(values))
        )
    return float(sum(values) / float(len(values)))


@pass_environment
def maximum(
    environment: Environment, values: Any, case_sensitive: bool = True, attribute: Any = None
) -> Any:
    """The largest value; capitals come before small letters."""
    return do_max(environment, values, case_sensitive, attribute)


@pass_environment
def minimum(
    environment: Environment, values: Any, case_sensitive: bool = True, attribute: Any = None
) -> Any:
    """The smallest value; capitals come before small letters."""
    return do_min(environment, values, case_sensitive, attribute)


def exactly_n_true(values: Iterable[Any], amount: int = 1) -> bool:
    """Return whether so many of the values are true."""
    return sum(bool(value) for value in values) == index(amount)


def exactly_one_true(values: Iterable[Any]) -> bool:
    """Return whether just one of the values is true."""
    return exactly_n_true(values)


def substring_in_list(text: str, list_to_search: Iterable[str]) -> bool:
    """Return whether a text is part of one of the values."""
    return any(text in value for value in list_to_search)


def sorted_ignorecase(values: Iterable[str]) -> list[str]:
    """The texts sorted, small letters and capitals alike."""
    return sorted(values, key=lambda value: value.lower())


def check_whitelist_blacklist(value: Any, whitelist: Any = None, blacklist: Any = None) -> bool:
    """Return whether a value matches the whitelist (globs or patterns), not the blacklist."""
    if any(_fits(value, pattern) for pattern in _patterns(blacklist)):
        return False
    allowed = _patterns(whitelist)
    return not allowed or any(_fits(value, pattern) for pattern in allowed)


def _patterns(patterns: Any) -> list[Any]:
    return [patterns] if isinstance(patterns, str) else list(patterns or ())


def _fits(value: Any, pattern: Any) -> bool:
    if not isinstance(value, str) or not isinstance(pattern, str):
        return False
    if value == pattern or fnmatch.fnmatchcase(value, pattern):
        return True
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        return False


# ---------------------------------------------------------------- as sets


def flatten(value: Any, levels: int | None = None, preserve_nulls: bool = False) -> list[Any]:
    """Nested lists as one; of a mapping its keys."""
    flat: list[Any] = []
    for item in value:
        if is_iter(item) and levels != 0:
            flat += flatten(item, None if levels is None else levels - 1, preserve_nulls)
        elif item not in (None, "None", "null") or preserve_nulls:
            flat.append(item)
    return flat


class OrderedSet(set[Any]):
    """A set whose items come in the order in which they were found, in every run the same."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = dict.fromkeys(items)
        super().__init__(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self._items else "set()"


def _collected(items: list[Any], *sources: Any) -> Any:
    """The items that were items: a set if all that they come of can be a key (a text, a tuple, what
    `map` gives).
    """
    try:
        return (
            OrderedSet(items) if all(isinstance(source, Hashable) for source in sources) else items
        )
    except TypeError:
        return items


def _once(values: Iterable[Any]) -> list[Any]:
    unique_items: list[Any] = []
    for item in values:
        if item not in unique_items:
            unique_items.append(item)
    return unique_items


def unique(values: Iterable[Any]) -> Any:
    """Each item once, in their order."""
    return _collected(_once(values), values)


def union(lst1: Sequence[Any], lst2: Sequence[Any]) -> Any:
    """The items of either."""
    return _collected(_once([*lst1, *lst2]), lst1, lst2)


def intersect(lst1: Sequence[Any], lst2: Sequence[Any]) -> Any:
    """The items of both."""
    return _collected([item for item in _once(lst1) if item in lst2], lst1, lst2)


def difference(lst1: Sequence[Any], lst2: Sequence[Any]) -> Any:
    """The items of lst1 only."""
    return _collected([item for item in _once(lst1) if item not in lst2], lst1, lst2)


def symmetric_difference(lst1: Sequence[Any], lst2: Sequence[Any]) -> Any:
    """The items of just one of both."""
    return _collected([*difference(lst1, lst2), *difference(lst2, lst1)], lst1, lst2)


def compare_lists(old: Sequence[Any], new: Sequence[Any]) -> dict[str, Any]:
    """The items that two lists do not share."""
    differing: dict[str, Any] = {}
    for item in new:
        if item not in old:
            differing.setdefault("new", []).append(item)
    for item in old:
        if item not in new:
            differing.setdefault("old", []).append(item)
    return differing


def compare_dicts(old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[Any, Any]:
    """The differences between two mappings, as {key: {old, new}}."""
    keys = [*old, *(key for key in new if key not in old)]
    pairs = {key: {"old": old.get(key, ""), "new": new.get(key, "")} for key in keys}
    return {
        key: pair
        for key, pair in pairs.items()
        if key not in old or key not in new or pair["old"] != pair["new"]
    }


# ---------------------------------------------------------------- together


def zipped(*lists: Iterable[Any]) -> Iterable[tuple[Any, ...]]:
    """Items of the same position together."""
    return zip(*lists, strict=False)


def zip_longest(*lists: Iterable[Any], fillvalue: Any = None) -> Iterable[tuple[Any, ...]]:
    """Items of the same position together, up to the longest."""
    return itertools.zip_longest(*lists, fillvalue=fillvalue)


def combinations(values: Iterable[Any], r: int) -> Iterable[tuple[Any, ...]]:
    """All choices of so many items."""
    return itertools.combinations(values, r)


def combinations_with_replacement(values: Iterable[Any], r: int) -> Iterable[tuple[Any, ...]]:
    """All choices of so many items, each as often as wanted."""
    return itertools.combinations_with_replacement(values, r)


def permutations(values: Iterable[Any], r: int | None = None) -> Iterable[tuple[Any, ...]]:
    """All orders of the items (of so many of them)."""
    return itertools.permutations(values, r)


def product(*lists: Iterable[Any], repeat: int = 1) -> Iterable[tuple[Any, ...]]:
    """Each item of one with each of the others."""
    return itertools.product(*lists, repeat=repeat)


def compress(values: Iterable[Any], selectors: Iterable[Any]) -> Iterable[Any]:
    """The items whose selector is true."""
    return itertools.compress(values, selectors)
