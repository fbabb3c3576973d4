"""Reading and merging nested data: what pillar, grains, config and slsutil share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSING: Any = object()


def traverse(data: Any, path: str, default: Any = MISSING, delimiter: str = ":") -> Any:
    """The value at `a:b:0`; lists of mappings are searched as well.

    >>> traverse({"a": {"b": [1, 2]}}, "a:b:1")
    2
    """
    for part in str(path).split(delimiter):
        if isinstance(data, Mapping) and part in data:
            data = data[part]
        elif isinstance(data, list) and part.lstrip("-").isdigit() and -len(data) <= int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, list):
            inner = [item[part] for item in data if isinstance(item, Mapping) and part in item]
            if not inner:
                return default
            data = inner[0]
        else:
            return default
    return data


def merged(old: Any, new: Any, strategy: str = "smart", lists: bool = False) -> Any:
    """Two values in one, the new one wins.

    strategy: smart and recurse merge nested mappings, aggregate lists too, overwrite replaces, list keeps both.
    """
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        if lists and isinstance(old, list) and isinstance(new, list):
            return [*old, *(item for item in new if item not in old)]
        return new
    if strategy == "overwrite":
        return {**old, **new}
    result = dict(old)
    for key, value in new.items():
        if key not in result:
            result[key] = value
        elif strategy == "list":
            result[key] = [result[key], value]
        else:
            result[key] = merged(result[key], value, strategy, lists or strategy == "aggregate")
    return result
