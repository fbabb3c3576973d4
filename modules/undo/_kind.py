# SPDX-License-Identifier: Apache-2.0
"""What undo has to know of a kind of FormerState."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.api import Record

State = Mapping[str, Any]  # empty: it is not there
Change = tuple[State, State]  # what it was before the run, what it is now
Changes = Mapping[str, Change]  # by name
Future = Callable[[str, str], State]  # (kind, name) -> its state after what is restored before

ABSENT: State = {}


def no_refusals(changes: Changes, future: Future) -> dict[str, str]:
    """Nothing stands in the way as far as one can know."""
    return {}


def no_notes(changes: Changes) -> dict[str, str]:
    """All will be as it was."""
    return {}


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
    refusals: Callable[[Changes, Future], dict[str, str]] = no_refusals
    notes: Callable[[Changes], dict[str, str]] = no_notes
    private: bool = False
    part_of: str = ""
    along: tuple[str, ...] = ()
    can_react: Callable[[State], bool] = bool
