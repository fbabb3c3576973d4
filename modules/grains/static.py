# SPDX-License-Identifier: Apache-2.0
"""The file `grains` beside the configuration: values of this machine that nobody could find out."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from typing import Any

from modules import file
from modules._texts import yaml as _yaml
from runner.api import StateFailed, here

USE_FORCE = " Use 'force=True' to overwrite."
IS_NESTED = f"exists but is a dict or a list.{USE_FORCE}"


def place() -> str:
    """The path of the file."""
    return os.path.join(here.opts.get("config_dir") or "/etc/runner", "grains")


def read() -> dict[str, Any]:
    """Read the grains of the file. Raises StateFailed when it is not a mapping."""
    path = place()
    grains = (
        _yaml.load(file.read_bytes(path).decode("utf-8", "replace")) if file.is_file(path) else None
    )
    if not isinstance(grains, dict | None):
        raise StateFailed(f"{path} is not a mapping of grains; mend it by hand first")
    return grains or {}


def put(values: Mapping[str, Any]) -> None:
    """Write top-level grains (only while changing); the states that follow see them."""
    _write({**read(), **values})


def drop(name: str) -> None:
    """Take a top-level grain out of the file (only while changing)."""
    _write({key: value for key, value in read().items() if key != name})


def _write(values: Mapping[str, Any]) -> None:
    import yaml

    file.makedirs(os.path.dirname(place()))
    file.write(place(), yaml.safe_dump(dict(values), default_flow_style=False).encode())
    here.reload("grains", planned=values)


def with_value(key: str, value: Any, delimiter: str = ":", force: bool = False) -> dict[str, Any]:
    """The top-level grain, with its new value, that makes a nested key have a value.

    force: lists and mappings may be replaced, and other values become mappings. Raises StateFailed
    where that is needed and not allowed.
    """

    def replaced(path: str, old: Any) -> Any:
        _replaceable(path, old, value, force)
        return value

    return _changed(key.split(delimiter), replaced, force)


def with_list(key: str, values: list[Any], delimiter: str = ":") -> dict[str, Any]:
    """The same for a list with more values than it has, or fewer."""
    return _changed(key.split(delimiter), lambda path, old: values, None)


def _changed(
    parts: list[str], end: Callable[[str, Any], Any], force: bool | None
) -> dict[str, Any]:
    """The top-level grain with another value at the end of a path. end: gives that, from the path
    and what is there. force: other values become mappings; None where nobody can ask for that.
    """
    top, *rest = parts
    whole = copy.deepcopy(here.grains.get(top))
    return {top: _nested(whole, top, rest, end, force) if rest else end(top, whole)}


def _nested(
    inside: Any, path: str, rest: list[str], end: Callable[[str, Any], Any], force: bool | None
) -> Any:
    """The contents under `path` so far, with another value at the end of the rest of the path."""
    key, *deeper = rest
    if isinstance(inside, list) and (place := _place(inside, key)) is not None:
        within = inside[place]
        return [*inside[:place], _nested(within, path, rest, end, force), *inside[place + 1 :]]
    if inside is None or inside == key:  # a value becomes the key of what is to be there
        inside = {}
    if not isinstance(inside, dict):
        if not force:
            raise StateFailed(
                f"The key '{path}' value is '{inside}', which is different from the provided key"
                f" '{key}'.{'' if force is None else USE_FORCE}"
            )
        inside = {}
    if not deeper:
        return {**inside, key: end(f"{path}:{key}", inside.get(key))}
    return {**inside, key: _nested(inside.get(key), f"{path}:{key}", deeper, end, force)}


def _place(values: list[Any], key: str) -> int | None:
    """The position where a list has a mapping with a key, or the key itself."""
    positions = [
        index
        for index, item in enumerate(values)
        if item == key or (isinstance(item, dict) and key in item)
    ]
    return positions[0] if positions else None


def _replaceable(key: str, old: Any, new: Any, force: bool) -> None:
    if old is None or force:
        return
    if isinstance(old, dict | list):
        raise StateFailed(f"The key '{key}' {IS_NESTED}")
    if isinstance(new, dict | list):
        raise StateFailed(
            f"The key '{key}' exists and the given value is a dict or a list.{USE_FORCE}"
        )


def without(key: str, delimiter: str = ":") -> dict[str, Any] | None:
    """The top-level grain without a nested key; None when the key is the top-level grain itself."""
    top, *rest = key.split(delimiter)
    if not rest:
        return None
    whole = copy.deepcopy(here.grains.get(top))
    inside = whole
    for part in rest[:-1]:
        inside = _mapping(inside, part).get(part)
    _mapping(inside, rest[-1], key).pop(rest[-1], None)
    return {top: whole}


def _mapping(inside: Any, key: str, wanted: str = "") -> dict[str, Any]:
    """A mapping, or the one of a list that has a key. Raises StateFailed for anything else when one
    is wanted.
    """
    if isinstance(inside, list):
        inside = next((item for item in inside if isinstance(item, dict) and key in item), None)
    if isinstance(inside, dict):
        return inside
    if wanted:
        raise StateFailed(f"{wanted} is not a key of a mapping, so it cannot be removed")
    return {}
