# SPDX-License-Identifier: Apache-2.0
"""Which SLS files are checked together: each that no other one includes, with all that it does."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

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


_ENTRY = re.compile(r"\s*-\s+(\.*)((?:\{\{.*?\}\}|[^\s:#{])*)")
_IMPORT = re.compile(
    r"\{%[-+]?\s*(?:from|import|include|extends)\s+['\"](?:salt://|/)?(\.*)/?([^'\"]+)\.sls['\"]"
)
_EXPRESSION = re.compile(r"\{\{.*?\}\}")


def written(names: Collection[str], text_of: Callable[[str], str | None]) -> dict[str, set[str]]:
    """What the includes and imports of SLS files name as they are written, be it in a
    condition that does not hold here, or in part by an expression.
    """
    known = frozenset(names)
    return {
        sls: {
            each
            for dots, name in _entries(text_of(sls) or "")
            for each in _found(sls, dots, name, known)
        }
        for sls in names
    }


def parts(names: Collection[str], text_of: Callable[[str], str | None]) -> set[str]:
    """The SLS files that are a part of another one's template: Jinja imports or includes them."""
    known = frozenset(names)
    return {
        each
        for sls in names
        for dots, name in _IMPORT.findall(text_of(sls) or "")
        for each in _found(sls, dots, name, known)
    }


def _found(sls: str, dots: str, name: str, known: frozenset[str]) -> Iterator[str]:
    """What is named so in an SLS."""
    path = sls.split(".") if dots else []
    # of an init.sls a dot is its own folder
    for above in {max(len(dots) - 1, 0), len(dots)}:
        package = path[: max(len(path) - above, 0)]
        wanted = ".".join([*package, *filter(None, re.split(r"[./]", name))])
        names = {wanted, wanted.removesuffix(".init")}
        yield from fnmatch.filter(known, wanted) if "*" in wanted else known & names


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """The entries of the include of an SLS, and what its template imports: leading dots, and the
    name with * for what an expression gives.
    """
    yield from _IMPORT.findall(text)
    inside = False
    for line in text.splitlines():
        inside = line.startswith("include:") or (inside and line[:1] in ("", " ", "\t", *"-#{"))
        entry = _ENTRY.match(line) if inside else None
        if entry:
            yield entry[1], _EXPRESSION.sub("*", entry[2])


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
