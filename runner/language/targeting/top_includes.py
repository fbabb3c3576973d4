# SPDX-License-Identifier: Apache-2.0
"""The `include:` of a top file: more top files, by the names of their SLS.

Behaviour: Salt's, except that a name which means no SLS is an error.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.model.places import JoinedMap, Place, Untyped, item_place, key_place, value_place

Names = Callable[[str], Sequence[str]]  # environment -> the names of its SLS files
Read = Callable[[str, str], Any]  # (SLS, environment) -> a rendered file, whose `value` it is
ReadTop = Callable[[str], Any]


def including(
    read_top: ReadTop,
    names: Names,
    read: Read,
    note: Callable[[tuple[str, str]], None] = lambda top_file: None,
) -> ReadTop:
    """A reader of top files that adds what they include; of two lines for one target the later one
    counts.

    note: is told each (SLS, environment) that is a top file so.
    """

    def whole(env: str) -> Any:
        value = read_top(env)
        if not isinstance(value, Mapping) or "include" not in value:
            return value
        start = getattr(value, "place", Place(Untyped("top.sls"), 1, 1))
        joined = JoinedMap(start)
        _lay(joined, value, start)
        for sls in _included(value, env, names(env), start):
            note((sls, env))
            more = read(sls, env).value
            if isinstance(more, Mapping):
                _lay(joined, more, getattr(more, "place", start))
        return joined

    return whole


def _included(value: Mapping[str, Any], env: str, names: Sequence[str], start: Place) -> list[str]:
    listed = value["include"]
    place = value_place(value, "include", start)
    if not isinstance(listed, list):
        hint = f"write\n    include:\n      - {listed}" if isinstance(listed, str) else None
        raise CompileError(
            [Diagnostic("the include of a top file is not a list", place.source, hint, "top")]
        )
    included: dict[str, None] = {}
    for number, name in enumerate(listed):
        fitting = fnmatch.filter(names, name) if isinstance(name, str) else []
        if not fitting:
            where = item_place(listed, number, place).source
            message = f"the top file includes {name!r}, which names no SLS in saltenv {env!r}"
            raise CompileError(
                [
                    Diagnostic(
                        message, where, "write it as other SLS: `a.b` is a/b.sls", "missing-sls"
                    )
                ]
            )
        included.update(dict.fromkeys(fitting))
    return list(included)


def _lay(joined: JoinedMap, top: Mapping[str, Any], default: Place) -> None:
    """Add the sections of one top file; targets of the same section stand together."""
    for name, section in top.items():
        place = key_place(top, name, default)
        before = joined.get(name)
        if name == "include":
            continue
        if isinstance(before, Mapping) and isinstance(section, Mapping):
            both = JoinedMap(joined.key_place(name))
            both.take(before, joined.key_place(name))
            both.take(section, place)
            section = both
        joined[name] = section
        joined.places.setdefault(name, (place, value_place(top, name, default)))
        joined.at[name] = (*joined.start, *joined.start)
