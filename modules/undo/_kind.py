# SPDX-License-Identifier: Apache-2.0
"""What undo has to know of a kind of FormerState."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.api import FormerState, Record

State = Mapping[str, Any]  # empty: it is not there
Change = tuple[State, State]  # what it was before the run, what it is now
Changes = Mapping[str, Change]  # by name
Future = Callable[[str, str], State]  # (kind, name) -> its state after what is restored before

ABSENT: State = {}


class UndoKind(Record):
    """How a kind of FormerState is looked at and restored.

    look: the present state by name. restore: brings all of these changes back, by changers of the
    modules. refusals: why some cannot be, by name. notes: what of some will not be as it was.
    private: nobody else sees the state. part_of: the kind whose thing of the same name it comes and
    goes with. along: the kinds that a change of it may change, too. can_react: whether something in
    this state may react to what it watches.
    """

    look: Callable[[str], State]
    restore: Callable[[Changes], None]
    refusals: Callable[[Changes, Future], dict[str, str]] = lambda changes, future: {}
    notes: Callable[[Changes], dict[str, str]] = lambda changes: {}
    private: bool = False
    part_of: str = ""
    along: tuple[str, ...] = ()
    can_react: Callable[[State], bool] = bool


def one_by_one(
    look: Callable[[str], FormerState | State],
    restore: Callable[[str, State, State], object],
    refusal: Callable[[str, State, State, Future], str] = lambda name, was, now, future: "",
    note: Callable[[str, State, State], str] = lambda name, was, now: "",
    **further: Any,
) -> UndoKind:
    """A kind whose things are restored one after the other, each from its name, what it was and
    what it is now. refusal, note: of one; empty for none.
    """

    def state(name: str) -> State:
        found = look(name)
        return found.state if isinstance(found, FormerState) else found

    def restore_all(changes: Changes) -> None:
        for name, (was, now) in changes.items():
            restore(name, was, now)

    def refusals(changes: Changes, future: Future) -> dict[str, str]:
        told = {name: refusal(name, was, now, future) for name, (was, now) in changes.items()}
        return {name: why for name, why in told.items() if why}

    def notes(changes: Changes) -> dict[str, str]:
        told = {name: note(name, was, now) for name, (was, now) in changes.items()}
        return {name: what for name, what in told.items() if what}

    return UndoKind(state, restore_all, refusals, notes, **further)
