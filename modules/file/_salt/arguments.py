# SPDX-License-Identifier: Apache-2.0
"""Arguments that several of Salt's functions of files take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from runner.api import StateFailed


def path_given(path: str) -> str:
    """The path of a call, which has to be absolute. Raises StateFailed for another one."""
    path = os.path.expanduser(path)
    if not os.path.isabs(path):
        raise StateFailed(f"File path must be absolute: {path}")
    return path


def lines_given(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """The lines of a call, each with its end. Raises StateFailed for an argument that it does not
    have.
    """
    unknown = [key for key in kwargs if key != "args"]
    if unknown:
        raise StateFailed(
            f"there is no argument {unknown[0]!r}: lines are given by their place, or as `args`"
        )
    typed = kwargs.get("args", args)
    return [f"{line}\n" for line in (typed if isinstance(typed, list | tuple) else [typed])]
