# SPDX-License-Identifier: Apache-2.0
"""Reading and merging nested data: what pillar, grains, config and slsutil share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules._texts import yaml
from runner.api import RunnerError

MISSING: Any = object()


def traverse(data: Any, path: Any, default: Any = MISSING, delimiter: str = ":") -> Any:
    """The value at `a:b:0`; lists of mappings are searched, too; keys that are no texts are found
    as YAML has them.

    >>> traverse({"a": {"b": [1, 2]}}, "a:b:1"), traverse({"ports": {80: "http"}}, "ports:80")
    (2, 'http')
    """
    for part in path if isinstance(path, list) else str(path).split(delimiter):
        data = _step(data, part)
        if data is MISSING:
            return default
    return data


def _step(data: Any, part: Any) -> Any:
    if isinstance(data, dict) or isinstance(data, Mapping):  # noqa: SIM101
        return data[part] if part in data else _under_another_type(data, part)
    if not isinstance(data, list):
        return MISSING
    try:
        return data[int(part)]
    except IndexError:
        return MISSING
    except ValueError:
        return next(
            (item[part] for item in data if isinstance(item, Mapping) and part in item), MISSING
        )


def _under_another_type(data: Mapping[Any, Any], part: Any) -> Any:
    """`80` may mean the number, `yes` a truth, `'2'` a text: what YAML makes of the part is looked
    for, too.
    """
    if not isinstance(part, str) or not (
        part[:1] in "'\"" or any(not isinstance(key, str) for key in data)
    ):
        return MISSING
    try:
        key = yaml.load(part)
        return data.get(key, MISSING)
    except (RunnerError, TypeError):  # no YAML, or no key
        return MISSING


def only_mappings(*values: Any) -> None:
    """Raise TypeError unless all are mappings."""
    for value in values:
        if not isinstance(value, Mapping):
            raise TypeError(f"only mappings can be laid over each other, and {value!r} is none")


def update(dest: Any, new: Any, recursive: bool = True, lists: bool = False) -> Any:
    """Lay a mapping over another one, in place, at every depth if `recursive`. Raises TypeError for
    anything else.

    lists: a list becomes the old one and those items of the new one that it lacks, instead of the
    new one.
    """
    only_mappings(dest, new)
    for key, value in new.items():
        old = dest.get(key)
        if recursive and isinstance(old, Mapping) and isinstance(value, Mapping):
            update(old, value, recursive, lists)
        elif recursive and lists and isinstance(old, list) and isinstance(value, list):
            dest[key] = [*copied(old), *(item for item in value if item not in old)]
        else:
            dest[key] = value
    return dest


def combined(old: Any, new: Any, strategy: str = "smart", lists: bool = False) -> Any:
    """Two mappings in one, neither of them changed. Raises TypeError for what is not a mapping.

    strategy: smart and recurse merge at every depth (lists: join nested lists); overwrite replaces
    whole top-level keys; aggregate does so and joins two lists; list keeps the keys of the first
    with both values.
    """
    if strategy == "aggregate":
        return _aggregated(old, new)
    only_mappings(old, new)
    if strategy == "list":
        return {key: [value, new[key]] if key in new else value for key, value in old.items()}
    if strategy == "overwrite":
        return {**old, **new}
    return update(copied(old), new, lists=lists and strategy in ("smart", "recurse"))


def copied(value: Any) -> Any:
    """A value whose mappings and lists are its own."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        return {key: item if type(item) in _SIMPLE else copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


_SIMPLE = frozenset([str, int, float, bool, type(None)])


def _aggregated(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return {**first, **second}
    lists = [content if isinstance(content, list) else [content] for content in (first, second)]
    return [*lists[0], *(item for item in lists[1] if item not in lists[0])]


def merged(old: Any, new: Any) -> Any:
    """New data over old, mapping by mapping; neither is changed."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        return new
    return {
        **old,
        **{key: merged(old[key], value) if key in old else value for key, value in new.items()},
    }
