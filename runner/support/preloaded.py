# SPDX-License-Identifier: Apache-2.0
"""What children of one process have executed of runner and of Python's own modules, executed once
for all children to come: that is most of what a small task of a child takes.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from runner.support.own_modules import executed

LIBRARY = frozenset(["runner", "states", "modules", "networkx"]) | sys.stdlib_module_names


def executed_names() -> set[str]:
    """The modules that this process has executed; not those of a tree, which may change."""
    return {
        name for name in list(sys.modules) if name.partition(".")[0] in LIBRARY and executed(name)
    }


def execute(names: Iterable[str]) -> None:
    """Execute modules, in this process and so for its children."""
    for name in names:
        if not executed(name) and name.partition(".")[0] in LIBRARY:
            with suppress(Exception):  # the child that needs it reports it
                vars(importlib.import_module(name))  # executes it


class Used:
    """What a child has executed, as its parent learns when that has ended."""

    def __init__(self) -> None:
        self._before = executed_names()
        self._noted = os.memfd_create("modules")

    def note(self) -> None:
        """Tell the parent, in a child."""
        names = " ".join(executed_names() - self._before)
        os.pwrite(self._noted, names.encode(), 0)

    def execute(self) -> bool:
        """Execute what the last child has noted; returns whether there was anything new."""
        names = os.pread(self._noted, 1 << 20, 0).decode().split()
        if not names:
            return False
        os.ftruncate(self._noted, 0)
        execute(names)
        self._before.update(names)
        return True
