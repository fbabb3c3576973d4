# SPDX-License-Identifier: Apache-2.0
"""The page of a run: one HTML file with everything in it, for a phone and for a desk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from runner.model.records import Record
from runner.model.result import named
from runner.output.run_page import graph
from runner.output.run_page.document import (
    Heading,
    Section,
    choice,
    notes,
    revision,
    slug,
    when,
    whole,
)
from runner.output.run_page.escaping import cut, escape
from runner.output.run_page.states import Budget, PageState, of_results, opened, row
from runner.output.text import counted, seconds

ROWS = 40  # of the timeline
KINDS = {"run": "", "test": "dry run", "undo": "undo"}
LONGEST_ERROR = 16_000  # characters of it that the page has


class Page(Record):
    """What the page shows. machine: its ID. run: the run as the history has it. took: its seconds.

    results: of its states. requisites: see pipeline/kept_relations.py; empty where they are not
    known. left_by: the last real run before this one that had a state, by its tag. pending: the
    pending reactions of the machine. written: when the page was written, and by what. above:
    what the link to the index beside it says; empty where there is none.
    """

    machine: str
    run: Mapping[str, Any]
    took: float | None
    results: Iterable[Mapping[str, Any]]
    requisites: Mapping[str, Any]
    left_by: Callable[[str], Mapping[str, Any] | None]
    pending: Sequence[Mapping[str, str]]
    written: str
    above: str = ""


def html(page: Page) -> str:
    """The whole page."""
    run, sections = page.run, parts(page)
    heading = Heading(
        name=page.machine,
        about=f"run {run['id']}",
        outcome=run["outcome"],
        colour=colour(run["outcome"]),
        leads_to="failed" if any(part.anchor == "failed" for part in sections) else "",
        mark=KINDS[run["kind"]],
        facts={
            "Command": f"<code>{escape(cut(run['command'], 2000))}</code>",
            "Started": escape(when(run["started"])),
            "Took": "" if page.took is None else seconds(page.took * 1000),
            "Tree": escape(revision(run)),
            "Undone": escape(run["undone"] or ""),
        },
    )
    return whole(heading, sections, page.written, above=page.above)


def colour(outcome: str) -> str:
    """The outcome of a state that has the colour of a run's."""
    return {"done": "unchanged", "failed": "failed"}.get(outcome, "changed")


def parts(page: Page) -> list[Section]:
    """What the page says of the run, without the parts that would be empty."""
    run = page.run
    states = of_results(page.results, Budget(f"`runner history show {run['id']}` has all"))
    requisites = graph.picture(states, page.requisites)
    related = graph.related(states, requisites)
    sections = [
        Section("errors", "Errors", _errors(run)),
        Section("failed", "Failed", _failed(states)),
        Section(
            "pending",
            "Pending reactions",
            pending(page.pending),
            "What has still to react to an earlier change, as of when this page was written.",
        ),
        Section(
            "drift",
            "Drift",
            _drift(states, page.left_by),
            "The tree says what it said when an earlier run left these in order; since then"
            " something other than runner has changed the machine.",
        ),
        Section("states", "States", _states(states, related)),
        Section(
            "timeline",
            "Timeline",
            _timeline(states),
            "When each state ran, and how long." + _of_longest(states),
        ),
        Section("graph", "Requisites", *graph.drawn(states, requisites)),
    ]
    return [section for section in sections if section.contents]


def _errors(run: Mapping[str, Any]) -> str:
    return "\n".join(
        f'<pre class="error">{escape(cut(text, LONGEST_ERROR))}</pre>' for text in run["errors"]
    )


def pending(reactions: Iterable[Mapping[str, str]]) -> str:
    """Pending reactions as a list."""
    return notes(
        f"<b>{escape(cut(named(one['reactor'])))}</b> ({escape(one['kind'])}) of"
        f" {escape(cut(one['sources']))}, since {escape(when(one['time']))}"
        f' <span class="soft">{escape(one["place"])}</span>'
        for one in reactions
    )


def _drift(states: Sequence[PageState], left_by: Callable[[str], Mapping[str, Any] | None]) -> str:
    items = []
    for state in states:
        if state.origin == "drift":
            run = left_by(state.tag)
            left = f": run {run['id']} of {when(run['started'])} left it in order" if run else ""
            items.append(f"{state.link}{escape(left)}")
    if not items:
        return ""
    summary = counted(len(items), "state")
    return f"<details><summary>{summary}</summary>{notes(items)}</details>"


def _failed(states: Iterable[PageState]) -> str:
    return notes(
        f'{state.link} {escape(state.why)} <span class="soft">{escape(state.place)}</span>'
        for state in states
        if state.outcome == "failed"
    )


# ---------------------------------------------------------------- states


def _states(states: Sequence[PageState], related: Sequence[str]) -> str:
    if not states:
        return ""
    longest = max(state.duration for state in states) or 1.0
    open_ones = opened(states)
    rows = [
        row(state, longest, state.number in open_ones, links)
        for state, links in zip(states, related, strict=True)
    ]
    groups = [[*group] for _, group in groupby(states, key=lambda state: state.sls)]
    parts = [_group(group, rows, alone=len(groups) == 1) for group in groups]
    chooser = choice(
        [state.outcome for state in states],
        "state",
        "an ID, a function, a file, a word of a diff",
        button="Open all",
        hidden="unchanged",
    )
    return f"{chooser}\n{''.join(parts)}"


def _group(states: Sequence[PageState], rows: Sequence[str], alone: bool) -> str:
    """States of one SLS file that ran one after another. alone: there are no others."""
    first = states[0].number
    shown = "".join(rows[state.number - 1] for state in states)
    title = "" if alone else f"<h3>{escape(states[0].sls)}</h3>\n"
    return (
        f'<div class="group">\n{title}<ol class="states" start="{first}">\n{shown}</ol>\n</div>\n'
    )


# ---------------------------------------------------------------- timeline


def _of_longest(states: Sequence[PageState]) -> str:
    timed = [state for state in states if state.started_after is not None]
    if len(timed) <= ROWS:
        return ""
    rest = sum(sorted(state.duration for state in timed)[:-ROWS])
    return f" These are the {ROWS} longest; the others took {seconds(rest)} together."


def _timeline(states: Sequence[PageState]) -> str:
    timed = [(state.started_after, state) for state in states if state.started_after is not None]
    end = max((start * 1000 + state.duration for start, state in timed), default=0.0)
    if not end:
        return ""
    longest = sorted(timed, key=lambda item: -item[1].duration)[:ROWS]
    rows = []
    for start, state in sorted(longest, key=lambda item: (item[0], item[1].number)):
        left = min(99.5, start * 100_000 / end)
        width = min(100 - left, max(0.5, state.duration * 100 / end))
        rows.append(
            f'<li class="{slug(state.outcome)}">{state.link} <svg class="lane" aria-hidden="true">'
            f'<rect x="{left:.2f}%" width="{width:.2f}%" height="100%"/></svg> <span class="soft">'
            f"{seconds(state.duration)}, from {start:.1f} s on</span></li>"
        )
    return f'<ol class="timeline">{"".join(rows)}</ol>'
