"""The grains, as templates and states ask for them."""

from __future__ import annotations

import copy
import fnmatch
from collections.abc import Mapping
from typing import Any

from modules._data import MISSING, merged, traverse
from runner.api import RunnerError, here


def get(key: str, default: Any = "", delimiter: str = ":", ordered: bool = True) -> Any:
    """The value of a grain, nested ones as `a:b`.

    {{ salt['grains.get']('ip4_interfaces:eth0', []) }}
    """
    first = key.split(delimiter)[0]
    if key in here.grains:
        return here.grains[key]
    data = {first: here.grains[first]} if first in here.grains else {}
    return traverse(data, key, default, delimiter)


def item(*args: str, default: Any = "", delimiter: str = ":") -> dict[str, Any]:
    """Several grains at once."""
    return {key: get(key, default, delimiter) for key in args}


def items(sanitize: bool = False) -> dict[str, Any]:
    """All grains."""
    return dict(here.grains)


def ls() -> list[str]:
    """The names of all grains."""
    return sorted(here.grains)


def has_value(key: str) -> bool:
    """Whether a grain is there and not empty."""
    return bool(get(key, ""))


def equals(key: str, value: Any) -> bool:
    """Whether a grain has a value."""
    return str(value) == str(get(key))


def fetch(key: str, default: Any = "", delimiter: str = ":") -> Any:
    """Like get."""
    return get(key, default, delimiter)


def filter_by(
    lookup_dict: Mapping[str, Any],
    grain: str = "os_family",
    merge: Mapping[str, Any] | None = None,
    default: str = "default",
    base: str | None = None,
) -> Any:
    """The entry of a mapping that a grain selects (globs in the keys are matched).

    grain: the grain to look at. merge: laid over what was found. default: the key to use when none fits.
    base: the key of an entry that what was found is laid over. Raises RunnerError when `merge` is no mapping.

        {% set nginx = salt['grains.filter_by']({'Debian': {'pkg': 'nginx'}}, merge=pillar.get('nginx')) %}
    """
    values = get(grain, None)
    found = None
    for value in values if isinstance(values, list) else [values]:
        found = _selected(lookup_dict, value)
        if found is not MISSING:
            break
    if found is MISSING or found is None:
        found = lookup_dict.get(default)
    result = copy.deepcopy(found)
    if base and base in lookup_dict:
        result = lookup_dict[base] if result is None else merged(copy.deepcopy(lookup_dict[base]), result)
    if merge:
        if not isinstance(merge, Mapping):
            raise RunnerError("filter_by merge argument must be a dictionary.")
        result = dict(merge) if result is None else merged(result, merge)
    return result


def _selected(lookup: Mapping[str, Any], value: Any) -> Any:
    if value in lookup:
        return lookup[value]
    for key in lookup:
        if isinstance(key, str) and isinstance(value, str) and fnmatch.fnmatchcase(value, key):
            return lookup[key]
    return MISSING
