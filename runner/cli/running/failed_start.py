# SPDX-License-Identifier: Apache-2.0
"""Runs that a command line or a configuration keeps from starting, as monitoring sees them."""

from __future__ import annotations

from contextlib import contextmanager

from runner.model.errors import RunnerError
from runner.model.events import RunFinished
from runner.model.result import NOT_STARTED, Report
from runner.output import prometheus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def metrics_of_failed_start(textfile: Callable[[], str | None], dry: bool) -> Iterator[None]:
    """Write what keeps a run from its start into its metrics, and let the error go on.

    textfile: gives the `prometheus_textfile` as far as it is known.
    """
    try:
        yield
    except RunnerError as error:
        if path := textfile():
            report = Report((), dry, why=NOT_STARTED, errors=error.diagnostics)
            prometheus.Prometheus(path)(RunFinished(report))
        raise
