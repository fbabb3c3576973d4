# SPDX-License-Identifier: Apache-2.0
"""The machine as it will be after the steps of an undo so far: why a dry run says what the real one
does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.history.snapshots import Snapshot, at
from runner.model.former_state import FormerState

# execution functions by their names, as the registry has them
Functions = Callable[[str], Callable[..., Any]]


class Foresight:
    """The future state of paths and of other parts of the machine."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self._paths: dict[str, Snapshot] = {}
        self._states: dict[tuple[str, str], Mapping[str, Any]] = {}

    def note(self, was: Snapshot | FormerState) -> None:
        """Note that something will be restored to what it was."""
        if isinstance(was, FormerState):
            self._states[was.kind, was.name] = was.state
        elif was.type == "moved":
            self._paths[was.path] = self.at(was.target)._replace(path=was.path)
            self._paths[was.target] = Snapshot(was.target, "none")
        else:
            self._paths[was.path] = was

    def state(self, kind: str, name: str) -> Mapping[str, Any]:
        """The future state of a thing; empty when it will not be there. name: empty for all of a
        kind, by name. kind: may be `path`.
        """
        if kind == "path":
            future = self.at(name)
            return {} if future.type == "none" else future._asdict()
        if (kind, name) in self._states:
            return self._states[kind, name]
        present: Mapping[str, Any] = self.functions("undo.look")(kind, name)
        if name:
            return present
        noted = {one: state for (of, one), state in self._states.items() if of == kind}
        return {one: state for one, state in {**present, **noted}.items() if state}

    def at(self, path: str) -> Snapshot:
        """The future state of a path."""
        return self._paths.get(path) or at(path)

    def is_folder(self, path: str) -> bool:
        """Return whether a path will be a folder, through links, too."""
        return self._paths[path].type == "dir" if path in self._paths else os.path.isdir(path)

    def is_unlocked(self, path: str) -> bool:
        """Return whether the attributes of a path are restored before it and let it be changed."""
        attributes = self._states.get(("attributes", path), {"chattr": "=ai"})
        return not {"a", "i"} & {*attributes["chattr"]}

    def inside(self, folder: str) -> Iterator[str]:
        """The paths that a folder will hold; of one that will be unmounted nothing is known."""
        if self._states.get(("mount", folder)) == {}:
            return
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for path in (os.path.join(folder, name) for name in names):
            if self.at(path).type != "none":
                yield path
