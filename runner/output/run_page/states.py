# SPDX-License-Identifier: Apache-2.0
"""The states of a run on its page, each a line that opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from runner.model.records import Record
from runner.model.result import OUTCOMES, named
from runner.output.run_page.document import marks, slug
from runner.output.run_page.escaping import cut, escape
from runner.output.text import change_lines, reason, seconds

# characters of changes and comments: of one state, and of all on a page; and what bounds a state's
LARGEST, LARGEST_PAGE = 64 * 1024, 4 * 1024 * 1024
LINES, LINE = 1000, 1000
COMMENT = 8000
FEW = 30  # so many states that did something are open from the start

Line = tuple[str, str]  # of changes, and its colour
_ELEMENTS = {"green": "ins", "red": "del", "cyan": "b"}


class PageState(Record):
    """What the page has of a state. changes: them as HTML. started_after: seconds from the start of
    the run, None where it is not known.
    """

    number: int
    tag: str
    id: str
    name: str
    function: str
    sls: str
    place: str
    outcome: str
    origin: str
    cause: str
    comment: str
    why: str
    changes: str
    duration: float
    started_after: float | None

    @property
    def anchor(self) -> str:
        return f"s{self.number}"

    @property
    def link(self) -> str:
        """Its function and ID, as a link to its line."""
        title = escape(cut(self.id, 80))
        return f'<a href="#{self.anchor}">{escape(self.function)} <b>{title}</b></a>'


class Budget:
    """How much of changes and comments a page still takes: those of states that failed do not have
    to share. more: where the rest can be read.
    """

    def __init__(self, more: str) -> None:
        self.more = more
        self._left = {True: LARGEST_PAGE, False: LARGEST_PAGE}

    def comment(self, text: str, failed: bool) -> str:
        """A comment as far as there is room for it."""
        text = cut(text, min(COMMENT, self._left[failed]))
        self._left[failed] = max(0, self._left[failed] - len(text))
        return text

    def lines(self, lines: Iterable[Line], failed: bool) -> tuple[list[Line], int]:
        """The first lines of changes as far as there is room for them, and how many more there
        are.
        """
        fitting, left_out, size = list[Line](), 0, min(LARGEST, self._left[failed])
        for line, colour in lines:
            if len(fitting) == LINES or size <= 0 or left_out:
                left_out += 1
                continue
            fitting.append((cut(line, LINE), colour))
            size -= len(fitting[-1][0]) + 1
            self._left[failed] -= len(fitting[-1][0]) + 1
        self._left[failed] = max(0, self._left[failed])
        return fitting, left_out


def of_results(results: Iterable[Mapping[str, Any]], budget: Budget) -> list[PageState]:
    """The states of a run."""
    return [_state(number, result, budget) for number, result in enumerate(results, 1)]


def _state(number: int, result: Mapping[str, Any], budget: Budget) -> PageState:
    outcome = result["outcome"]
    failed = outcome == "failed"
    return PageState(
        number=number,
        tag=result["tag"],
        **{key: cut(result[key]) for key in ("id", "name", "function", "sls", "place")},
        outcome=outcome if outcome in OUTCOMES else "unchanged",
        origin=result["origin"],
        cause=result["cause"] or "",
        comment=budget.comment(result["comment"], failed),
        why=cut(_why(result)) if failed else "",
        changes=_changes(
            *budget.lines(
                change_lines(result["changes"], result["before"], result["name"]), failed
            ),
            budget.more,
        ),
        duration=result["duration"],
        started_after=result["started_after"],
    )


def _why(result: Mapping[str, Any]) -> str:
    return reason(result["comment"], result["changes"], result["name"]).partition("\n")[0]


def _changes(lines: Iterable[Line], left_out: int, more: str) -> str:
    html = "".join(_coloured(lines))
    if left_out:
        html += f'<span class="soft">… {left_out:,} more lines: {escape(more)}</span>'
    return f"<pre>{html}</pre>" if html else ""


def _coloured(lines: Iterable[Line]) -> Iterator[str]:
    """Lines of changes, those of one colour in one element."""
    for colour, group in groupby(lines, key=lambda line: line[1]):
        text = escape("".join(f"{line}\n" for line, _ in group))
        element = _ELEMENTS.get(colour)
        yield f"<{element}>{text}</{element}>" if element else text


def opened(states: Sequence[PageState]) -> set[int]:
    """The numbers of the states that are open from the start."""
    active = [state for state in states if state.outcome not in ("unchanged", "skipped")]
    if len(active) > FEW:
        active = [state for state in active if state.outcome == "failed"][:FEW]
    return {state.number for state in active}


def row(state: PageState, longest: float, is_open: bool, related: str) -> str:
    """A state as an item of the list. longest: milliseconds of the longest one. related: what it
    has to do with others, as HTML.
    """
    part = state.duration * 100 / longest
    bar = ""
    if part >= 1:
        bar = f'<svg class="bar" aria-hidden="true"><rect width="{part:.0f}%" height="100%"/></svg>'
    origin = marks(state.origin) if state.origin in _ORIGINS else ""
    return (
        f'<li class="{slug(state.outcome)}" id="{state.anchor}"><details{" open" * is_open}>'
        f'<summary><span class="outcome">{state.outcome}</span> <span class="what">'
        f'<b>{escape(state.id)}</b> <span class="soft">{escape(state.function)}</span>{origin}'
        f'</span> <span class="took">{seconds(state.duration)}{bar}</span></summary>'
        f'<div class="more">{"".join(_details(state))}{related}</div></details></li>\n'
    )


_ORIGINS = {
    "drift": "Drift: something other than runner has changed the machine.",
    "repeats": "It changes in every run.",
}


def _details(state: PageState) -> Iterator[str]:
    if state.name != state.id:
        yield f'<p class="name">{escape(state.name)}</p>'
    if state.comment:
        yield f'<p class="comment">{escape(state.comment)}</p>'
    if state.origin in _ORIGINS:
        yield f"<p>{_ORIGINS[state.origin]}</p>"
    if state.cause:
        yield f"<p>Because of {escape(cut(named(state.cause)))}.</p>"
    yield state.changes
    yield f'<p class="soft">{escape(state.sls)}, {escape(state.place)}</p>'
