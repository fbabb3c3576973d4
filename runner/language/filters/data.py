# SPDX-License-Identifier: Apache-2.0
"""Filters of nested mappings."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import jinja2

from runner.language.filters import serial


def traverse(data: Any, key: Any, default: Any = None, delimiter: str = ":") -> Any:
    """The value at `a:b:0`, or the default; a name in a list is looked for in its mappings."""
    if isinstance(data, jinja2.Undefined):
        data._fail_with_undefined_error()
    parts = key.split(delimiter) if isinstance(key, str) else list(key) if is_path(key) else [key]
    for part in parts:
        try:
            data = _step(data, part)
        except LookupError:
            return default
    return data


def is_path(value: Any) -> bool:
    """Return whether a value lists the parts of a path, which a text or a number does not. Raises
    TypeError for None.
    """
    if value is None:
        raise TypeError("a path is a text, not None")
    return isinstance(value, list | tuple)


def _step(data: Any, part: Any) -> Any:
    if isinstance(data, list):
        return _item(data, part)
    if not isinstance(data, Mapping):
        raise KeyError(part)
    return data[part] if part in data else data[_literal(part)]


def _item(items: list[Any], part: Any) -> Any:
    try:
        return items[int(part)]
    except ValueError:
        for item in items:
            if isinstance(item, Mapping) and part in item:
                return item[part]
    raise KeyError(part)


def _literal(part: Any) -> Any:
    """A part of a path as Python has it: a key may be a number or a truth value."""
    try:
        literal = ast.literal_eval(part)
        hash(literal)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise KeyError(part) from None
    return literal


def json_query(data: Any, expr: str) -> Any:
    """The values that a JMESPath expression finds."""
    import jmespath

    return jmespath.search(expr, data)


def to_entries(data: Any) -> list[dict[str, Any]]:
    """A mapping (or a list, by position) as a list of {key, value}. Raises TypeError for any other
    value.
    """
    if isinstance(data, list):
        return [{"key": key, "value": value} for key, value in enumerate(data)]
    if not isinstance(data, Mapping):
        raise TypeError(f"a mapping or a list is required, not {type(data).__name__}")
    return [{"key": key, "value": value} for key, value in data.items()]


def from_entries(entries: Any) -> dict[Any, Any]:
    """The mapping behind a list of {key or name, value}. Raises TypeError for an entry that is no
    mapping.
    """
    made: dict[Any, Any] = {}
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise TypeError(
                f"each entry is a mapping with key and value, not {type(entry).__name__}"
            )
        name = next((entry[name] for name in ("key", "Key", "name", "Name") if name in entry), None)
        if name is not None:
            made[name] = entry.get("value", entry.get("Value"))
    return made


def method_call(value: Any, f_name: str, *args: Any, **kwargs: Any) -> Any:
    """The answer of a method of a value; nothing when it has none of that name. Raises ValueError
    for a name that begins with an underscore.
    """
    if f_name.startswith("_"):
        raise ValueError(f"{f_name!r} is private")
    return getattr(value, f_name, lambda *_, **__: None)(*args, **kwargs)


def dict_to_sls_yaml_params(value: Mapping[str, Any], flow_style: bool = False) -> str:
    """A mapping as the list of arguments of a state."""
    return serial.to_yaml([{key: item} for key, item in value.items()], flow_style)


# ---------------------------------------------------------------- a value at a path


def _place(data: Any, keys: str, delimiter: str) -> tuple[dict[Any, Any], str]:
    """The mapping that a path ends in (made where it is missing), and its last key."""
    if not isinstance(data, dict):
        raise TypeError(f"a mapping is required, not {type(data).__name__}")
    *parts, last = keys.split(delimiter)
    for part in parts:
        if not isinstance(data.get(part), dict):
            data[part] = {}
        data = data[part]
    return data, last


def _known(place: dict[Any, Any], last: str, kind: type, verb: str) -> Any:
    value = place.get(last)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise TypeError(f"{last} holds a {type(value).__name__}, to which nothing can be {verb}")
    return value


def set_dict_key_value(
    data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False
) -> Any:
    """The mapping with a value at `a:b:c`."""
    place, last = _place(data, keys, delimiter)
    place[last] = value
    return data


def append_dict_key_value(
    data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False
) -> Any:
    """The mapping with a value added to the list at `a:b:c`."""
    place, last = _place(data, keys, delimiter)
    place[last] = [*_known(place, last, list, "appended"), value]
    return data


def extend_dict_key_value(
    data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False
) -> Any:
    """The mapping with values added to the list at `a:b:c`. Raises TypeError for a value that
    cannot be iterated over.
    """
    if not hasattr(value, "__iter__"):
        raise TypeError(f"Cannot extend {list} with a {type(value)}.")
    place, last = _place(data, keys, delimiter)
    place[last] = [*_known(place, last, list, "added"), *value]
    return data


def update_dict_key_value(
    data: Any, keys: str, value: Any, delimiter: str = ":", ordered_dict: bool = False
) -> Any:
    """The mapping with the mapping at `a:b:c` updated. Raises TypeError for a value that a mapping
    cannot be updated with.
    """
    place, last = _place(data, keys, delimiter)
    made = dict(_known(place, last, dict, "added"))
    try:
        made.update(value)
    except (TypeError, ValueError):
        raise TypeError(f"Cannot update {dict} with a {type(value)}.") from None
    place[last] = made
    return data
