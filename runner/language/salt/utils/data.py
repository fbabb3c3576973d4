# SPDX-License-Identifier: Apache-2.0
"""salt.utils.data: nested data."""

from __future__ import annotations

import fnmatch
import hashlib
import random
import re
from collections.abc import Mapping
from typing import Any

from runner.language.filters.data import from_entries, json_query, to_entries, traverse
from runner.language.filters.lists import (
    compare_dicts,
    compare_lists,
    flatten,
    is_iter,
    is_list,
    sorted_ignorecase,
)
from runner.language.filters.lists import exactly_n_true as exactly_n
from runner.language.filters.lists import exactly_one_true as exactly_one
from runner.language.filters.lists import substring_in_list as substr_in_list
from runner.language.filters.text import to_bool
from runner.language.salt.utils import dictupdate, yaml
from runner.language.salt.utils.stringutils import to_bytes, to_unicode

traverse_dict_and_list = traverse


def traverse_dict(data: Any, key: str, default: Any = None, delimiter: str = ":") -> Any:
    """The value below keys of nested mappings."""
    for part in str(key).split(delimiter):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return default
    return data


def is_true(value: Any = None) -> bool:
    """Return whether a value means yes: true, a number above 0, `true`."""
    if isinstance(value, int | float):
        return value > 0
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def is_dictlist(data: Any) -> bool:
    """Return whether this is a list of mappings with one key each."""
    return isinstance(data, list) and all(
        isinstance(item, dict) and len(item) == 1 for item in data
    )


def repack_dictlist(
    data: Any, strict: bool = False, recurse: bool = False, key_cb: Any = None, val_cb: Any = None
) -> Any:
    """One mapping of a list of texts and mappings with one key."""
    key_of = key_cb or (lambda key: key)
    value_of = val_cb or (lambda key, value: value)
    if isinstance(data, str):
        try:
            data = yaml.safe_load(data)
        except (yaml.YAMLError, ValueError):
            return {}
    items = data
    if not isinstance(items, list) or not all(
        isinstance(item, str | int | float | dict) for item in items
    ):
        return {}
    repacked: dict[Any, Any] = {}
    for item in items:
        if not isinstance(item, dict):
            repacked[key_of(item)] = None
            continue
        if len(item) != 1:
            return {}
        ((key, value),) = item.items()
        if recurse and is_dictlist(value):
            repacked[key_of(key)] = repack_dictlist(value, recurse=True)
        elif recurse and strict and isinstance(value, list):
            return {}
        else:
            repacked[key_of(key)] = value_of(key, value)
    return repacked


def subdict_match(
    data: Any, expr: str, delimiter: str = ":", regex_match: bool = False, exact_match: bool = False
) -> bool:
    """Return whether the value below some keys fits a pattern: `key:key:pattern`."""

    def fits(value: Any, pattern: str) -> bool:
        text = str(value).lower()
        if exact_match:
            return text == pattern.lower()
        return (
            bool(re.match(pattern.lower(), text))
            if regex_match
            else fnmatch.fnmatch(text, pattern.lower())
        )

    parts = expr.split(delimiter)
    for count in range(1, len(parts)):
        pattern = delimiter.join(parts[count:])
        value_below = traverse(data, delimiter.join(parts[:count]), None, delimiter)
        if isinstance(value_below, Mapping):
            if pattern == "*" or any(fits(key, pattern) for key in value_below):
                return True
        elif isinstance(value_below, list):
            if any(fits(item, pattern) for item in value_below):
                return True
        elif value_below is not None and fits(value_below, pattern):
            return True
    return False


def decode(
    data: Any, *args: Any, preserve_tuples: bool = False, to_str: bool = False, **options: Any
) -> Any:
    """Data whose bytes have become texts."""
    return _mapped(data, lambda value: _text(value), preserve_tuples)


decode_dict = decode_list = decode_tuple = decode


def encode(data: Any, *args: Any, preserve_tuples: bool = False, **options: Any) -> Any:
    """Data whose texts have become bytes."""
    return _mapped(
        data, lambda value: to_bytes(value) if isinstance(value, str) else value, preserve_tuples
    )


encode_dict = encode_list = encode_tuple = encode


def _text(value: Any) -> Any:
    return to_unicode(value) if isinstance(value, bytes | bytearray) else value


def _mapped(data: Any, change: Any, tuples: bool) -> Any:
    if isinstance(data, Mapping):
        return {
            _mapped(key, change, True): _mapped(value, change, tuples)
            for key, value in data.items()
        }
    if isinstance(data, tuple) and tuples:
        return tuple(_mapped(item, change, tuples) for item in data)
    if isinstance(data, list | tuple):
        return [_mapped(item, change, tuples) for item in data]
    return change(data)


def stringify(data: Any) -> list[str]:
    """All items as texts."""
    return [str(item) for item in data]


