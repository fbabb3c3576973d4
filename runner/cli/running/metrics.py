# SPDX-License-Identifier: Apache-2.0
"""The facts that the metrics of a machine have beside those of its last run."""

from __future__ import annotations

import sys
from typing import Any

from runner.model.errors import RunnerError
from runner.output.prometheus import MetricFacts, disabled_sample, update


def facts(options: Any) -> MetricFacts:
    """Return what is so now. Raises OSError and RunnerError where that cannot be read."""
    from runner import __version__
    from runner.cli.running.documents import revision_of_tree
    from runner.engine.reaction_journal import ReactionJournal
    from runner.sources.trees import current_tree

    tree = current_tree(options)
    return MetricFacts(
        version=__version__,
        revision=revision_of_tree(options),
        pending_reactions=len(ReactionJournal(options.state_dir, looking=True).all()),
        disabled=_is_disabled(options),
        fetched_at=tree.fetched_at if tree else None,
        applied_at=tree.applied_at if tree else None,
    )


def note_disabled(options: Any) -> None:
    """Write whether scheduled runs are disabled into the metrics, which otherwise runs write."""
    path = options.raw.get("prometheus_textfile")
    if path:
        try:
            update(path, disabled_sample(_is_disabled(options)))
        except OSError as error:
            print(f"warning: {path} cannot be written: {error.strerror}", file=sys.stderr)


def _is_disabled(options: Any) -> bool:
    from runner.history.disabled import disabled

    try:
        return disabled(options.state_dir) is not None
    except RunnerError:  # the run itself says what is wrong with the folder
        return False
