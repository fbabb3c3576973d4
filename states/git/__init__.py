# SPDX-License-Identifier: Apache-2.0
"""Git repositories. Each function has a file of its own, imported when a tree uses it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

FUNCTIONS = {
    "cloned": "cloned",
    "config_set": "config",
    "config_unset": "config",
    "detached": "detached",
    "latest": "latest",
    "present": "present",
}


def autorequire(
    name: str,
    target: str | None = None,
    user: str | None = None,
    identity: object = None,
    **_: object,
) -> Iterator[tuple[str, str]]:
    """A clone comes after the folders above it, its user, its keys and git itself."""
    yield "pkg", "git"
    if user:
        yield "user", user
    above = (target or "").rstrip("/").rpartition("/")[0]
    while above:
        yield "file", above
        above = above.rpartition("/")[0]


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{FUNCTIONS[name]}")
    function: Callable[..., Any] = getattr(module, name)
    return function


def __dir__() -> list[str]:
    return [*FUNCTIONS, "autorequire"]
