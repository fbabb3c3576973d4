"""The pillar, as templates and states ask for it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from modules._data import MISSING, merged, traverse
from runner.api import RunnerError, here


def get(
    key: str,
    default: Any = MISSING,
    merge: bool = False,
    merge_nested_lists: bool | None = None,
    delimiter: str = ":",
    pillarenv: str | None = None,
    saltenv: str | None = None,
) -> Any:
    """The value of a key, nested ones as `a:b`.

    default: what to return when it is not there ("" without one). merge: lay the value over the default.
    merge_nested_lists: join lists while merging. Raises RunnerError for a missing key with pillar_raise_on_missing.

        {{ salt['pillar.get']('nginx:port', 80) }}
    """
    value = traverse(here.pillar, key, MISSING, delimiter) if key else dict(here.pillar)
    if value is MISSING:
        if default is MISSING and here.opts.get("pillar_raise_on_missing"):
            raise RunnerError(f"Pillar key not found: {key}")
        return "" if default is MISSING else default
    if merge and default is not MISSING and default is not None:
        lists = True if merge_nested_lists is None else merge_nested_lists
        if isinstance(default, Mapping) and isinstance(value, Mapping):
            return merged(copy.deepcopy(default), value, "smart", lists)
        if isinstance(default, list) and isinstance(value, list):
            return [*default, *value]
    return value


def items(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The whole pillar."""
    return dict(here.pillar)


data = items


def raw(key: str | None = None) -> Any:
    """A top-level key of the pillar, or all of it."""
    return here.pillar.get(key, {}) if key else dict(here.pillar)


def item(*keys: str, default: Any = "", delimiter: str = ":") -> dict[str, Any]:
    """Several keys at once."""
    return {key: traverse(here.pillar, key, default, delimiter) for key in keys}


def keys(key: str, delimiter: str = ":") -> list[str]:
    """The keys of a mapping in the pillar. Raises RunnerError when it is none."""
    value = traverse(here.pillar, key, MISSING, delimiter)
    if not isinstance(value, Mapping):
        raise RunnerError(f"Pillar key not found or no mapping: {key}")
    return list(value)


def ls(*args: Any) -> list[str]:
    """The top-level keys of the pillar."""
    return list(here.pillar)


def fetch(key: str, default: Any = MISSING, delimiter: str = ":") -> Any:
    """Like get, without merging."""
    return get(key, default, delimiter=delimiter)
