# SPDX-License-Identifier: Apache-2.0
"""Values that this machine keeps between runs; those of a dry run last for that run alone."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from modules._machine.cache_files import keep_text, load_text
from runner.api import StateFailed, fetcher, here, reason_of

NAME = "data.json"  # in the cache folder


def load() -> dict[str, Any]:
    """All values by their keys."""
    return dict(_stored())


items = load


def update(key: str, value: Any) -> bool:
    """Keep a value under a key.

    {% do salt['data.update']('app.token', token) %}
    """
    return _save({**_stored(), key: value})


def get(key: str | list[str], default: Any = None) -> Any:
    """The value of a key, else the default; of several keys, a list of those that are there.

    {{ salt['data.get']('app.token') }}
    """
    stored = _stored()
    if isinstance(key, list):
        return [stored[name] for name in key if name in stored]
    return stored.get(key, default)


getval = getvals = get


def cas(key: str, value: Any, old_value: Any) -> bool:
    """Keep a value if the key has the old value; whether it had."""
    stored = _stored()
    return key in stored and stored[key] == old_value and _save({**stored, key: value})


def pop(key: str, default: Any = None) -> Any:
    """Forget a key; its value, else the default."""
    stored = _stored()
    if key in stored:
        _save({name: value for name, value in stored.items() if name != key})
    return stored.get(key, default)


def has_key(key: str) -> bool:
    """Return whether there is a value under a key."""
    return key in _stored()


def has_value(value: Any) -> bool:
    """Return whether there is such a value under some key."""
    return value in _stored().values()


def keys() -> Iterable[str]:
    """The keys."""
    return list(_stored())


def values() -> Iterable[Any]:
    """The values."""
    return list(_stored().values())


def dump(new_data: Mapping[str, Any] | str) -> bool:
    """Keep these values in place of all that there were; whether they were a mapping (or its text).
    Raises StateFailed for a text that is not a mapping.
    """
    try:
        stored = ast.literal_eval(new_data) if isinstance(new_data, str) else new_data
    except (ValueError, SyntaxError):
        raise StateFailed(f"{new_data!r} is not a mapping", changes={}) from None
    return isinstance(stored, Mapping) and _save(dict(stored))


def clear() -> bool:
    """Forget all values."""
    return _save({})


def _stored() -> dict[str, Any]:
    store = here.store("data")
    if "values" not in store:
        store["values"] = _read()
    stored: dict[str, Any] = store["values"]
    return stored


def _read() -> Any:
    try:
        text = load_text(NAME)
        return {} if text is None else json.loads(text)
    except (OSError, ValueError) as problem:
        raise StateFailed(
            f"the data of this machine, {os.path.join(here.cache_dir, NAME)}, cannot be read:"
            f" {reason_of(problem)}"
        ) from None


@fetcher
def _save(stored: dict[str, Any]) -> bool:
    try:
        text = json.dumps(stored)
    except (TypeError, ValueError) as problem:
        raise StateFailed(f"this cannot be kept: {problem}") from None
    keep_text(NAME, text)
    here.store("data")["values"] = json.loads(text)
    return True
