# SPDX-License-Identifier: Apache-2.0
"""Checks of trees while they are edited: one at a time for each tree, a moment after the last key,
and never one of an outdated text. The SLS file that is typed in is checked first, alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from runner.model.diagnostics import Diagnostic
from runner.model.errors import reason_of
from runner.tools.lsp.analysis import Analysis, Job
from runner.tools.lsp.project import Project
from runner.tools.lsp.workers import WorkerPool

FIRST = 0.05  # seconds without a key before what is typed is checked
PAUSE = 0.3  # ... and before the tree is


class Checks:
    """Starts checks, and hands on what they find."""

    def __init__(self, workers: WorkerPool, lenient: bool, done: Callable[[Project], None]) -> None:
        self._workers, self._lenient, self._done = workers, lenient, done
        self._tasks: dict[Project, asyncio.Task[None]] = {}
        # what only the check of the whole tree finds in a file: path -> mistakes
        self._beyond: dict[str, Sequence[Diagnostic]] = {}

    def begin(self, project: Project, pause: float = 0, path: str = "") -> None:
        """Check a tree; what goes on for an older text of it ends. path: the file that is typed
        in.
        """
        self.end(project)
        self._tasks[project] = asyncio.create_task(self._check(project, pause, path))

    def end(self, project: Project) -> None:
        """End what goes on for a tree."""
        task = self._tasks.pop(project, None)
        if task:
            task.cancel()

    async def current(self, project: Project) -> Analysis:
        """Return what a check of the texts as they are has learnt."""
        while task := self._tasks.get(project):
            await asyncio.wait([task])
        return project.analysis

    async def _check(self, project: Project, pause: float, path: str) -> None:
        first = min(pause, FIRST)
        await asyncio.sleep(first)
        beyond = self._beyond.get(path)
        found = await self._of_file(project, path) if first and beyond is not None else None
        if beyond is not None and found is not None:
            former = project.analysis.problems
            kept = [each for each in former if each in beyond or not project.is_in(each, path)]
            problems = [*kept, *found]
            project.analysis = project.analysis._replace(problems=problems)
            self._done(project)
        await asyncio.sleep(pause - first)
        if project.problem is None:
            answer, notes = await self.analyse(project, project.unsaved)
            calls = dict.fromkeys([*project.analysis.calls, *answer.calls])
            problems = [*answer.problems, *notes]
            grains = answer.grains or project.analysis.grains
            project.analysis = answer._replace(
                problems=problems, calls=list(calls), grains=grains, loaded=()
            )
            project.refresh()
            if path and found is None:
                found = await self._of_file(project, path)
        if found is not None:
            whole = project.analysis.problems
            self._beyond[path] = [
                each for each in whole if project.is_in(each, path) and each not in found
            ]
        self._tasks.pop(project, None)
        self._done(project)

    async def _of_file(self, project: Project, path: str) -> Sequence[Diagnostic] | None:
        """The mistakes that a check of one SLS file alone finds in it; None where there is none."""
        before = project.analysis
        sls = project.sls_of(path) if before.elsewhere and not project.problem else None
        if sls is None or project.tree_of(path) is not project.session.tree:
            return None
        place = (project.folder, project.config, project.overrides)
        beside = before.own if f"sls: {sls.name}" in before.own else before.elsewhere
        part = (sls.env, sls.name)
        job = Job(*place, self._lenient, project.unsaved, before.calls, False, part, beside)
        answer = await self._answer(job)
        if answer.refused is not None:
            return None
        return [each for each in answer.problems if project.is_in(each, path)]

    async def analyse(
        self, project: Project, unsaved: Mapping[str, str]
    ) -> tuple[Analysis, Sequence[Diagnostic]]:
        """The answer for some texts, and notes on those that were not looked at: they would have
        started something.
        """
        texts, notes = dict(unsaved), list[Diagnostic]()
        calls = list(project.analysis.calls)
        while True:
            place = (project.folder, project.config, project.overrides)
            job = Job(*place, self._lenient, texts, calls, grains=not project.analysis.grains)
            answer = await self._answer(job)
            if answer.refused is None:
                return answer, notes
            source = answer.refused.source
            own = [path for path in texts if source and project.texts.is_same(path, source.file)]
            texts = {path: text for path, text in texts.items() if own and path not in own}
            notes.append(answer.refused)

    async def _answer(self, job: Job) -> Analysis:
        try:
            return await self._workers.analyse(job)
        except TimeoutError:
            message = "the check of this tree takes too long; `runner check` does it to the end"
            return Analysis([Diagnostic(message, None, None, "limit", "warning")])
        except (OSError, ValueError) as error:
            message = f"the check of this tree ended early: {reason_of(error)}"
            return Analysis([Diagnostic(message, None, None, "limit", "warning")])
