# SPDX-License-Identifier: Apache-2.0
"""salt.utils.dictupdate: mappings laid over each other."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from runner.language.filters.data import (
    append_dict_key_value,
    extend_dict_key_value,
    set_dict_key_value,
    update_dict_key_value,
)
from runner.language.pillar.merge import merge as _merge


def update(
    dest: Any,
    upd: Any,
    recursive_update: bool = True,
    merge_lists: bool = False,
    strict: bool = False,
) -> Any:
    """Lay a mapping over another one, which is changed. Raises TypeError when one is no mapping."""
    if not isinstance(dest, Mapping) or not isinstance(upd, Mapping):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key, value in list(upd.items()):
        before = dest.get(key)
        if recursive_update and isinstance(before, Mapping) and isinstance(value, Mapping):
            dest[key] = update(before, value, merge_lists=merge_lists)  # type: ignore[index]
        elif (
            recursive_update
            and merge_lists
            and isinstance(before, list)
            and isinstance(value, list)
        ):
            rest = [item for item in value if item not in before]
            dest[key] = [*copy.deepcopy(before), *rest]  # type: ignore[index]
        else:
            dest[key] = value  # type: ignore[index]
    return dest


def merge(
    obj_a: Any,
    obj_b: Any,
    strategy: str = "smart",
    renderer: str = "yaml",
    merge_lists: bool = False,
) -> Any:
    """A new mapping of two; an unknown strategy is `none`."""
    if strategy == "list":
        return merge_list(obj_a, obj_b)
    known = ("recurse", "aggregate", "overwrite", "smart")
    return _merge(obj_a, obj_b, strategy if strategy in known else "none", merge_lists)


def merge_recurse(obj_a: Any, obj_b: Any, merge_lists: bool = False) -> Any:
    """A new mapping: mappings are merged at every depth."""
    return update(copy.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


def merge_list(obj_a: Any, obj_b: Any) -> Any:
    """A new mapping with the keys of the first; with both values where the second has them, too."""
    return {key: [value, obj_b[key]] if key in obj_b else value for key, value in obj_a.items()}


def merge_overwrite(obj_a: Any, obj_b: Any, merge_lists: bool = False) -> Any:
    """A new mapping: the second one's keys win whole."""
    return {**obj_a, **obj_b}


def merge_aggregate(obj_a: Any, obj_b: Any) -> Any:
    """A new mapping, merged as yamlex's marks say."""
    return merge(obj_a, obj_b, "aggregate")


def ensure_dict_key(
    in_dict: dict[Any, Any], keys: str, delimiter: str = ":", ordered_dict: bool = False
) -> dict[Any, Any]:
    """A mapping in which some keys below each other are mappings; it is changed."""
    below = in_dict
    for key in keys.split(delimiter):
        below = below.setdefault(key, {})
    return in_dict
