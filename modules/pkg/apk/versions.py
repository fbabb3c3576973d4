# SPDX-License-Identifier: Apache-2.0
"""Versions by the rules of apk: numbers, one letter, suffixes, a revision (`1.2b_rc1-r3`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_TOKEN = re.compile(
    r"(?P<number>(?:^|\.)\d+)|_(?P<suffix>[a-z]+)(?P<count>\d*)|-r(?P<revision>\d+)"
    r"|~(?P<commit>[0-9a-f]+)|(?P<letter>[a-z])"
)
PREVIEWS = ("alpha", "beta", "pre", "rc")  # older than the version without a suffix
PATCHES = ("cvs", "svn", "git", "hg", "p")  # newer than it
# what may follow at one place, from the oldest to the newest
_PREVIEW, _END, _REVISION, _COMMIT, _COUNT, _PATCH, _LETTER, _NUMBER = range(8)
_Token = tuple[int, int, str]


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1: how one version compares with another."""
    old, new = sort_key(left), sort_key(right)
    return (old > new) - (old < new)


def newest_first(versions: Iterable[str]) -> list[str]:
    """Return versions without repetitions, the newest first."""
    return sorted(dict.fromkeys(versions), key=functools.cmp_to_key(compare), reverse=True)


def sort_key(version: str) -> list[_Token]:
    """Return what a version is sorted by: its tokens; what is no version at all comes first."""
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(version):
        kind, text = match.lastgroup, match[match.lastgroup or 0]
        if kind == "number":
            tokens += _number(text)
        elif match["suffix"]:
            tokens += _suffix(match["suffix"], match["count"])
        elif kind == "revision":
            tokens.append((_REVISION, int(text), ""))
        elif kind == "commit":
            tokens.append((_COMMIT, 0, text))
        else:
            tokens.append((_LETTER, 0, text))
    return [*tokens, (_END, 0, "")]


def _number(text: str) -> list[_Token]:
    """Return a number; behind a dot, zeros in front of it make it smaller the more there are."""
    digits = text.removeprefix(".")
    if text.startswith(".") and digits.startswith("0"):
        rest = digits.lstrip("0")
        zeros = len(digits) - len(rest)
        return [(_NUMBER, -zeros, ""), *([(_NUMBER, int(rest), "")] if rest else [])]
    return [(_NUMBER, int(digits), "")]


def _suffix(name: str, count: str) -> list[_Token]:
    if name in PREVIEWS:
        first = (_PREVIEW, PREVIEWS.index(name), "")
    else:
        first = (_PATCH, PATCHES.index(name) if name in PATCHES else len(PATCHES), name)
    return [first, *([(_COUNT, int(count), "")] if count else [])]
