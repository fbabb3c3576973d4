# SPDX-License-Identifier: Apache-2.0
"""What came of many machines, for people: grouped, with places and the next command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from runner.model.places import Source
from runner.output import yaml_
from runner.output.text import change_lines, counted
from runner.tools.fleet.grouping import (
    CHANGED,
    WOULD_CHANGE,
    HostGroup,
    answers,
    changes,
    failures,
    shown_names,
    word_of,
)
from runner.tools.fleet.playing import Played
from runner.tools.fleet.records import FAILED, NO_ANSWER, NOT_BEGUN, UNREACHABLE, HostOutcome, Job

Line = tuple[str, str]  # text, colour
WORDS = ("failed", "unreachable", "no answer", "not begun", CHANGED, WOULD_CHANGE, "unchanged")
COLOUR = {"failed": "red", "unreachable": "red", "no answer": "red", "not begun": "yellow"}
STATES = 20  # that a paragraph of changes lists
DIFF = 40  # lines of one change


class Summary:
    """The closing report. place: where an SLS file declares an ID; command: the command line that
    does the job again, for a target and as a dry run or not.
    """

    def __init__(
        self,
        job: Job,
        played: Played,
        seconds: float,
        place: Callable[[str, str], Source | None],
        command: Callable[[Sequence[str], bool], str],
        check: Callable[[Sequence[str]], str],
        verbose: bool = False,
    ) -> None:
        self._job, self._played, self._seconds = job, played, seconds
        self._place, self._command, self._check = place, command, check
        self._names = 1_000_000 if verbose else 12
        self._verbose = verbose
        self._outcomes = played.outcomes

    def lines(self) -> Iterator[Line]:
        """The report, line by line."""
        if self._job.function == "call":
            yield from self._answers()
        else:
            yield from self._changes()
        yield from self._failures()
        yield from self._silent(UNREACHABLE)
        yield from self._silent(NOT_BEGUN)
        yield from self._counts()
        yield from self._next()

    def worth_saying(self) -> bool:
        """Return whether some machine changed, failed or did not answer."""
        return self._job.function == "call" or any(
            word_of(outcome, self._job.test) != "unchanged" for outcome in self._outcomes
        )

    def _of(self, *kinds: str) -> list[HostOutcome]:
        return [outcome for outcome in self._outcomes if outcome.kind in kinds]

    def _on(self, hosts: Sequence[str]) -> Line:
        return f"    on {shown_names(hosts, self._names)}", ""

    def _answers(self) -> Iterator[Line]:
        for answer, hosts in answers(self._outcomes):
            yield f"{shown_names(hosts, self._names)}:", "bold"
            yield from ((f"    {line}", "") for line in yaml_.text(answer).splitlines())

    def _changes(self) -> Iterator[Line]:
        for (word, hosts), groups in changes(self._outcomes, self._job.test):
            colour = "green" if word == CHANGED else "yellow"
            yield f"{word} on {shown_names(hosts, self._names)}:", colour
            most = len(groups) if self._verbose else STATES
            for group in groups[:most]:
                yield f"    {group.title}", ""
                if word == WOULD_CHANGE or self._verbose:
                    yield from self._diff(group)
            if len(groups) > most:
                yield f"    ... {len(groups) - most} more states: -v shows all", "cyan"

    def _diff(self, group: HostGroup) -> Iterator[Line]:
        if isinstance(group.changes, dict):
            lines = list(change_lines(group.changes))
            most = len(lines) if self._verbose else DIFF
            yield from ((f"        {text}", colour) for text, colour in lines[:most])
            if len(lines) > most:
                yield f"        ... {len(lines) - most} more lines: -v shows all", "cyan"

    def _failures(self) -> Iterator[Line]:
        for kind in (FAILED, NO_ANSWER):
            for group in failures(self._of(kind), self._place):
                first, *rest = group.reason.splitlines() or [""]
                lines = [first, *rest] if group.title else rest
                yield f"{kind}: {group.title or first}", "red"
                yield from ((f"    {line}", "") for line in lines)
                if group.place:
                    yield f"    at {group.place}", ""
                if group.of_host and group.changes:
                    yield f"    on {group.of_host}, for example:", ""
                yield from self._diff(group)
                yield self._on(group.hosts)

    def _silent(self, kind: str) -> Iterator[Line]:
        reasons: dict[str, list[str]] = {}
        for outcome in self._of(kind):
            reasons.setdefault(outcome.message, []).append(outcome.host)
        for reason, hosts in reasons.items():
            first, *rest = reason.splitlines() or [""]
            yield f"{kind}: {first}", COLOUR[kind]
            yield from ((f"    {line}", "") for line in rest)
            yield self._on(hosts)

    def _counts(self) -> Iterator[Line]:
        counts = Counter(word_of(outcome, self._job.test) for outcome in self._outcomes)
        if self._job.function == "call":
            counts["done"] = counts.pop("unchanged", 0)
        parts = [f"{counts[word]} {word}" for word in ("done", *WORDS) if counts[word]]
        bad = any(not outcome.went_well for outcome in self._outcomes)
        text = f"{counted(len(self._outcomes), 'machine')}: {', '.join(parts)}"
        if self._played.interruption:
            text += f"; {self._played.interruption.why}"
        yield f"{text} ({self._seconds:.1f} s)", "red" if bad else "green"

    def _next(self) -> Iterator[Line]:
        again = [outcome.host for outcome in self._outcomes if not outcome.went_well]
        silent = [outcome.host for outcome in self._of(UNREACHABLE)]
        if silent and self._job.function != "call":
            yield f"can they be reached: {self._check(silent)}", ""
        if again:
            yield f"the rest again: {self._command(again, self._job.test)}", ""
        elif self._job.test and any(
            word_of(outcome, True) == WOULD_CHANGE for outcome in self._outcomes
        ):
            yield f"to do it: {self._command((), False)}", ""
