"""Defaults of a formula, merged with what the pillar says."""

from __future__ import annotations

import copy
from typing import Any

from modules._data import merged


def merge(dest: Any, upd: Any, merge_lists: bool = False, in_place: bool = True, convert_none: bool = True) -> Any:
    """Lay one mapping over another.

    in_place: change `dest` itself as well.
    """
    if upd is None and convert_none:
        upd = {}
    result = merged(dest, upd, "recurse", merge_lists)
    if in_place and isinstance(dest, dict):
        dest.clear()
        dest.update(result)
        return dest
    return result


def update(dest: Any, defaults: Any, merge_lists: bool = True, in_place: bool = True, convert_none: bool = True) -> Any:
    """Give each mapping below `dest` some defaults."""
    target = dest if in_place else copy.deepcopy(dest)
    for name, value in target.items():
        target[name] = merged(copy.deepcopy(defaults or {}), value or {}, "recurse", merge_lists)
    return target


def deepcopy(source: Any) -> Any:
    """A copy that shares nothing."""
    return copy.deepcopy(source)
