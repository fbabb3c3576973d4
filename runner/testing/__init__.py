# SPDX-License-Identifier: Apache-2.0
"""Tests of a tree, written in Python: a machine to try it on, and what came of that.

`plugin.py` is the plug-in of pytest with the fixture `machine`; it is loaded by every pytest of an
environment with runner, so that it and this page import nothing else until a test asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.testing import laws, machine

if TYPE_CHECKING:
    from runner.testing.laws import check_laws
    from runner.testing.machine import File, Machine, Output, Run, State

__all__ = ["File", "Machine", "Output", "Run", "State", "check_laws"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(laws if name == "check_laws" else machine, name)
