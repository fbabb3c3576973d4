# SPDX-License-Identifier: Apache-2.0
"""Expectations and what came of them, for people and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runner.output.text import short

if TYPE_CHECKING:
    from runner.tools.expectations.model import Outcome


def lines(outcomes: Sequence[Outcome], verbose: bool = False) -> Iterator[tuple[str, str]]:
    """The lines of a report with their colours: what does not hold with its place, and a count.
    verbose: all that holds, too.
    """
    counts = {True: 0, False: 0, None: 0}
    for outcome in outcomes:
        counts[outcome.ok] += 1
        if outcome.ok is False:
            yield f"  failed  {outcome}", "red"
            if outcome.source and outcome.source.line:
                yield f"          at {outcome.source}", ""
        elif verbose and outcome.ok:
            yield f"  holds   {outcome}: {short(outcome.expected)}", ""
        elif verbose:
            yield f"  {outcome}", "cyan"
    summary = f"Expectations: {counts[True]} hold"
    summary += f", {counts[False]} failed" if counts[False] else ""
    summary += f", {counts[None]} not checked" if counts[None] else ""
    yield summary, "red" if counts[False] else "green"


def data(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The outcomes as data."""
    return [
        {
            "kind": outcome.kind,
            "name": outcome.name,
            "word": outcome.word,
            "expected": outcome.expected,
            "actual": outcome.actual,
            "ok": outcome.ok,
            "problem": outcome.problem or None,
            "file": outcome.source.file if outcome.source else None,
            "line": outcome.source.line if outcome.source else None,
            "column": outcome.source.column if outcome.source else None,
        }
        for outcome in outcomes
    ]
