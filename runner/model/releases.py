# SPDX-License-Identifier: Apache-2.0
"""The release of this program, and those that state functions and their arguments came with."""

from __future__ import annotations

import os
from functools import cache

from runner import __version__

TABLE = "releases.txt"
NEXT = f"the release after {__version__}"


def since(function: str, argument: str = "") -> str:
    """The release that a state function of the library, or an argument of it, came with."""
    return _kept().get(f"{function} {argument}".rstrip(), NEXT)


def setting_since(name: str) -> str:
    """The release that a key of the configuration came with."""
    return _kept().get(f": {name}", NEXT)


@cache
def _kept() -> dict[str, str]:
    """By "function", "function argument" and ": setting" the release that has it first."""
    kept: dict[str, str] = {}
    release = ""
    with open(os.path.join(os.path.dirname(__file__), TABLE), encoding="utf-8") as table:
        lines = [line.split() for line in table]
    for first, *more in filter(None, lines):
        if first == "##":
            release = more[0]
        elif first != "#":
            for name in (first, *(f"{first} {each}" for each in more)):
                kept.setdefault(name, release)
    return kept


def version() -> str:
    """The version of this program, with the commit that it was built from where that is known."""
    commit = ""
    try:
        with open(os.path.join(os.path.dirname(__file__), "../commit.txt")) as file:
            commit = file.read().strip()
    except OSError:  # not built: a checkout that runs as it is
        pass
    return f"{__version__} (commit {commit})" if commit else __version__
