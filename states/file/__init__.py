"""The file state. Each function has a file of its own, imported when a tree uses it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

FUNCTIONS = {
    "absent": "absent",
    "append": "append",
    "copy": "copy",
    "directory": "directory",
    "exists": "exists",
    "managed": "managed",
    "missing": "missing",
    "prepend": "prepend",
    "recurse": "recurse",
    "rename": "rename",
    "replace": "replace",
    "symlink": "symlink",
    "touch": "touch",
}
# what changes something in each run by its nature
UNCONVERGING = {
    "touch": "it sets the times of the file in each run",
    "copy": "with force it copies in each run",
}


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{FUNCTIONS[name]}")
    found: Callable[..., Any] = getattr(module, name)
    return found


def __dir__() -> list[str]:
    return [*FUNCTIONS, "UNCONVERGING"]
