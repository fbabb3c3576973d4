# SPDX-License-Identifier: Apache-2.0
"""A textfile for Prometheus' node exporter, written whole at the end of a run."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from runner.model.errors import RunnerError, reason_of
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.records import Record
from runner.model.result import (
    CRASHED,
    LOCKED,
    NEW,
    NOT_COMPILED,
    NOT_STARTED,
    PULLED,
    REFUSED,
    Report,
)
from runner.support.files.links import refuse_special
from runner.support.files.text import read_bounded

_SUCCESS = "runner_last_success_timestamp_seconds"
_COMPILED = "runner_last_compile_success_timestamp_seconds"
_INFO, _DISABLED, _PENDING = "runner_info", "runner_disabled", "runner_pending_reactions"
_RESTART = "runner_reboot_required"
_FETCHED = "runner_tree_fetched_timestamp_seconds"
_APPLIED = "runner_tree_applied_timestamp_seconds"
_PULL = "runner_last_pull_outcome"
_STATES, _OUTCOME = "runner_states", "runner_last_run_outcome"
_OVERLAPS = "runner_overlapping_runs"
_DEVIATIONS = "runner_watch_deviations"
_LOOKED = "runner_watch_last_look_timestamp_seconds"
METRICS: Mapping[str, str] = {
    "runner_last_run_timestamp_seconds": "When the last run ended.",
    "runner_last_run_duration_seconds": "How long the last run took.",
    "runner_last_run_success": "1 if the last run ended and no state of it failed.",
    _SUCCESS: "When a run without a failed state ended the last time.",
    _COMPILED: "When the last run ended whose tree, the newest, compiled.",
    _STATES: "States of the last run by outcome.",
    _OUTCOME: "How the last run ended: 1 for one of these.",
    _INFO: "1; its labels are the version of runner and the revision of the tree.",
    _PENDING: "Reactions that are due since a run was killed or failed.",
    _DISABLED: "1 while `runner disable` stops scheduled runs.",
    _RESTART: "1 while this machine has to be restarted.",
    _FETCHED: "When the remote was last known to have the tree in use as its newest.",
    _APPLIED: "When the tree in use came into use.",
    _OVERLAPS: "Runs that found another one at work, and did nothing.",
    _PULL: "What became of the newest tree: 1 for one of these.",
    _DEVIATIONS: "States that `runner watch` knows not to be as they should be.",
    _LOOKED: "When `runner watch` looked at all states the last time.",
}
_OF_FACTS = (_INFO, _PENDING, _DISABLED, _RESTART, _FETCHED, _APPLIED)
_OF_WATCH = (_DEVIATIONS, _LOOKED)
OUTCOMES = ("done", "failed", "interrupted", NOT_COMPILED, LOCKED, NOT_STARTED, CRASHED)
# the values of the label `outcome`
LABELS: Mapping[str, Sequence[str]] = {
    _STATES: ("changed", "unchanged", "failed", "skipped"),
    _OUTCOME: tuple(word.replace(" ", "_") for word in OUTCOMES),
    _PULL: PULLED,
}
LARGEST = 1024 * 1024  # bytes of a textfile that is taken for one of ours

Samples = dict[str, str]  # a metric with its labels, and its value


class MetricFacts(Record):
    """What metrics say of the machine beside its last run. fetched_at, applied_at: of the tree of
    `runner pull`, where there is one.
    """

    version: str
    revision: str
    pending_reactions: int
    disabled: bool
    restart_required: bool = False
    fetched_at: float | None = None
    applied_at: float | None = None

    def samples(self) -> Samples:
        times = {_FETCHED: self.fetched_at, _APPLIED: self.applied_at}
        return {
            f"{_INFO}{{version={_quoted(self.version)},revision={_quoted(self.revision)}}}": "1",
            _PENDING: str(self.pending_reactions),
            **disabled_sample(self.disabled),
            _RESTART: str(int(self.restart_required)),
            **{name: f"{at:.3f}" for name, at in times.items() if at is not None},
        }


class Prometheus:
    """A listener that writes the file after a real run; `problem` says why it could not."""

    def __init__(
        self, path: str, facts: Callable[[], MetricFacts] | None = None, pulled: str = ""
    ) -> None:
        """facts: those of the machine at the end of a run; None where they are not known. pulled:
        one of PULLED, of a run by `runner pull`.
        """
        self.problem = ""
        self._path = path
        self._facts = facts
        self._pulled = pulled
        self._started = time.monotonic()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._started = time.monotonic()
        elif isinstance(event, RunFinished) and not event.report.dry:
            try:
                _write(self._path, self._samples(event.report))
            except OSError as error:
                self.problem = f"{self._path} cannot be written: {error.strerror}"

    def _samples(self, report: Report) -> Samples:
        earlier, now = _read(self._path), f"{time.time():.3f}"
        good = not report.failed and not report.interrupted
        ran = bool(report.results or report.left or report.outcome in ("done", "failed"))
        pulled = self._pulled
        if pulled == NEW and not ran:
            pulled = REFUSED if report.outcome in (NOT_COMPILED, CRASHED) else ""
        counts, outcome = report.counts(), "interrupted" if report.interrupted else report.outcome
        samples = {
            "runner_last_run_timestamp_seconds": now,
            "runner_last_run_duration_seconds": f"{time.monotonic() - self._started:.3f}",
            "runner_last_run_success": str(int(good)),
            _SUCCESS: now if good else earlier.get(_SUCCESS, "0"),
            _OVERLAPS: str(int(float(earlier.get(_OVERLAPS, "0"))) + (outcome == LOCKED)),
            _COMPILED: now if ran and pulled != REFUSED else earlier.get(_COMPILED, "0"),
        }
        for kind in LABELS[_STATES]:
            samples[f'{_STATES}{{outcome="{kind}"}}'] = str(counts[kind])
        for word, label in zip(OUTCOMES, LABELS[_OUTCOME], strict=True):
            samples[f'{_OUTCOME}{{outcome="{label}"}}'] = str(int(word == outcome))
        for word in PULLED if pulled else ():
            samples[f'{_PULL}{{outcome="{word}"}}'] = str(int(word == pulled))
        facts = self._facts_now()
        kept = (*_OF_WATCH, *(() if pulled else (_PULL,)), *(() if facts else _OF_FACTS))
        return (samples | facts) | {
            key: value for key, value in earlier.items() if _name(key) in kept
        }

    def _facts_now(self) -> Samples:
        """Those of the machine; none where they cannot be read, which `problem` reports."""
        try:
            return self._facts().samples() if self._facts else {}
        except (OSError, RunnerError) as error:
            self.problem = f"{self._path} has facts of an earlier run: {reason_of(error)}"
            return {}


def disabled_sample(disabled: bool) -> Samples:
    """Return whether `runner disable` stops scheduled runs, as a metric."""
    return {_DISABLED: str(int(disabled))}


def watch_samples(deviations: int, looked: float) -> Samples:
    """Return what `runner watch` knows as metrics. looked: when it looked at all states."""
    return {_DEVIATIONS: str(deviations), _LOOKED: f"{looked:.3f}"}


NOBODY_WATCHES: Mapping[str, None] = dict.fromkeys(_OF_WATCH)


def update(path: str, changed: Mapping[str, str | None]) -> None:
    """Write some metrics anew, or no more (None), and leave the others as the last run wrote them.
    Raises OSError.
    """
    earlier = _read(path)
    if any(earlier.get(key) != value for key, value in changed.items()):
        now = {**earlier, **changed}
        _write(path, {key: value for key, value in now.items() if value is not None})


def _name(sample: str) -> str:
    return sample.partition("{")[0]


def _quoted(text: str) -> str:
    """The value of a label."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _read(path: str) -> Samples:
    """Our metrics that a file has; none where there is no file."""
    with suppress(OSError, UnicodeDecodeError, RunnerError):
        text = read_bounded(path, LARGEST).decode()
        pairs = re.findall(r"^([a-z_]+(?:\{.*\})?) ([0-9.e+-]+)$", text, re.M)
        return {sample: value for sample, value in pairs if _name(sample) in METRICS}
    return {}


def _text(samples: Samples) -> str:
    lines: list[str] = []
    for name, meaning in METRICS.items():
        values = [f"{key} {value}" for key, value in samples.items() if _name(key) == name]
        if values:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", *values]
    return "\n".join(lines) + "\n"


def _write(path: str, samples: Samples) -> None:
    refuse_special(path)
    beside = f"{path}.{os.getpid()}.tmp"  # the exporter reads only *.prom
    with suppress(FileNotFoundError):
        os.unlink(beside)  # of a killed run that had the same number
    handle = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
    )
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(_text(samples))
        os.rename(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
