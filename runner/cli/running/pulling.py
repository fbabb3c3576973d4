# SPDX-License-Identifier: Apache-2.0
"""What `runner pull` does: fetch the tree, verify it, and bring the machine to it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.cli.running import scheduled_runs
from runner.cli.running.answers import show_problems
from runner.cli.running.exit_codes import DONE, FAILED, TREE_REFUSED, report_bug
from runner.cli.running.options import (
    Common,
    loaded,
    metrics_of_failed_start,
    options_of,
    wait_randomly,
)
from runner.cli.running.shown_run import finish
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError, UsageError
from runner.model.result import NEW, REFUSED, UNREACHABLE
from runner.pipeline import pull as pulling
from runner.pipeline import stages
from runner.sources.config import file
from runner.sources.trees import candidate as trees_candidate
from runner.sources.trees import source

if TYPE_CHECKING:
    from runner.sources.trees import Tree, TreeStore
    from runner.sources.trees.candidate import Candidate


def pulled(common: Common, allow_rollback: bool = False) -> int:
    """Do what `runner pull` does; the exit code. Raises RunnerError where nothing was run."""
    machine, _ = loaded(common, None)
    if machine.tree_source is None:
        where = machine.raw.get("conf_file")
        raise UsageError(
            "the configuration does not say where the tree comes from",
            file.place_of(where) if where else None,
            f"{source.EXAMPLE}\n  or, on a new machine: runner init --from URL",
        )
    wait_randomly(common)
    if common.scheduled and scheduled_runs.ends_at_once(common, machine):
        return DONE
    with pulling.alone(machine) as store:
        try:
            return _Pull(common._replace(splay=0), machine, store)(allow_rollback)
        finally:
            store.sweep(machine.tree_source.keep)


class _Pull:
    """One pull, by the holder of the lock of the trees."""

    def __init__(self, common: Common, machine: Any, store: TreeStore) -> None:
        self._common, self._machine, self._store = common, machine, store
        self._former = store.current()
        self._noted = False  # whether a run of this pull is in the history

    def __call__(self, allow_rollback: bool) -> int:
        """The exit code. Raises RunnerError where nothing was run."""
        try:
            return self._newest(allow_rollback)
        except trees_candidate.Unreachable as error:
            good = self._last_good(error, UNREACHABLE)
            show_problems([_old(error, good.tree)])
            return self._run_last_good(good, UNREACHABLE, error)
        except _Refused as refused:
            why = refused.error
            good = self._last_good(why, REFUSED)
            show_problems([*why.diagnostics, _not_used(good.tree)])
            code = self._run_last_good(good, REFUSED, why)
            if self._common.detailed_exitcodes and code < 8:
                return code | 4
            return TREE_REFUSED if code in (DONE, FAILED) else code

    def _newest(self, allow_rollback: bool) -> int:
        is_used = False

        def ready() -> None:
            nonlocal is_used
            if not self._common.test:
                pulling.take_into_use(self._store, candidate.tree)
            is_used = True

        try:
            candidate = pulling.newest(self._machine, self._store, allow_rollback)
            self._announce(candidate)
            return self._run(candidate, ready, NEW)
        except trees_candidate.Unreachable:
            raise
        except RunnerError as error:
            if is_used or error.code in ("locked", "no-lock"):
                raise
            raise _Refused(error) from None
        except (Exception, SystemExit) as error:  # of runner, or of code of the tree
            if is_used or isinstance(error, BrokenPipeError):
                raise
            report_bug(error)
            raise _Refused(RunnerError("the new tree makes runner fail", code="tree")) from None

    def _last_good(self, error: RunnerError, pulled: str) -> Candidate:
        """Raises the error where there is no good tree. pulled: what becomes of the newest one."""
        good = pulling.last_good(self._machine, self._store)
        if good is None and not self._noted:
            options = options_of(self._common, True)
            finish(
                self._common._replace(pulled=pulled, pull_problem=str(error)),
                options,
                partial(stages.without_tree, options, error),
            )
        if good is None:
            textfile = self._machine.raw.get("prometheus_textfile")
            with metrics_of_failed_start(lambda: textfile, bool(self._common.test)):
                raise error
        if good.altered:
            show_problems([_altered(good)])
        return good

    def _run_last_good(self, good: Candidate, pulled: str, why: RunnerError) -> int:
        def ready() -> None:
            if not self._common.test and (self._former is None or self._former != good.tree):
                self._store.switch(good.tree)

        return self._run(good, ready, pulled, str(why))

    def _run(
        self, candidate: Candidate, ready: Callable[[], None], pulled: str, problem: str = ""
    ) -> int:
        """The exit code. pulled: what becomes of the newest tree, one of PULLED. problem: why it is
        not used.
        """
        options = options_of(self._common, True, candidate.tree)
        self._noted = True
        return finish(
            self._common._replace(pulled=pulled, pull_problem=problem),
            options,
            partial(stages.highstate, options, ready=lambda compiled: ready()),
        )

    def _announce(self, candidate: Candidate) -> None:
        if candidate.altered:
            show_problems([_altered(candidate)])
        if candidate.lacks:
            show_problems([_lacks(candidate)])
        tree, former = candidate.tree, self._former
        if self._common.quiet or (former and former.commit == tree.commit):
            return
        before = f", it was {former.commit[:12]}" if former else ""
        signed = f", signed by {tree.signer}" if tree.signer else ""
        print(f"tree: {tree}{signed}{before}", file=sys.stderr)


class _Refused(Exception):
    """The new tree is not used."""

    def __init__(self, error: RunnerError) -> None:
        super().__init__(str(error))
        self.error = error


def _listed(items: Sequence[str]) -> str:
    more = len(items) - 3
    return "; ".join(items[:3]) + (f" (and {more} more)" if more > 0 else "")


def _lacks(candidate: Candidate) -> Diagnostic:
    return Diagnostic(
        f"the tree is not whole: {_listed(candidate.lacks)}",
        severity="warning",
        hint="formulas.yml brings other repositories (`runner formulas import .gitmodules`); files"
        " belong into the repository itself, or on a web server",
        code="tree",
    )


def _altered(candidate: Candidate) -> Diagnostic:
    return Diagnostic(
        f"somebody has altered the tree in use: {_listed(candidate.altered)}",
        severity="warning",
        hint="it is made anew; what is to stay belongs into the repository",
        code="tree",
    )


def _not_used(tree: Tree) -> Diagnostic:
    return Diagnostic(
        f"the new tree is not used; the last good one is: {tree}", severity="warning", code="tree"
    )


def _old(error: RunnerError, tree: Tree) -> Diagnostic:
    return Diagnostic(
        f"the tree could not be fetched: {error.message}; the last good one is used: {tree}, which"
        f" was fetched {_ago(time.time() - tree.fetched_at)} ago",
        error.source,
        error.hint,
        "tree",
        "warning",
    )


def _ago(seconds: float) -> str:
    """An age as people say it.

    >>> _ago(59), _ago(60), _ago(7200), _ago(200_000)
    ('1 minute', '1 minute', '2 hours', '2 days')
    """
    for name, unit in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= unit or name == "minute":
            count = max(1, int(seconds // unit))
            return f"{count} {name}{'s' if count != 1 else ''}"
    return ""
