# SPDX-License-Identifier: Apache-2.0
"""How Hiera puts the values of several levels together: first, unique, hash and deep.

Behaviour: Puppet's documentation, and its answers (tests/runner/language/test_hiera.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.model.records import Record

DEEP_OPTIONS = ("knockout_prefix", "sort_merged_arrays", "merge_hash_arrays")


class Strategy(Record):
    """How to merge. The others: options of deep."""

    name: str = "first"
    knockout_prefix: str = ""
    sort_merged_arrays: bool = False
    merge_hash_arrays: bool = False


FIRST, UNIQUE = Strategy(), Strategy("unique")


class NotMergeable(Exception):
    """A value is not what its strategy merges; the message says what it is."""


def merged(values: Sequence[Any], strategy: Strategy) -> Any:
    """The values of one key as one, the most specific one first. Raises NotMergeable."""
    return _MERGES[strategy.name](values, strategy)


def _first(values: Sequence[Any], strategy: Strategy) -> Any:
    return values[0]


def _unique(values: Sequence[Any], strategy: Strategy) -> list[Any]:
    """All items, those of lists in lists as well, each once."""
    items: list[Any] = []
    pending = list(values)
    while pending:
        value = pending.pop(0)
        if isinstance(value, Mapping):
            raise NotMergeable("a mapping, and `unique` merges lists and single values")
        if isinstance(value, list):
            pending[:0] = value
        elif not _holds(items, value):
            items.append(value)
    return items


def _hash(values: Sequence[Any], strategy: Strategy) -> dict[Any, Any]:
    whole: dict[Any, Any] = {}
    for value in reversed(values):
        if not isinstance(value, Mapping):
            raise NotMergeable(f"{_kind(value)}, and `hash` merges mappings")
        whole.update(value)
    return whole


def _deep(values: Sequence[Any], strategy: Strategy) -> Any:
    whole = values[0]
    for value in values[1:]:
        if isinstance(whole, Mapping | list):
            whole = _deeper(whole, value, strategy)
        elif whole is None:
            whole = value
    return whole


def _deeper(over: Any, below: Any, strategy: Strategy) -> Any:
    """A value laid over one of a more general level."""
    if over is None:
        return below
    if isinstance(over, Mapping):
        return _deeper_mapping(over, below if isinstance(below, Mapping) else {}, strategy)
    if isinstance(over, list):
        if isinstance(below, list):
            return _joined(over, below, strategy)
        return over
    if isinstance(over, str) and strategy.knockout_prefix:
        return "" if over.startswith(strategy.knockout_prefix) else over
    return over


def _deeper_mapping(
    over: Mapping[Any, Any], below: Mapping[Any, Any], strategy: Strategy
) -> dict[Any, Any]:
    whole = dict(below)
    for key, value in over.items():
        missing: Any = [] if isinstance(value, list) else None
        whole[key] = _deeper(value, below.get(key, missing), strategy)
    return whole


def _joined(over: list[Any], below: list[Any], strategy: Strategy) -> list[Any]:
    """Two lists as one: the items of the more general one first, each once."""
    prefix = strategy.knockout_prefix
    if prefix:
        marked = [item for item in over if isinstance(item, str) and item.startswith(prefix)]
        gone = [item.removeprefix(prefix) for item in marked]
        below = [] if "" in gone else [item for item in below if item not in gone]
        over = [item for item in over if not _holds(marked, item)]
    if strategy.merge_hash_arrays and all(isinstance(item, Mapping) for item in [*over, *below]):
        return _joined_by_place(over, below, strategy)
    items: list[Any] = []
    for item in [*below, *over]:
        if not _holds(items, item):
            items.append(item)
    return _sorted(items) if strategy.sort_merged_arrays else items


def _joined_by_place(over: list[Any], below: list[Any], strategy: Strategy) -> list[Any]:
    """Lists of mappings: the first with the first, the second with the second, ..."""
    longest = max(len(over), len(below))
    pairs = zip(
        over + [{}] * (longest - len(over)), below + [{}] * (longest - len(below)), strict=True
    )
    return [_deeper(one, other, strategy) for one, other in pairs]


def _sorted(items: list[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=str)


def _holds(items: Sequence[Any], value: Any) -> bool:
    """Return whether an equal item of the same kind is there: 1 is not true."""
    return any(item == value and type(item) is type(value) for item in items)


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else f"{value!r:.40}"


_MERGES: Mapping[str, Callable[[Sequence[Any], Strategy], Any]] = {
    "first": _first,
    "unique": _unique,
    "hash": _hash,
    "deep": _deep,
}
STRATEGIES = tuple(_MERGES)
