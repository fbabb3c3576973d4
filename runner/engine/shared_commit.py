# SPDX-License-Identifier: Apache-2.0
"""States whose files get their names together, after one sync of all (`files/group_commit.py`).

Such a state has done its work but for the rename, and ends with the others. That nobody can tell:
only states that look at nothing but their own file are among them (ABOUT_ONE_FILE of their module),
none that needs another one of them, and those that have many files (WRITES_MANY), each of which
they ask about before they look at it. Whatever else follows comes after the commit.
"""

from __future__ import annotations

import time
from contextlib import suppress

from runner.api import StateFailed
from runner.engine.loader import hooks
from runner.engine.step import RunPlan, Step
from runner.model.chunk import Chunk, Edges
from runner.model.errors import RunnerError
from runner.model.result import Result
from runner.support.files.group_commit import GROUP_COMMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

LONGEST_WAIT = 0.25  # seconds that a file waits for others


class SharedCommit:
    """The states that are done but for the names of their files."""

    def __init__(
        self, plan: RunPlan, alone: bool, ask: Callable[[Chunk], AbstractContextManager[object]]
    ) -> None:
        """alone: no state shares a commit: something happens between any two of them. ask: where
        the module of a state looks at the machine.
        """
        self._plan, self._ask = plan, ask
        self._asked = -1, ""  # the state that was asked for its file last, and its answer
        self._alone = alone or plan.failhard or plan.verify or bool(plan.relations.looks)
        self.waiting: dict[int, Result] = {}
        self._since = 0.0

    @property
    def is_full(self) -> bool:
        """Return whether no further state is to be waited for: the last one has failed, or there is
        no room.
        """
        last = next(reversed(self.waiting.values()))
        return last.result is not True or not GROUP_COMMIT.has_room

    def takes(self, position: int, path: str) -> bool:
        """Return whether the files of a state may get their names later. path: `file_of` it."""
        return not self._alone and (bool(path) or self._plan.steps[position].writes_many)

    def file_of(self, position: int) -> str:
        """The file that a state is about as things are at its turn; empty where it is more than
        one.
        """
        if self._asked[0] != position:
            step = self._plan.steps[position]
            path = "" if self._alone or step.call is None else step.one_file
            its_file = path and step.call and step.call.function.hook("its_file")
            self._asked = position, self._told(step, its_file) if callable(its_file) else path
        return self._asked[1]

    def _told(self, step: Step, its_file: Callable[..., str]) -> str:
        """The answer of a module; empty where the state will fail."""
        assert step.call is not None
        with self._ask(step.chunk), suppress(StateFailed, RunnerError):
            return str(hooks.answer_of(its_file, "its_file", step.chunk, step.call.own_arguments))
        return ""

    def admits(self, position: int, edges: Edges) -> bool:
        """Return whether a state may run before those that wait have ended."""
        path = self.file_of(position)
        return (
            self.takes(position, path)
            and time.monotonic() - self._since < LONGEST_WAIT
            and (not edges.groups or self._need_none(edges))
            and (self._plan.steps[position].writes_many or GROUP_COMMIT.may_follow(path))
        )

    def _need_none(self, edges: Edges) -> bool:
        """Return whether requisites name none of the states that wait."""
        return all(self.waiting.keys().isdisjoint(group.targets) for group in edges.groups)

    def holds(self, position: int) -> bool:
        """Return whether a state waits: its file does, or others do, since results come in the
        order of the run.
        """
        return bool(self.waiting) or GROUP_COMMIT.owns(position)

    def keep(self, position: int, result: Result) -> None:
        """Have a state wait."""
        if not self.waiting:
            self._since = time.monotonic()
        self.waiting[position] = result

    def taken(self) -> dict[int, Result]:
        """The results of the states that wait, which wait no longer."""
        done, self.waiting = self.waiting, {}
        return done
