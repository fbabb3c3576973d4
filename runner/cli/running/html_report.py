# SPDX-License-Identifier: Apache-2.0
"""The page of each run and the index of all, where the configuration says `html_report:`. Nothing
of it fails a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from runner.cli.running.reporting import NO_REPORTS, pending_reactions, warn
from runner.model.errors import RunnerError
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.said_in import key_folder
from runner.tools.queries import run_page


class Observer:
    """A listener that learns what the history does not have, while secrets are known."""

    def __init__(self, state_dir: str) -> None:
        self.run = ""
        self.pending: list[dict[str, str]] = []
        self._state_dir = state_dir

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.run = event.run
        elif isinstance(event, RunFinished):
            self.pending = pending_reactions(self._state_dir)


@contextmanager
def paged(options: Any) -> Iterator[list[Any]]:
    """Give the listeners that a run needs for its page, and write that at the end."""
    if NO_REPORTS in os.environ:
        yield []
        return
    observer = Observer(options.state_dir)
    try:
        yield [observer]
    finally:
        if observer.run:
            with suppress(KeyboardInterrupt, BrokenPipeError):  # the run is over
                if problem := _written(options, observer):
                    warn(problem)


def _written(options: Any, observer: Observer) -> str:
    """Why there is no page, or no index; empty where there are."""
    path = os.path.join(key_folder(options.raw, "html_report"), options.raw["html_report"])
    try:
        run_page.write(options, path, observer.run, observer.pending)
    except run_page.OthersIndex as error:
        return f"the index of the runs is not written: {error.message}; {error.hint}"
    except RunnerError as error:
        why = "; ".join(filter(None, (error.message, error.hint)))
    except Exception as error:  # whatever it is, it was the page's fault, not the run's
        why = f"{type(error).__name__}: {error}"
    else:
        return ""
    return f"this run has no page: {why}"
