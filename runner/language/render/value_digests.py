# SPDX-License-Identifier: Apache-2.0
"""Digests of plain data, of which equal values of the same types have the same."""

from __future__ import annotations

import marshal
from collections import OrderedDict

from runner.model.places import PlacedList, PlacedMap
from runner.model.stdlib import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DATES = ("date", "datetime")  # which YAML makes


def digest(value: Any) -> bytes | None:
    """The digest of a value; None for one with anything in it but plain data."""
    data = written(value)
    return None if data is None else digest_of(data)


def written(value: Any) -> bytes | None:
    """A value as bytes, which are the same for equal ones; None as of `digest`."""
    try:
        return marshal.dumps(value, 0)  # version 0 knows no references
    except ValueError:
        pass
    try:
        return marshal.dumps(_plain(value), 0)
    except (ValueError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    """A value with mappings and lists of other types as plain ones that say their types. Raises
    ValueError for anything else.
    """
    kind = type(value)
    if kind in (str, int, float, bool, bytes, type(None)):
        return value
    if kind in (dict, OrderedDict) or isinstance(value, PlacedMap):
        return kind.__name__, [(_plain(key), _plain(item)) for key, item in value.items()]
    if kind in (list, tuple) or isinstance(value, PlacedList):
        return kind.__name__, [_plain(item) for item in value]
    if kind.__name__ in _DATES and kind.__module__ == "datetime":
        return kind.__name__, repr(value)
    raise ValueError(kind)
