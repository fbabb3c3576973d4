# SPDX-License-Identifier: Apache-2.0
"""The page of each run, where the configuration says `html_report:`. Nothing of it fails a run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from runner.cli.running.reporting import NO_REPORTS, pending_reactions, warn
from runner.model.errors import RunnerError
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.said_in import key_folder
from runner.support.files import shared_folder
from runner.tools.queries import run_page

MOST = 100  # pages in the folder; `runner history show RUN --out html` makes any older one
# a page, by the ID of its run, which begins with its time; one that a kill left unfinished, too
OURS = re.compile(r"\.?runner-(\d{14}-[0-9a-f]{6})\.html(\.[0-9a-f]{12})?")


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
                    warn(f"this run has no page: {problem}")


def _written(options: Any, observer: Observer) -> str:
    """Why there is no page; empty where there is one."""
    path = os.path.join(key_folder(options.raw, "html_report"), options.raw["html_report"])
    try:
        with closing(shared_folder.SharedFolder(path)) as folder:
            page = run_page.html(options, observer.run, observer.pending)
            folder.write(f"runner-{observer.run}.html", page.encode())
            _drop_old(folder)
    except OSError as error:
        return f"{path}: {error.strerror}"
    except RunnerError as error:
        return error.message
    except Exception as error:  # whatever it is, it was the page's fault, not the run's
        return f"{type(error).__name__}: {error}"
    return ""


def _drop_old(folder: Any) -> None:
    """Remove the oldest pages, and what kills left behind. Raises OSError."""
    ours = [found for found in map(OURS.fullmatch, folder.names()) if found]
    pages = sorted((found[1] for found in ours if not found[2]), reverse=True)
    for found in ours:
        if len(pages) > MOST and found[1] <= pages[MOST]:
            folder.remove(found[0])
