# SPDX-License-Identifier: Apache-2.0
"""Which SLS files are checked together: each that no other one includes, with all that it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from runner.model.chunk import Request
from runner.pipeline.gathering import Gathered

Key = tuple[str, str]  # (env, sls)
Includes = Mapping[Key, Iterable[Key]]


def includers_first(includes: Includes, names: Mapping[Request, Iterable[Key]]) -> list[Request]:
    """The requests (with the SLS files that each means) so that what includes another one stands
    before it, save in a circle.
    """
    request_of: dict[Key, Request] = {}
    for request in names:
        request_of.setdefault((request.env, request.sls), request)
    seen: set[Key] = set()
    finished: list[Request] = []
    for start, request in request_of.items():
        following = iter([*names[request], *includes.get(start, ())])
        path = [] if start in seen else [(start, following)]
        while path:
            key, following = path[-1]
            seen.add(key)
            other = next((other for other in following if other not in seen), None)
            if other is not None:
                path.append((other, iter(includes.get(other, ()))))
                continue
            path.pop()
            if key in request_of:
                finished.append(request_of[key])
    return finished[::-1]


def reached(includes: Includes, starts: Iterable[Key]) -> set[Key]:
    """SLS files and all that they include."""
    met = set(starts)
    waiting = list(met)
    while waiting:
        new = [key for key in includes.get(waiting.pop(), ()) if key not in met]
        met.update(new)
        waiting += new
    return met


def outermost(units: Sequence[Gathered]) -> list[Gathered]:
    """The units that no other one contains, the largest first."""
    roots: list[Gathered] = []
    holders: dict[Key, list[Set[Key]]] = {}
    for unit in sorted(units, key=lambda unit: -len(unit[0].rendered)):
        keys = unit[0].rendered
        first = next(iter(keys), None)
        if first is None:
            contained = bool(roots)
        else:
            contained = any(keys <= other for other in holders.get(first, ()))
        if not contained:
            roots.append(unit)
            for key in keys:
                holders.setdefault(key, []).append(keys)
    return roots
