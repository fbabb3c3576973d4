"""Who else can write what a run trusts: the configuration and the trees."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from runner.errors import Diagnostic


def problems(paths: Iterable[str], severity: str = "warning") -> list[Diagnostic]:
    """A diagnostic for each path that others than root and the caller can write, or replace through a folder above."""
    found = {}
    for path in filter(os.path.exists, paths):
        for each in _above(os.path.realpath(path)):
            if each not in found:
                found[each] = _complaint(each, path)
    told = [(path, message) for path, message in found.items() if message]
    return [Diagnostic(message, None, f"chmod go-w {path}", "permissions", severity) for path, message in told]


def _above(path: str) -> Iterator[str]:
    yield path
    while path != "/":
        path = os.path.dirname(path)
        yield path


def _complaint(path: str, trusted: str) -> str:
    try:
        at = os.stat(path)
    except OSError:
        return ""
    mine = at.st_uid in (0, os.geteuid())
    private = at.st_gid in (0, os.getegid())
    others = at.st_mode & (stat.S_IWOTH | (0 if private else stat.S_IWGRP))
    if at.st_mode & stat.S_ISVTX and stat.S_ISDIR(at.st_mode) and path != trusted:
        others = 0  # nobody can replace somebody else's entries there
    if mine and not others:
        return ""
    return f"others can write {path}, which this run trusts" + ("" if mine else f" (it belongs to user {at.st_uid})")
