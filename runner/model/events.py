# SPDX-License-Identifier: Apache-2.0
"""The events that the engine emits."""

from __future__ import annotations

from runner.model.chunk import Chunk
from runner.model.places import Value
from runner.model.records import Record
from runner.model.result import Report, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.errors import Diagnostic


class RunStarted(Record):
    total: int
    dry: bool
    run: str = ""


class StateStarted(Record):
    chunk: Chunk
    number: int


class StatePlanned(Record):
    chunk: Chunk
    changes: Mapping[str, Value]
    comment: str


class ChangerCalled(Record):
    """A function is about to alter the machine."""

    function: str
    target: str
    before: object  # what was there before, as the function's own look tells it
    chunk: Chunk | None = None
    for_undo: object = None  # `before` with its secrets; for the history, which shows it nowhere
    restorable: bool = False  # undo knows how to restore what this call changes
    waits: bool = False  # for its place, which is announced to the history with that of others


class StateFinished(Record):
    result: Result


class CustomEvent(Record):
    """An event of `fire_event` or event.send."""

    tag: str
    data: Mapping[str, Value]


class RunFinished(Record):
    report: Report


class Warned(Record):
    """Warnings beside the results: of compiling, of the machine, of the run.

    of_tree: they are the same in each run until somebody changes the tree.
    """

    problems: tuple[Diagnostic, ...]
    of_tree: bool = False


class CycleFound(Record):
    """The tree has a cycle. A listener that draws it where it can be looked at adds the path."""

    picture: Mapping[str, Value]
    title: str
    drawn_in: list[str]


Event = (
    RunStarted
    | StateStarted
    | StatePlanned
    | ChangerCalled
    | StateFinished
    | CustomEvent
    | RunFinished
    | Warned
    | CycleFound
)
OF_RESULTS = (StateFinished, RunStarted, RunFinished)  # whose results show no secrets
