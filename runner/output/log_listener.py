# SPDX-License-Identifier: Apache-2.0
"""The run in the log: a line for what starts, is changed, and ends."""

from __future__ import annotations

from runner.model.chunk import Chunk
from runner.model.events import (
    ChangerCalled,
    Event,
    RunFinished,
    RunStarted,
    StateFinished,
    StatePlanned,
    StateStarted,
)
from runner.output.text import counted, labelled, reason
from runner.support.log import LOG
from runner.support.redaction import HIDDEN


class Logged:
    """A listener that writes events into the log."""

    def __init__(self) -> None:
        self._dry = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._dry = event.dry
        if line := _line(event):
            LOG.debug(line)
        elif line := _news(event, self._dry):
            LOG.info(line)


def _news(event: Event, dry: bool) -> str:
    """The line of an event at level info; empty for none."""
    if isinstance(event, RunStarted):
        return f"{'dry run' if dry else 'run'} {event.run}: {counted(event.total, 'state')}"
    if isinstance(event, StateFinished):
        result = event.result
        why = reason(result.comment, result.changes, result.name)
        failure = f": {why.splitlines()[0]}" if result.result is False and why else ""
        named = _named(result.chunk._replace(name=result.name))
        return f"{result.outcome(dry)}: {named} in {result.duration:.1f} ms{failure}"
    return f"ended: {event.report.outcome}" if isinstance(event, RunFinished) else ""


def _line(event: Event) -> str:
    """The line of an event inside of a state, at level debug."""
    if isinstance(event, StateStarted):
        return f"begin {_named(event.chunk)} ({event.chunk.place})"
    if isinstance(event, StatePlanned):
        return (
            f"planned by {_named(event.chunk)}:"
            f" {', '.join(map(str, event.changes)) or 'changes not known before'}"
        )
    if isinstance(event, ChangerCalled):
        silent = event.chunk is not None and event.chunk.args.get("no_log")
        return f"change: {event.function} {HIDDEN if silent else event.target}"
    return ""


def _named(chunk: Chunk) -> str:
    return labelled({"function": chunk.function, "id": chunk.id, "name": chunk.name})
