# SPDX-License-Identifier: Apache-2.0
"""Results for people, as they come."""

from __future__ import annotations

import io
import time
from collections import defaultdict

from runner.api import command_output
from runner.model.events import Event, RunFinished, RunStarted, StateFinished, StateStarted
from runner.model.result import ENDS_RUN, Report, Result, named
from runner.output import live
from runner.output.text import (
    change_lines,
    counted,
    is_said_elsewhere,
    is_told_by,
    labelled,
    paint,
    safe,
    seconds,
    shortened,
    wrapped,
)
from runner.support.files.text import clipped

SLOW = 1000.0  # milliseconds of a state that the summary may name
SLOWEST = 3  # of those it names
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from runner.output.live import LiveLine

MARGIN = 14  # columns before what belongs to a state
_BLANK = " " * MARGIN
MOST = 40  # lines of changes that the report of a state shows
LAST = 30  # of these, if it failed, from the end: programs say there what is wrong
MOST_DECIDING = 3  # of what decides states, in the line of counts
LONGEST_DECIDING = 48  # characters of it there
NOBODY = ALONE, AS_SAID = "Decided by the real run alone", "Not known, as they say"
MOST_NAMED = 10  # states that the end of a run names for a reason
MOST_SKIPPED = 10  # states that are shown as skipped because of the same one


