"""A textfile for Prometheus' node exporter, written whole at the end of a run."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress

from runner.model.events import Event, RunFinished, RunStarted
from runner.model.result import CRASHED, LOCKED, NOT_COMPILED, NOT_STARTED, Report

_SUCCESS = "runner_last_success_timestamp_seconds"
_HELP = {
    "runner_last_run_timestamp_seconds": "When the last run ended.",
    "runner_last_run_duration_seconds": "How long the last run took.",
    "runner_last_run_success": "1 if the last run ended and no state of it failed.",
    _SUCCESS: "When a run without a failed state ended the last time.",
}
OUTCOMES = ("done", "failed", "interrupted", NOT_COMPILED, LOCKED, NOT_STARTED, CRASHED)


class Prometheus:
    """A listener that writes the file after a real run; `problem` says why it could not."""

    def __init__(self, path: str) -> None:
        self.problem = ""
        self._path = path
        self._started = time.monotonic()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._started = time.monotonic()
        elif isinstance(event, RunFinished) and not event.report.dry:
            try:
                self._write(self._text(event.report))
            except OSError as error:
                self.problem = f"{self._path} cannot be written: {error.strerror}"

    def _text(self, report: Report) -> str:
        good = not report.failed and not report.interrupted
        now = time.time()
        values = {
            "runner_last_run_timestamp_seconds": f"{now:.3f}",
            "runner_last_run_duration_seconds": f"{time.monotonic() - self._started:.3f}",
            "runner_last_run_success": str(int(good)),
            _SUCCESS: f"{now:.3f}" if good else self._before(),
        }
        lines = []
        for name, value in values.items():
            lines += [f"# HELP {name} {_HELP[name]}", f"# TYPE {name} gauge", f"{name} {value}"]
        counts = report.counts()
        lines += [
            "# HELP runner_states States of the last run by outcome.",
            "# TYPE runner_states gauge",
        ]
        for kind in ("changed", "unchanged", "failed", "skipped"):
            lines.append(f'runner_states{{outcome="{kind}"}} {counts[kind]}')
        lines += ["# HELP runner_last_run_outcome How the last run ended: 1 for one of these."]
        lines += ["# TYPE runner_last_run_outcome gauge"]
        outcome = "interrupted" if report.interrupted else report.outcome
        for word in OUTCOMES:
            lines.append(
                f'runner_last_run_outcome{{outcome="{word.replace(" ", "_")}"}}'
                f" {int(word == outcome)}"
            )
        return "\n".join(lines) + "\n"

    def _before(self) -> str:
        """The last success as the file has it; 0 if there was none."""
        if not os.path.isfile(self._path):
            return "0"
        with suppress(OSError, UnicodeDecodeError), open(self._path, encoding="utf-8") as file:
            match = re.search(rf"^{_SUCCESS} (\S+)$", file.read(), re.M)
            return match[1] if match else "0"
        return "0"

    def _write(self, text: str) -> None:
        beside = f"{self._path}.{os.getpid()}.tmp"  # the exporter reads only *.prom
        handle = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
        )
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(beside, self._path)
        except BaseException:
            os.unlink(beside)
            raise
