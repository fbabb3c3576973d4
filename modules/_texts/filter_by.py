# SPDX-License-Identifier: Apache-2.0
"""Choosing an entry of a mapping: what grains.filter_by, pillar.filter_by and match.filter_by
share.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any

from modules.slsutil.merging import MISSING, copied, update
from runner.api import RunnerError


def by_value(
    lookup: Mapping[str, Any],
    value: Any,
    merge: Mapping[str, Any] | None,
    default: str,
    base: str | None,
) -> Any:
    """The entry whose key a value (or one of a list of values) has or, as a glob, matches; see
    `laid`.
    """
    for candidate in value if isinstance(value, list) else [value]:
        for key in lookup:
            if key == candidate or (isinstance(key, str) and _matches(str(candidate), key)):
                return lay_over(lookup, lookup[key], merge, default, base)
    return lay_over(lookup, MISSING, merge, default, base)


def _matches(text: str, pattern: str) -> bool:
    """Return whether a text is what a pattern says; a pattern without marks is not made a regular
    expression.
    """
    return (
        fnmatch.fnmatchcase(text, pattern)
        if any(mark in pattern for mark in "*?[")
        else text == pattern
    )


def lay_over(
    lookup: Mapping[str, Any],
    entry: Any,
    merge: Mapping[str, Any] | None,
    default: str,
    base: str | None,
) -> Any:
    """Lay an entry (else the default's) over the base's entry, and `merge` over both;
    `lookup` is not changed.

    Raises RunnerError when `merge`, or what is to be laid over the base, is not a mapping.
    """
    if entry is MISSING or entry is None:
        entry = lookup.get(default)
    result = copied(entry)
    if base and base in lookup:
        under = copied(lookup[base])
        if result is None:
            result = under
        elif isinstance(under, Mapping):
            if not isinstance(result, Mapping):
                raise RunnerError("filter_by default and look-up values must both be dictionaries.")
            result = update(under, result)
    if merge:
        if not isinstance(merge, Mapping):
            raise RunnerError(
                "filter_by merge argument must be a dictionary.", hint=f"it was given {merge!r}"
            )
        result = copied(merge) if result is None else update(result, copied(merge))
    return result
