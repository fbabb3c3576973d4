# SPDX-License-Identifier: Apache-2.0
"""A look of a state, and what a dry run cannot know of what it comes to."""

from __future__ import annotations

from collections.abc import Generator
from types import GeneratorType

from runner.api import Plan, command_lines, first_plan, planning, running
from runner.engine import partial_changes
from runner.engine.context import Current, Run
from runner.model.chunk import Chunk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Literal

    from runner.api.doubts import Doubts

    Outcome = Literal["planned", "done", "failed"]


class Look:
    """A function that only looks, up to its Plan. doubts: what it cannot know; None where all is
    known.
    """

    def __init__(
        self, run: Run, chunk: Chunk, function: Callable[[], object], doubts: Doubts | None
    ) -> None:
        self.function, self.doubts = function, doubts
        self._run, self._chunk = run, chunk
        self.begun: Generator[Any, None, Any]

    def outcome(self) -> Any:
        """Return what the function returns."""
        if self.doubts is None:
            return self.function()
        with planning.doubting(self.doubts):
            return self.function()

    def first(self) -> Any:
        """Return what a state function yields first; it has `begun` then. Raises StopIteration with
        what it returns without that.
        """
        outcome = self.function() if self.doubts is None else self.outcome()
        if not (type(outcome) is GeneratorType or isinstance(outcome, Generator)):
            raise StopIteration(outcome)
        self.begun = outcome
        if self.doubts is None:
            return first_plan(outcome)
        with planning.doubting(self.doubts):
            return first_plan(outcome)

    def unsure(self, outcome: Outcome, plan: Plan | None = None) -> str:
        """The pending state after which the look may come to something else; empty when none. That
        it may fail is no other outcome, unless it is certain that something comes: trees are
        written for what their packages bring. plan: what it comes to now; of what surely comes
        another one may be what is to be changed.
        """
        if self.doubts is None or not self.doubts.by:
            return ""
        if self.doubts.is_read:
            return self.doubts.by
        same = (outcome,) if self.doubts.is_certain else (outcome, "failed")
        changed = plan.changes.keys() if plan and self.doubts.is_certain else None
        otherwise = (
            doubts.is_read
            or _kind_of(other) not in same
            or (changed and isinstance(other, Plan) and other.changes.keys() != changed)
            for doubts, other in self.others()
        )
        return self.doubts.by if any(otherwise) else ""

    def others(self) -> Iterator[tuple[Doubts, object]]:
        """Generate other worlds and what it comes to in them; a failure is an exception."""
        if self.doubts is None:
            return
        for world in sorted(self.doubts.worlds):
            doubts = self.doubts.instead(world)
            yield doubts, self._in_other_world(doubts)

    def _in_other_world(self, doubts: Doubts) -> object:
        stores = self._run.stores
        kept = stores.pop("cached_look", None)
        current = Current(self._run, self._chunk, dry=True)
        try:
            with running(current), planning.doubting(doubts):
                outcome = self.function()
                if not isinstance(outcome, Generator):
                    return outcome
                try:
                    return first_plan(outcome)
                finally:
                    outcome.close()
        except StopIteration as stop:
            return stop.value
        except partial_changes.NOT_THE_STATES:
            raise
        except BaseException as problem:
            return problem
        finally:
            stores.pop("cached_look", None)
            if kept is not None:
                stores["cached_look"] = kept


def _kind_of(outcome: object) -> Outcome:
    if isinstance(outcome, BaseException):
        return "failed"
    return "planned" if isinstance(outcome, Plan) else "done"


def asked(command: str, cwd: object, doubts: Doubts, exists: Callable[[str], bool]) -> str:
    """The pending state that may change what the command of a guard says; empty when none.

    exists: looks at a path.
    """
    about = command_lines.question(command, cwd if isinstance(cwd, str) else None)
    looks = doubts.instead("")
    with planning.doubting(looks):
        for path in about.paths:
            exists(path)
    return looks.by or doubts.of_program(command, about.of_packages, about.of_anything)


def teller(commands: Iterable[str], cwd: object, told: Mapping[str, str]) -> str:
    """The pending state after which a command of a guard says something else about what is in no
    file; empty when none. told: such states by words.
    """
    words = (
        word.removesuffix(".service")
        for command in commands
        for word in command_lines.told_by_programs(command, cwd if isinstance(cwd, str) else None)
    )
    return next((told[word] for word in words if word in told), "")
