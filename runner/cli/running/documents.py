# SPDX-License-Identifier: Apache-2.0
"""Documents about a run of this machine, for the programs of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from runner import __version__
from runner.cli.running import answers
from runner.history import revision
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.result import LOCKED, NEW, REFUSED, UNREACHABLE, Report, RunFacts
from runner.sources import trees

if TYPE_CHECKING:
    from runner.cli.running.options import Common
    from runner.sources.trees import Tree


@contextmanager
def documented(common: Common, options: Any) -> Iterator[Callable[[Event], None]]:
    """Give the listener that a form needs, and print its document at the end of the run, which may
    have ended before its first state.

    A run that another one kept from starting has no document, nor has one of a pulled tree that
    gives way to the last good one.
    """
    document = common.form.document
    assert document is not None, "the form has one"
    run = _RunObserver()
    try:
        yield run
    finally:
        report = run.report
        gives_way = common.pulled == NEW and report and not (report.results or report.interrupted)
        if report and report.outcome != LOCKED and not (gives_way and trees.current_tree(options)):
            answers.print_text(document(report, run.facts(common, options)))


class _RunObserver:
    """A listener that keeps how a run ended, and when."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self._run = ""
        self._started = self._finished = time.time()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._run, self._started = event.run, time.time()
        elif isinstance(event, RunFinished):
            self.report, self._finished = event.report, time.time()

    def facts(self, common: Common, options: Any) -> RunFacts:
        return RunFacts(
            machine=options.id,
            environment=options.saltenv or options.default_top,
            run=self._run,
            started=self._started,
            finished=max(self._started, self._finished),
            revision=revision_of_tree(options),
            version=__version__,
            from_cache=common.pulled in (REFUSED, UNREACHABLE),
            pull_problem=common.pull_problem,
        )


def revision_of_tree(options: Any) -> str:
    """The commit that the states come from; empty where that is not known."""
    tree = _pulled(options)
    return tree.commit if tree else commit_and_state(options)[0] or ""


def commit_and_state(options: Any) -> tuple[str | None, bool | None]:
    """The commit that the states come from, and whether files differ from it, as far as known."""
    if tree := _pulled(options):
        return tree.commit, bool(tree.alterations())
    root = _first_root(options)
    return (trees.revision_at(root) or revision.revision_of(root)) if root else (None, None)


def _pulled(options: Any) -> Tree | None:
    """The pulled tree that the states come from."""
    root, tree = _first_root(options), trees.current_tree(options)
    return tree if root and tree and root.startswith(tree.folder) else None


def _first_root(options: Any) -> str | None:
    return next((root for roots in options.file_roots.values() for root in roots), None)
