# SPDX-License-Identifier: Apache-2.0
"""Versions by Arch's rules, as vercmp(8) has them: `[epoch:]version[-release]`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_SEGMENT = re.compile(r"([^0-9a-zA-Z]*)([0-9]+|[a-zA-Z]+|\Z)")


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1: how one version compares with another.

    Where only one of them has a release, releases do not count: 1.2 is what 1.2-3 is.
    """
    if left == right:
        return 0
    old, new = _parts(left), _parts(right)
    pairs = list(zip(old, new, strict=True))
    if not old[2] or not new[2]:
        del pairs[2]
    return next((order for one, two in pairs if (order := _compare_part(one, two))), 0)


def newest_first(versions: Iterable[str]) -> list[str]:
    """Return versions without repetitions, the newest first."""
    return sorted(dict.fromkeys(versions), key=functools.cmp_to_key(compare), reverse=True)


def _parts(version: str) -> tuple[str, str, str]:
    """Return epoch ("0" when there is none), version and release ("" when there is none)."""
    epoch, colon, rest = version.partition(":")
    if not colon or not (epoch.isdecimal() or not epoch):
        epoch, rest = "0", version
    upstream, dash, release = rest.rpartition("-")
    return (epoch or "0", upstream, release) if dash else (epoch or "0", rest, "")


def _compare_part(left: str, right: str) -> int:
    """Compare segment by segment: runs of digits as numbers, runs of letters as texts."""
    if left == right:
        return 0
    one, two = (_SEGMENT.findall(part) for part in (left, right))
    for (gap, segment), (other_gap, other_segment) in zip(one, two, strict=False):
        if not segment or not other_segment:
            return _compare_ends((gap, segment), (other_gap, other_segment))
        if len(gap) != len(other_gap):
            return -1 if len(gap) < len(other_gap) else 1
        if order := _compare_segments(segment, other_segment):
            return order
    return 0


def _compare_segments(one: str, two: str) -> int:
    if one.isdecimal() != two.isdecimal():  # a number is newer than letters
        return 1 if one.isdecimal() else -1
    if one.isdecimal():
        return (int(one) > int(two)) - (int(one) < int(two))
    return (one > two) - (one < two)


def _compare_ends(one: tuple[str, str], two: tuple[str, str]) -> int:
    """Compare where one version has ended: letters that follow at once are a preview of it
    (1.0rc is older than 1.0), anything else makes the longer one newer.
    """
    if one == two:
        return 0
    if not any(one):
        return 1 if not two[0] and two[1].isalpha() else -1
    if not any(two):
        return -1 if not one[0] and one[1].isalpha() else 1
    # both go on with what only separates; then one has ended
    if not one[1] and not two[1]:
        return 0
    longer, order = (one[1], 1) if one[1] else (two[1], -1)
    return -order if longer.isalpha() else order