class Pretty:
    """A listener that prints.

    verbose: unchanged states too. whole: changes in their whole length. explain: what decides
    those that are undecided. quiet: nothing unless
    something changed or failed. live: a line that says what runs now (terminals only), if verbose
    with the last lines that it prints. command: what to type to do what a dry run showed. wrap: end
    lines at the width, between words (a pipe gets them whole). history: what shows this run again,
    if anything.
    """

    def __init__(
        self,
        stream: TextIO,
        *,
        verbose: bool = False,
        whole: bool = False,
        explain: bool = False,
        quiet: bool = False,
        colour: bool = False,
        width: int = 80,
        dry: bool = False,
        live: bool = False,
        command: str = "",
        wrap: bool = False,
        history: str = "",
    ) -> None:
        self.problem = ""
        self.closed = False  # nobody reads what is written any more
        self.stream = stream
        self.verbose = verbose
        self.most = None if whole or verbose else MOST
        self.explain = explain
        self.quiet = quiet
        self.colour = colour
        self.width = width
        self.dry = dry
        self.live: LiveLine | None = None
        self.events: tuple[type[Event], ...] = (RunStarted, StateFinished, RunFinished)
        if live and not quiet:
            self.live = _live_line(self._write, width, verbose)
            self.events = (*self.events, StateStarted)
        self.command = command
        self.wrap = wrap
        self.all = f"-v, --diff{f', `{history}`' if history else ''}"  # show what is left out
        self.started = time.monotonic()
        self.counts: dict[str, int] = defaultdict(int)
        self.total = 0  # states that are to run
        self.slowest: list[tuple[float, str]] = []  # (milliseconds, state)
        self.shown = 0  # states that were printed
        self._lines: list[str] = []  # of what is being printed
        self.failed: list[str] = []  # with their places
        self.deciding: dict[str, list[str]] = {}  # undecided states by what decides them
        self.skipped: dict[str, int] = defaultdict(int)  # how many because of what
        self.owing: list[str] = []  # those whose reactions stay pending
        self.drifted: dict[str, int] = defaultdict(int)  # how many have changed since what

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self.dry, self.total = event.dry, event.total
        elif isinstance(event, StateStarted) and self.live:
            number = f"[{sum(self.counts.values()) + 1}/{self.total}]"
            line = f"{number} {event.chunk.function} {event.chunk.id}"
            self.live.show(safe(line, self.stream).replace("\n", " "))
        elif isinstance(event, StateFinished):
            self._finished(event.result)
        elif isinstance(event, RunFinished):
            report = event.report
            # else it has not begun, and the error says so
            if report.results or report.left or not report.why:
                self._summary(report)
        if self._lines:
            self._write("".join(self._lines))
            self._lines.clear()

    def _finished(self, result: Result) -> None:
        if self.live:
            self.live.clear()
            if self.verbose:
                command_output.forget()
        if result.duration >= SLOW:
            self.slowest.append((result.duration, _label(result).replace("  ", " ", 1)))
        kind = result.outcome(self.dry)
        self.counts[kind] += 1
        if kind == "undecided":
            state = _label(result)
            self.deciding.setdefault(_decided_by(result), []).append(state)
        if result.owed:
            self.owing.append(_label(result))
        if kind != "unchanged" or (self.verbose and not self.quiet) or result.warnings:
            if kind in ("skipped", "unchanged") and self.quiet and not result.owed:
                return
            if kind == "skipped" and self._is_counted_only(result):
                return
            self._state(kind, result)

    def _is_counted_only(self, result: Result) -> bool:
        """Return whether a state was skipped for what many others were, too."""
        if self.most is None or not result.cause or result.warnings or result.owed:
            return False
        self.skipped[result.cause] += 1
        return self.skipped[result.cause] > MOST_SKIPPED

    def _state(self, kind: str, result: Result) -> None:
        self.shown += 1
        chunk, name, label = result.chunk, result.name, _label(result)
        drifted = result.origin == "drift"
        marks = "  (drift)" if drifted else ""
        marks += f"  [{seconds(result.duration)}]" if result.duration >= SLOW else ""
        word, shown = f"{kind:>12}", safe(label + marks, self.stream)
        word = paint(word, _COLOUR[kind], True) if self.colour else word
        first, *more = self._wrapped(f"{'':{MARGIN}}{shown}") if self.wrap else (_BLANK + shown,)
        self._lines.append(f"{word}{first[12:]}\n")
        for line in more:
            self._line(line, raw=True)
        told = (
            self.most is None
            or kind == "failed"
            or is_told_by(result.changes, name)
            or not result.comment
        )
        last = LAST if kind == "failed" else 0
        if said := self._said(kind, result, told):
            if self.most is not None and (not told or last):
                whole = ((line, "") for line in said.rstrip("\n").split("\n"))
                said = "\n".join(line for line, _ in shortened(whole, self.most, self.all, last))
            self._block(said)
        if kind == "failed":
            self._block(f"at {chunk.place}")
            self.failed.append(f"{label}  at {chunk.place}")
        if result.cause:
            self._block(f"because of {named(result.cause)}")
        changes = result.changes if told else {}
        lines: Iterable[tuple[str, str]] = change_lines(changes, result.before, name, self.verbose)
        if self.most is not None:
            lines = shortened(lines, self.most, self.all, last)
        for line, colour in lines:
            line = safe(line, self.stream)
            self._lines.append(f"{_BLANK}{paint(line, colour, True) if self.colour else line}\n")
        if drifted:
            self.drifted[result.note] += 1
        elif result.note and result.note not in result.comment:
            self._block(result.note)
        for warning in result.warnings:
            self._block(f"warning: {warning}")
        for owed in result.owed:
            self._block(f"pending reaction: {owed}")

    def _said(self, kind: str, result: Result, told: bool) -> str:
        """Return what is said of a state beside its changes; empty where other lines say it."""
        if self.verbose:
            return result.comment
        if kind in ("failed", "skipped", "undecided"):
            comment, changes, cause = result.comment, result.changes, result.cause
            said = is_said_elsewhere(kind, comment, result.name, changes, cause, result.ran)
            return "" if said else comment
        if result.reaction:
            return result.reaction
        return result.comment if not told or (not result.changes and kind != "unchanged") else ""

    def _block(self, text: str, margin: int = MARGIN) -> None:
        for line in text.rstrip("\n").split("\n"):
            for part in self._wrapped(f"{'':{margin}}{safe(line, self.stream)}"):
                self._line(part, raw=True)

    def _wrapped(self, line: str) -> list[str]:
        return wrapped(line, self.width, 16) if self.wrap else [line]

    def _summary(self, report: Report) -> None:
        touched = sum(self.counts[kind] for kind in _COLOUR if kind not in ("unchanged", "skipped"))
        if self.quiet and not touched:
            return
        total = sum(self.counts.values())
        told = {"undecided": self._because()}
        counts = ((kind, self.counts[kind]) for kind in _COLOUR if self.counts[kind])
        parts = [f"{count} {kind}{told.get(kind, '')}" for kind, count in counts]
        elapsed = seconds((time.monotonic() - self.started) * 1000)
        colour = "red" if report.failed else "green"
        self._line("")
        line = f"{counted(total, 'state')}: {', '.join(parts) or 'nothing to do'}  ({elapsed})"
        for part in self._wrapped(line):
            self._line(paint(part, colour, self.colour), raw=True)
        if len(self.slowest) > 1:
            slowest = sorted(self.slowest, reverse=True)[:SLOWEST]
            names = ", ".join(f"{name} ({seconds(took)})" for took, name in slowest)
            self._block(f"Slowest: {names}.", 0)
        if report.interrupted or any(ENDS_RUN in result.extra for result in report):
            self._left(report)
        for cause, number in self.skipped.items():
            if number > MOST_SKIPPED:
                more = f"{number - MOST_SKIPPED:,} more skipped because of {named(cause)}"
                self._block(f"{more} (all: {self.all}).", 0)
        if self.shown > 1:
            self._named("Failed", self.failed)
            self._named("Reactions are pending of", self.owing)
        for since, number in self.drifted.items():
            self._block(f"Drift of {counted(number, 'state')}: {since}.", 0)
        if self.explain:
            self._explain()
        if self.dry and report.changed and self.command:
            self._line("Nothing was changed. To make these changes:")
            self._line(f"  {self.command}")

    def _because(self) -> str:
        """Return how many states are undecided because of which, in brackets."""
        known = [(by, states) for by, states in self._deciding() if by not in NOBODY]
        told = [
            f"{len(states)} because of {clipped(by, LONGEST_DECIDING)}"
            for by, states in known[:MOST_DECIDING]
        ]
        told += ["..."] if len(known) > MOST_DECIDING else []
        return f" ({', '.join(told)})" if told else ""

    def _deciding(self) -> list[tuple[str, list[str]]]:
        """What decides undecided states, with these: what decides most of them first."""
        return sorted(self.deciding.items(), key=lambda pair: (pair[0] in NOBODY, -len(pair[1])))

    def _explain(self) -> None:
        """Print what decides the states that are undecided."""
        for by, states in self._deciding():
            self._named(by if by in NOBODY else f"Decided when {by} is done", states)
        if self.deciding:
            self._block(
                "`runner rehearse` with the same words decides them: it runs the states in a copy"
                " of this machine.",
                0,
            )

    def _named(self, title: str, states: list[str]) -> None:
        """Print the states of a kind, each on a line, as far as they are not too many."""
        if states:
            self._block(f"{title}:", 0)
            for state in states[:MOST_NAMED]:
                self._block(f"  {state}".replace("\n", " "), 0)
        if len(states) > MOST_NAMED:
            self._line(f"  and {len(states) - MOST_NAMED} more")

    def _left(self, report: Report) -> None:
        """Print the states that an interrupted run did not reach."""
        why = report.why or "the run ends here, as the machine is restarted"
        self._line(f"{why[:1].upper()}{why[1:]}; the next run continues.")
        if report.left:
            names = [f"{chunk.function} {chunk.id}".replace("\n", " ") for chunk in report.left]
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            self._line(f"Not run: {', '.join(names[:5])}{more}.")

    def _line(self, text: str, raw: bool = False) -> None:
        self._lines.append((text if raw else safe(text, self.stream)) + "\n")

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


def _live_line(write: Callable[[str], None], width: int, with_tail: bool) -> LiveLine:
    command_output.follow()
    return live.LiveLine(write, width, live.command_tail if with_tail else live.waited_for)


_COLOUR = {
    "failed": "red",
    "changed": "yellow",
    "would change": "yellow",
    "no-op": "cyan",
    "undecided": "cyan",
    "skipped": "cyan",
    "unchanged": "green",
}


def _decided_by(result: Result) -> str:
    """What decides an undecided state, on one line."""
    if result.decided_by:
        return " ".join(result.decided_by.split())
    return AS_SAID if result.undecided else ALONE


def _label(result: Result) -> str:
    chunk = result.chunk
    return labelled({"function": chunk.function, "id": chunk.id, "name": result.name})