def filter_falsey(data: Any, recurse_depth: int | None = None, ignore_types: Any = ()) -> Any:
    """Data without what is empty or false. recurse_depth: how deep, negative: all; without it at
    the top alone.
    """
    deeper = bool(recurse_depth)
    left = recurse_depth - 1 if recurse_depth else None

    def inner(value: Any) -> Any:
        return (
            filter_falsey(value, left, ignore_types)
            if deeper and isinstance(value, dict | list)
            else value
        )

    def is_kept(value: Any) -> bool:
        return bool(value) or type(value) in ignore_types

    if isinstance(data, dict):
        return type(data)(
            (key, value)
            for key, value in ((k, inner(v)) for k, v in data.items())
            if is_kept(value)
        )
    if isinstance(data, list):
        return type(data)(value for value in map(inner, data) if is_kept(value))
    return data


def recursive_diff(
    old: Any,
    new: Any,
    ignore_keys: Any = None,
    ignore_order: bool = False,
    ignore_missing_keys: bool = False,
) -> dict[str, Any]:
    """The differences between two values, as {old: ..., new: ...}."""
    left_out = ignore_keys or ()
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        keys = [
            key for key in (*old, *(key for key in new if key not in old)) if key not in left_out
        ]
        parts: dict[str, dict[Any, Any]] = {"old": {}, "new": {}}
        for key in keys:
            if key not in old or key not in new:
                if not (ignore_missing_keys and key not in new):
                    side = "old" if key in old else "new"
                    parts[side][key] = (old if key in old else new)[key]
                continue
            inner = recursive_diff(old[key], new[key], left_out, ignore_order, ignore_missing_keys)
            for side, value in inner.items():
                parts[side][key] = value
        return {side: value for side, value in parts.items() if value}
    if ignore_order and isinstance(old, list) and isinstance(new, list):
        same = len(old) == len(new) and all(item in new for item in old)
        return {} if same else {"old": old, "new": new}
    return {} if old == new else {"old": old, "new": new}


class CaseInsensitiveDict(dict[Any, Any]):
    """A mapping to whose keys capitals make no difference."""

    def __init__(self, init: Any = None, **items: Any) -> None:
        super().__init__()
        for key, value in dict(init or {}, **items).items():
            self[key] = value

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_folded(key), value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(_folded(key))

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_folded(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_folded(key), default)


def _folded(key: Any) -> Any:
    return key.lower() if isinstance(key, str) else key


def to_boolean(value: Any) -> bool:
    """Return whether a value means yes, as Salt's filter `to_bool` has it."""
    return to_bool(value)


def to_lowercase(data: Any, preserve_dict_class: bool = False) -> Any:
    """Data whose texts, keys too, are in small letters."""
    return _mapped(data, lambda item: item.lower() if isinstance(item, str) else item, True)


def to_uppercase(data: Any, preserve_dict_class: bool = False) -> Any:
    """Data whose texts, keys too, are in capital letters."""
    return _mapped(data, lambda item: item.upper() if isinstance(item, str) else item, True)


def filter_by(
    lookup_dict: Mapping[str, Any],
    lookup: Any,
    traverse: Any,
    merge: Any = None,
    default: str = "default",
    base: str | None = None,
) -> Any:
    """The value whose key, a glob, fits what lies below some keys of data; else that of the
    default. base: the value that it is laid over. merge: what is laid over it.
    """
    values = traverse_dict_and_list(traverse, lookup, None)
    texts = [str(value) for value in (values if isinstance(values, list) else [values])]
    keys = [key for key in lookup_dict if any(fnmatch.fnmatchcase(text, key) for text in texts)]
    chosen = lookup_dict[keys[0]] if keys else lookup_dict.get(default)
    if base and base in lookup_dict:
        chosen = (
            lookup_dict[base]
            if chosen is None
            else dictupdate.merge_recurse(lookup_dict[base], chosen)
        )
    return dictupdate.merge_recurse(chosen or {}, merge) if merge else chosen


def simple_types_filter(data: Any) -> Any:
    """Data in which what is no mapping, list, text, number, truth value or None is its text."""
    if isinstance(data, Mapping):
        return {simple_types_filter(key): simple_types_filter(value) for key, value in data.items()}
    if isinstance(data, list | tuple | set | frozenset):
        return [simple_types_filter(item) for item in data]
    return data if data is None or isinstance(data, str | int | float | bool) else repr(data)


def hash(value: Any, algorithm: str = "sha512") -> str:
    """The digest of a text."""
    return hashlib.new(algorithm, to_bytes(str(value))).hexdigest()


def sample(value: Any, size: int, seed: Any = None) -> Any:
    """Some items, drawn by lot."""
    return random.Random(seed).sample(value, size)


def shuffle(value: Any, seed: Any = None) -> Any:
    """All items in an order drawn by lot."""
    return sample(value, len(value), seed)
