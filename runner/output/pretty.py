"""Results for people, as they come."""

from __future__ import annotations

import io
import time
from collections import Counter
from typing import TextIO

from runner.model.events import Event, RunFinished, RunStarted, StateFinished, StateStarted
from runner.model.result import Report, Result
from runner.output.text import (
    change_lines,
    counted,
    labelled,
    named,
    paint,
    safe,
    seconds,
    shortened,
    wrapped,
)

MOST = 100  # lines of changes that the report of a state shows


class Pretty:
    """A listener that prints.

    verbose: unchanged states too. quiet: nothing unless something changed or failed. live: a line
    that says what runs now (terminals only). command: what to type to do what a dry run showed.
    wrap: end lines at the width, between words (a pipe gets them whole).
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        quiet: bool = False,
        colour: bool = False,
        width: int = 80,
        dry: bool = False,
        live: bool = False,
        command: str = "",
        wrap: bool = False,
    ) -> None:
        self.problem = ""
        self.closed = False  # nobody reads what is written any more
        self.stream = stream
        self.verbose = verbose
        self.quiet = quiet
        self.colour = colour
        self.width = width
        self.dry = dry
        self.live = live and not quiet
        self.command = command
        self.wrap = wrap
        self.started = time.monotonic()
        self.counts: Counter[str] = Counter()

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.dry = event.dry
        elif isinstance(event, StateStarted) and self.live:
            line = safe(f"  ... {event.chunk.function} {event.chunk.id}", self.stream).replace(
                "\n", " "
            )
            self._write(f"\r\x1b[K{line[: self.width - 1]}")
        elif isinstance(event, StateFinished):
            self._finished(event.result)
        elif isinstance(event, RunFinished):
            report = event.report
            if (
                report.results or report.left or not report.why
            ):  # else it has not begun, and the error says so
                self._summary(report)

    def _finished(self, result: Result) -> None:
        if self.live:
            self._write("\r\x1b[K")
        kind = result.outcome(self.dry)
        self.counts[kind] += 1
        if kind != "unchanged" or (self.verbose and not self.quiet) or result.warnings:
            if kind in ("skipped", "unchanged") and self.quiet:
                return
            self._state(kind, result)

    def _state(self, kind: str, result: Result) -> None:
        chunk = result.chunk
        label = labelled({"function": chunk.function, "id": chunk.id, "name": chunk.name})
        word = paint(f"{kind:>12}", _COLOUR[kind], self.colour)
        took = f"  [{seconds(result.duration)}]" if result.duration >= 1000 else ""
        first, *more = self._wrapped(f"{'':14}{safe(label + took, self.stream)}")
        self._line(f"{word}{first[12:]}", raw=True)
        for line in more:
            self._line(line, raw=True)
        if kind == "failed":
            self._block(result.comment)
            self._block(f"at {chunk.place.source}")
        elif (
            kind in ("skipped", "undecided")
            or self.verbose
            or (not result.changes and kind != "unchanged")
        ):
            self._block(result.comment)
        elif result.reaction:
            self._block(result.reaction)
        if result.cause:
            self._block(f"because of {named(result.cause)}")
        lines = change_lines(result.changes, result.before)
        for line, colour in lines if self.verbose else shortened(lines, MOST):
            self._line(" " * 14 + paint(safe(line, self.stream), colour, self.colour), raw=True)
        if result.note and result.note not in result.comment:
            self._block(result.note)
        for warning in result.warnings:
            self._block(f"warning: {warning}")
        for owed in result.owed:
            self._block(f"pending reaction: {owed}")

    def _block(self, text: str) -> None:
        for line in text.rstrip("\n").split("\n"):
            for part in self._wrapped(f"{'':14}{safe(line, self.stream)}"):
                self._line(part, raw=True)

    def _wrapped(self, line: str) -> list[str]:
        return wrapped(line, self.width, 16) if self.wrap else [line]

    def _summary(self, report: Report) -> None:
        touched = sum(self.counts[kind] for kind in _COLOUR if kind not in ("unchanged", "skipped"))
        if self.quiet and not touched:
            return
        total = sum(self.counts.values())
        parts = [f"{self.counts[kind]} {kind}" for kind in _COLOUR if self.counts[kind]]
        elapsed = seconds((time.monotonic() - self.started) * 1000)
        colour = "red" if report.failed else "green"
        self._line("")
        line = f"{counted(total, 'state')}: {', '.join(parts) or 'nothing to do'}  ({elapsed})"
        for part in self._wrapped(line):
            self._line(paint(part, colour, self.colour), raw=True)
        if report.interrupted:
            self._left(report)
        if self.dry and report.changed and self.command:
            self._line("Nothing was changed. To make these changes:")
            self._line(f"  {self.command}")

    def _left(self, report: Report) -> None:
        """Print the states that an interrupted run did not reach."""
        self._line(f"{report.why[:1].upper()}{report.why[1:]}; the next run continues.")
        if report.left:
            names = [f"{chunk.function} {chunk.id}".replace("\n", " ") for chunk in report.left]
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            self._line(f"Not run: {', '.join(names[:5])}{more}.")

    def _line(self, text: str, raw: bool = False) -> None:
        self._write((text if raw else safe(text, self.stream)) + "\n")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (
            OSError
        ) as error:  # a full disk, or a reader that has gone, keeps no run from its work
            self.closed = isinstance(error, BrokenPipeError)
            self.problem = (
                "" if self.closed else f"the report could not be written: {error.strerror}"
            )
            self.stream = io.StringIO()


_COLOUR = {
    "failed": "red",
    "changed": "yellow",
    "would change": "yellow",
    "no-op": "cyan",
    "undecided": "cyan",
    "skipped": "cyan",
    "unchanged": "green",
}
