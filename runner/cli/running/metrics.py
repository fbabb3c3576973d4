# SPDX-License-Identifier: Apache-2.0
"""The facts that the metrics of a machine have beside those of its last run."""

from __future__ import annotations

import sys
from typing import Any

from runner import __version__
from runner.cli.running import documents
from runner.engine import reaction_journal
from runner.history import disabled as history_disabled
from runner.language.grains import reboot_required
from runner.model.errors import RunnerError
from runner.model.events import RunFinished
from runner.model.result import NOT_STARTED, Report
from runner.output.prometheus import MetricFacts, Prometheus, disabled_sample, update
from runner.sources import trees


def facts(options: Any) -> MetricFacts:
    """Return what is so now. Raises OSError and RunnerError where that cannot be read."""
    tree = trees.current_tree(options)
    return MetricFacts(
        version=__version__,
        revision=documents.revision_of_tree(options),
        pending_reactions=len(
            reaction_journal.ReactionJournal(options.state_dir, looking=True).all()
        ),
        disabled=_is_disabled(options),
        restart_required=bool(reboot_required.why()),
        fetched_at=tree.fetched_at if tree else None,
        applied_at=tree.applied_at if tree else None,
    )


def note_failed_start(path: str, error: RunnerError, dry: bool) -> None:
    """Write what keeps a run from its start."""
    report = Report((), dry, why=NOT_STARTED, errors=error.diagnostics)
    Prometheus(path)(RunFinished(report))


def note_disabled(options: Any) -> None:
    """Write whether scheduled runs are disabled into the metrics, which otherwise runs write."""
    path = options.raw.get("prometheus_textfile")
    if path:
        try:
            update(path, disabled_sample(_is_disabled(options)))
        except OSError as error:
            print(f"warning: {path} cannot be written: {error.strerror}", file=sys.stderr)


def _is_disabled(options: Any) -> bool:
    try:
        return history_disabled.disabled(options.state_dir) is not None
    except RunnerError:  # the run itself says what is wrong with the folder
        return False
