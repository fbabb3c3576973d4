# SPDX-License-Identifier: Apache-2.0
"""Carrying a state function out on a planned machine of its own, which nobody else sees."""

from __future__ import annotations

from collections.abc import Callable, Generator, MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from runner.api import StateFailed, first_plan, running
from runner.api.planning import Unforeseen, changes_planned

if TYPE_CHECKING:
    from runner.api import Here


class Apart:
    """The current run, for a state that is only tried: what it plans and what it says is kept from
    the run.
    """

    dry = True

    def __init__(self) -> None:
        self.outer: Here | None = None  # the run itself
        self._stores: dict[str, MutableMapping[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.outer, name)

    def store(self, name: str) -> MutableMapping[Any, Any]:
        if name not in self._stores:
            self._stores[name] = copied(self.outer.store(name)) if self.outer else {}
        return self._stores[name]

    def clean(self) -> None:
        return None  # they are the run's

    def warn(self, message: str, unless: object = None) -> None:
        return None

    def follows(self, *facts: str) -> None:
        return None


def copied(value: Any) -> Any:
    """A copy that can be altered without altering the value: of what holds others, and of what says
    by `copied` how it is copied.
    """
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list | set):
        return value.copy()
    return value.copied() if hasattr(type(value), "copied") else value


def tried_apart(look: Callable[[], object]) -> None:
    """Carry a state function out on a planned machine of its own, as far as that can be
    foreseen. look: calls it.
    """
    apart = Apart()
    with running(cast("Here", apart)) as apart.outer, suppress(StateFailed, Unforeseen):
        outcome = look()
        if not isinstance(outcome, Generator):
            return
        with suppress(StopIteration):
            first_plan(outcome)
            with changes_planned():
                next(outcome)
