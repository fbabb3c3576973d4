# SPDX-License-Identifier: Apache-2.0
"""What `runner watch` does with a tree: compiles it, looks, and runs what differs, as any run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from runner.cli.running.exit_codes import report_bug
from runner.cli.running.options import Common, options_of
from runner.cli.running.shown_run import finish
from runner.history.disabled import disabled
from runner.model.errors import RunnerError
from runner.model.result import Report
from runner.output import diagnostics, text
from runner.pipeline.watching import KeptTree, NothingFound, Outdated, command_of
from runner.sources.config import load
from runner.sources.config.keys import WATCH_EVENT
from runner.tools.watch import resident, status
from runner.tools.watch.acts import DRIFT

if TYPE_CHECKING:
    from runner.model.diagnostics import Diagnostic
    from runner.pipeline.watching import Seen
    from runner.tools.watch.plan_process import Answer


class Told:
    """Warnings that this process and its children have shown: each is news once."""

    MOST = 1 << 16  # bytes; what comes then is always news

    def __init__(self) -> None:
        self._shown = os.memfd_create("told")  # children have it at the same place

    def news(self, problems: Sequence[Diagnostic]) -> list[Diagnostic]:
        """Those that nobody was shown, who is now."""
        shown = os.pread(self._shown, self.MOST, 0).splitlines()
        keys = {b"%x" % (hash(repr(problem)) % (1 << 64)): problem for problem in problems}
        new = {key: problem for key, problem in keys.items() if key not in shown}
        if len(shown) + len(new) < self.MOST / 20:
            os.write(self._shown, b"".join(b"%b\n" % key for key in new))
        return [*new.values()]


class CommandPlan:
    """A compiled tree, whose runs are shown as those of a command line are."""

    def __init__(self, common: Common, options: Any, names: Sequence[str], told: Told) -> None:
        self._common, self._options, self._told = common, options, told
        self._kept = KeptTree(options, names)

    def compile(self) -> None:
        self._kept.compile()

    def sources(self) -> Answer:
        return self._kept.sources()._asdict()

    def facts(self) -> Answer:
        metrics = self._options.raw.get("prometheus_textfile") or ""
        return self._kept.facts()._asdict() | {"metrics": metrics}

    def shown(self, event: str) -> str:
        return self._kept.shown(event)

    def look(self, tags: Sequence[str] | None) -> Answer:
        return _told(lambda: self._kept.look(tags)._asdict())

    def act(self, tags: Sequence[str] | None, event: str) -> Answer:
        def acted() -> Answer:
            seen = self._shown(self._kept.run, tags, event)
            # somebody has disabled the runs that start by themselves
            nothing = {"outcomes": dict.fromkeys(tags or (), "disabled"), "looks": {}, "files": []}
            return seen._asdict() if seen else nothing

        return _told(acted)

    def find(self, tags: Sequence[str] | None, event: str) -> Answer:
        def found() -> Answer:
            try:
                seen = self._shown(self._kept.find, tags, event)
            except NothingFound as nothing:
                seen = nothing.seen
            return seen._asdict() if seen else only_looked()  # disabled at this moment

        def only_looked() -> Answer:
            return self._kept.look(tags)._asdict() | {"only_looked": True}

        return _told(only_looked if disabled(self._options.state_dir) else found)

    def _shown(
        self, states: Callable[..., tuple[Report, Seen]], tags: Sequence[str] | None, event: str
    ) -> Seen | None:
        """Run states; None where that is disabled."""
        found: list[Seen] = []

        def run(listeners: tuple[Any, ...]) -> Report:
            report, seen = states(tags, event, listeners)
            found.append(seen)
            return report

        raw = {**self._options.raw, WATCH_EVENT: command_of(event)}
        options = self._options._replace(raw=raw)
        finish(self._common, options, run, command="", news=self._told.news)
        return found[0] if found else None


def _told(run: Callable[[], Answer]) -> Answer:
    """The answer of a run; of one that could not be had, nothing, after it was told why."""
    try:
        return run()
    except Outdated:
        return {"outdated": True}
    except Exception as error:
        _show(error)
        return {"ended": 1}
    finally:
        sys.stdout.flush()


def configured(common: Common) -> Any:
    """The configuration. Where its file cannot be used, a service waits until it is edited, or for
    a minute, and reads it again: what it includes may be wrong.
    """
    while True:
        try:
            return options_of(common, running=True)
        except RunnerError as error:
            file = load.find_file(common.config, os.environ)
            if not file or not status.is_service():
                raise
            _show(error)
            resident.wait_for(os.path.abspath(file), f"{file} cannot be used: it is waited for")


def compiling(
    common: Common, names: Sequence[str], act: str
) -> Callable[[], CommandPlan | Answer | None]:
    """Return what compiles the tree as it is then, with the configuration as it is then. Where that
    does not compile it tells what is wrong, and returns the sources of the tree, if it knows them.
    """

    shown = Told()

    def make() -> CommandPlan | Answer | None:
        plan = None
        # a run that waits for another one, and says something only if it has found something
        own = common._replace(test=act != DRIFT, quiet=True, scheduled=True)
        try:
            options = options_of(own, running=True)._replace(wait=-1.0)
            plan = CommandPlan(own, options, names, shown)
            plan.compile()
            return plan
        except Exception as error:
            _show(error)
            return plan and plan.sources()

    return make


def _show(error: Exception) -> None:
    if isinstance(error, RunnerError):
        diagnostics.show(error.diagnostics, sys.stderr, text.wants_colour(sys.stderr, os.environ))
    else:
        report_bug(error)
