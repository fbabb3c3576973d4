# SPDX-License-Identifier: Apache-2.0
"""The report of a run, where the configuration says `report:`: written at its end, and delivered if
that goes quickly; commands of `on_failure` and `on_change` get it, too. Nothing of it fails a run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from runner import __version__
from runner.cli.running import documents, exit_codes
from runner.cli.running.notifying import notify
from runner.engine import reaction_journal
from runner.history.outbox import delivery, store
from runner.history.outbox.document import ReportFacts, document, function_of
from runner.model.errors import RunnerError
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.result import LOCKED, NEW, REFUSED, Report
from runner.output import json_
from runner.sources.config.keys import WATCH_EVENT
from runner.support.redaction import command_line, redact_all

NO_REPORTS = "RUNNER_NO_REPORTS"  # in the environment of a rehearsal, which is none of the machine


class Reporter:
    """A listener that makes the document of a run at its end, while its secrets are known."""

    def __init__(self, options: Any, pulled: str) -> None:
        self.document: dict[str, Any] | None = None
        self.interrupted = False
        self.lost = ""  # why there is no document
        self._options, self._pulled, self._run = options, pulled, ""
        self._started, self._clock = time.time(), time.monotonic()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._run = event.run
        elif isinstance(event, RunFinished):
            self.interrupted = bool(event.report.interrupted)
            try:
                self.document = self._document(event.report)
            except Exception as error:  # the run goes on to its end
                self.lost = f"{type(error).__name__}: {error}"

    def _document(self, report: Report) -> dict[str, Any]:
        options, words = self._options, sys.argv[1:]
        program = "runner-salt-call" if options.raw.get("as_salt") else "runner"
        command = " ".join([program, *command_line(words, options.secret_keys)])
        if WATCH_EVENT in options.raw:
            command = options.raw[WATCH_EVENT]
        facts = ReportFacts(
            options.id,
            self._run,
            self._started,
            time.time(),
            time.monotonic() - self._clock,
            redact_all(command),
            function_of(words),
            report.dry,
            "interrupted" if report.interrupted else report.outcome,
            _exit_code(report),
            __version__,
            *documents.commit_and_state(options),
            REFUSED if self._pulled == NEW and report.errors else self._pulled,
        )
        return document(
            facts,
            {item.tag: json_.result(item) for item in report},
            {word.replace(" ", "_"): number for word, number in report.counts().items()},
            map(str, report.errors),
            pending_reactions(options.state_dir),
        )


def pending_reactions(state_dir: str) -> list[dict[str, str]]:
    """Those of the machine, without the secrets that are known by now."""
    with suppress(OSError):  # the run has said so itself
        return [
            {key: redact_all(str(value)) for key, value in reaction._asdict().items()}
            for reaction in reaction_journal.ReactionJournal(state_dir, looking=True).all()
        ]
    return []


def _exit_code(report: Report) -> int:
    if report.outcome == LOCKED:
        return exit_codes.LOCKED
    return exit_codes.NOT_RUN if report.errors else exit_codes.code_of(report)


@contextmanager
def reported(options: Any, pulled: str) -> Iterator[list[Any]]:
    """Gives the listeners that a run needs for its report, and delivers it at the end. pulled: what
    became of the newest tree (PULLED).
    """
    if NO_REPORTS in os.environ:
        yield []
        return
    reporter = Reporter(options, pulled)
    try:
        yield [reporter]
    finally:
        with suppress(KeyboardInterrupt, BrokenPipeError):  # the run is over
            if reporter.lost:
                warn(f"this run has no report: {reporter.lost}")
            elif reporter.document is not None:
                if options.raw.get("report"):
                    _deliver(options, reporter.document, reporter.interrupted)
                notify(options.raw, reporter.document)


def _deliver(options: Any, document: dict[str, Any], interrupted: bool) -> None:
    try:
        _write(options.state_dir, document)
        if interrupted:  # the machine may be going down; the next run delivers it
            return
        outcome = delivery.deliver(options.state_dir, options.report)
    except (OSError, RunnerError) as error:
        warn(f"the report of this run is not delivered: {_reason(error)}")
        return
    for note in outcome.notes:
        warn(note)
    if outcome.problem and not outcome.waits:
        waiting = "1 report waits" if outcome.left == 1 else f"{outcome.left} reports wait"
        warn(f"{waiting} to be delivered: {outcome.problem}", outcome.hint)


def _write(state_dir: str, document: dict[str, Any]) -> None:
    """Keep the report until it is delivered. Raises OSError and RunnerError."""
    outbox = store.Outbox(state_dir)
    try:
        dropped = outbox.add(document)
    except OSError:
        with suppress(OSError):
            outbox.count_lost()
        raise
    if dropped:
        which = "oldest report was" if dropped == 1 else f"{dropped} oldest reports were"
        warn(f"the {which} dropped: more than {store.MOST} or 100 MB wait in {outbox.path}")


def _reason(error: Exception) -> str:
    """An error in one line."""
    hint = getattr(error, "hint", None)
    text = getattr(error, "message", None) or str(error)
    return f"{text}; {hint}" if hint else text


def warn(message: str, hint: str = "") -> None:
    """Print a warning to stderr, if anybody reads it."""
    with suppress(OSError, ValueError):
        print(f"warning: {message}", file=sys.stderr)
        if hint:
            print(f"  hint: {hint}", file=sys.stderr)
