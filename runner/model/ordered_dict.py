# SPDX-License-Identifier: Apache-2.0
"""Values from YAML as Salt hands them to templates: mappings that keep their order where they are
written again, and where they are laid over each other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from runner.model.places import PlacedList, PlacedMap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def ordered(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A copy without places. What an alias shares stays shared."""
    if type(value) not in (PlacedMap, PlacedList, OrderedDict, list):
        return value
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    made: Any = OrderedDict() if isinstance(value, dict) else []
    known[id(value)] = made
    if isinstance(value, dict):
        made.update((key, ordered(item, known)) for key, item in value.items())
    else:
        made.extend(ordered(item, known) for item in value)
    return made


def as_said(written: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """Values that were made from what an SLS says, with its mappings in their order; `used` says
    which.
    """
    return {
        name: ordered(written[name]) if name in written and written[name] == value else value
        for name, value in used.items()
    }


def recurse(old: Mapping[Any, Any], new: Mapping[Any, Any], lists: bool = False) -> dict[Any, Any]:
    """Mappings are merged at every depth, anything else is replaced."""
    merged = copied(old)
    for key, value in new.items():
        before = merged.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = recurse(before, value, lists)
        elif lists and isinstance(before, list) and isinstance(value, list):
            merged[key] = [*map(_own, before), *_lacking(before, value)]
        else:
            merged[key] = value
    return merged


def _lacking(items: list[Any], others: list[Any]) -> list[Any]:
    """Those of other items that are not among some."""
    texts = {item for item in items if isinstance(item, str)}  # a long list has little else
    rest = [item for item in items if not isinstance(item, str)]
    return [item for item in others if item not in (texts if isinstance(item, str) else rest)]


def copied(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Of the same kind: what YAML said keeps its order wherever it is written."""
    return OrderedDict(data) if isinstance(data, OrderedDict) else dict(data)


def _own(value: Any) -> Any:
    """A value that shares no mapping and no list with another."""
    if isinstance(value, dict):
        own = copied(value)
        own.update((key, _own(item)) for key, item in value.items())
        return own
    return [_own(item) for item in value] if isinstance(value, list) else value
