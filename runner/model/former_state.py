# SPDX-License-Identifier: Apache-2.0
"""The state of a part of the machine that is no path: a user, a service, the installed packages."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


class FormerState(Record):
    """The state of a part of the machine before a change, as a changer's `before` records it for
    undo.

    kind: a row of `KINDS` in modules/undo. name: which one of its kind; empty: all of them, and
    `state` maps their names to their states. state: what it takes to restore it, as JSON can write
    it; empty when it was not there. private: only undo ever sees the state.
    """

    kind: str
    name: str
    state: Mapping[str, Any]
    private: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()

    def shown(self) -> dict[str, Any]:
        """This state for the history; of all of a kind only that."""
        named = {"kind": self.kind, "name": self.name}
        return named if self.private or not self.name else {**named, "state": self.state}


_recorded: ContextVar[bool] = ContextVar("recorded", default=False)


@contextmanager
def recorded(was: object) -> Iterator[bool]:
    """Yield whether undo can restore what is changed inside: its former state was recorded, by
    itself or by the changer that calls it. was: what it recorded; None: nothing.
    """
    outer = _recorded.set(_recorded.get() or was is not None)
    try:
        yield _recorded.get()
    finally:
        _recorded.reset(outer)
