# SPDX-License-Identifier: Apache-2.0
"""What a thing becomes when a run is undone and others have changed it since: what the run changed
goes back, what they changed stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

State = Mapping[str, Any]


def merged(was: State, left: State, now: State) -> State | None:
    """The state to restore; None where others changed the very thing that the run did.

    was: before the run. left: as the run left it. now: the present state.

    >>> merged({"shell": "sh", "home": "/a"}, {"shell": "zsh", "home": "/a"},
    ...        {"shell": "zsh", "home": "/b"})
    {'shell': 'sh', 'home': '/b'}
    """
    if now == left:
        return was
    if not (was and left and now):
        return None
    goal = {}
    for key in now:
        value = _value(was.get(key), left.get(key), now[key])
        if value is None:
            return None
        goal[key] = value[0]
    return goal


def _value(was: Any, left: Any, now: Any) -> tuple[Any] | None:
    """One value of the state to restore, in a tuple; None where there is none."""
    if now == left:
        return (was,)
    if was == left:
        return (now,)
    if isinstance(was, list) and isinstance(left, list) and isinstance(now, list):
        lines = _lines(was, left, now)
        return None if lines is None else (lines,)
    return None


def _lines(was: list[str], left: list[str], now: list[str]) -> list[str] | None:
    """A list without what the run added, and with what it removed in its old place; None where
    what it added is no longer there, or what it removed is there again.
    """
    added, removed = Counter(left) - Counter(was), Counter(was) - Counter(left)
    if added - Counter(now) or removed & Counter(now):
        return None
    lines = list(now)
    for line in added.elements():
        lines.remove(line)
    for number, line in enumerate(was):
        if removed[line]:
            removed[line] -= 1
            before = was[number - 1] if number else None
            lines.insert(lines.index(before) + 1 if before in lines else 0, line)
    return lines
