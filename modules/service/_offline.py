# SPDX-License-Identifier: Apache-2.0
"""The services of a system that does not run: what starts with it is changed, and nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules import _paths
from runner.api.inits import init_of_files

KEPT = ("enable", "disable", "mask", "unmask")


def init() -> str:
    """Return the init that is to start this system."""
    return init_of_files(_paths.exists, _paths.realpath)


class AtRest:
    """A service manager that does not run, or what it has for a user. The rest is the manager's."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def status(self, name: str) -> bool:
        """False: nothing runs."""
        return False

    def get_running(self) -> list[str]:
        """None: nothing runs."""
        return []

    def log(self, name: str, since: float = 0) -> str:
        """Nothing: nothing runs."""
        return ""

    def reload_units(self) -> None:
        """Nothing: they are read when the system starts."""

    def act(self, name: str, action: str, options: Sequence[str] = ()) -> None:
        """Enable, disable, mask or unmask a service; what it would do to one that runs there is
        nothing to do. Raises CommandFailed.
        """
        if action in KEPT:
            self._manager.act(name, action, options)

    def of_user(self, user: str) -> AtRest:
        """The services of a user."""
        return AtRest(self._manager.of_user(user))
