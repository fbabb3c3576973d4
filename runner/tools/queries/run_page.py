# SPDX-License-Identifier: Apache-2.0
"""The page of a run, from the history."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from runner import __version__
from runner.history.query import run_for_page
from runner.output import run_page
from runner.sources.config.options import Options
from runner.tools.queries import show as queries_show


def html(options: Options, number: str, pending: Sequence[Mapping[str, str]] | None = None) -> str:
    """The page. number: of the run, its ID, or "last". pending: the reactions that are due; None
    for those of now. Raises RunnerError where there is no such run.
    """
    if pending is None:
        pending = queries_show.show(options, "pending")
    with run_for_page(options.state_dir, number) as kept:
        page = run_page.Page(
            machine=options.id,
            run=kept.run,
            took=kept.took,
            results=kept.results,
            requisites=kept.graph,
            left_by=kept.left_by,
            pending=pending,
            written=f"{time.strftime('%Y-%m-%d %H:%M:%S%z')} by runner {__version__}",
        )
        return run_page.html(page)
