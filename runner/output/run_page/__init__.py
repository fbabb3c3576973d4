# SPDX-License-Identifier: Apache-2.0
"""The page of a run: one HTML file with everything in it, for a phone and for a desk.

It needs no network and no script: scripts only add the search. Its Content-Security-Policy admits
nothing but its own style sheet and script, by their hashes, so that even text that was not escaped
could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from runner.model.records import Record
from runner.model.result import OUTCOMES
from runner.output.run_page import graph
from runner.output.run_page.escaping import cut, escape
from runner.output.run_page.states import Budget, PageState, of_results, opened, row, slug
from runner.output.text import counted, named, seconds
from runner.support.drawing.page import style_sheet

ROWS = 40  # of the timeline
KINDS = {"run": "", "test": "dry run", "undo": "undo"}
LONGEST_ERROR = 16_000  # characters of it that the page has


class Page(Record):
    """What the page shows. machine: its ID. run: the run as the history has it. took: its seconds.

    results: of its states. requisites: see pipeline/requisite_graph.py; empty where they are not
    known. left_by: the last real run before this one that had a state, by its tag. pending: the
    pending reactions of the machine. written: when the page was written, and by what.
    """

    machine: str
    run: Mapping[str, Any]
    took: float | None
    results: Iterable[Mapping[str, Any]]
    requisites: Mapping[str, Any]
    left_by: Callable[[str], Mapping[str, Any] | None]
    pending: Sequence[Mapping[str, str]]
    written: str


class Section(Record):
    """A part of the page; one without contents is left out."""

    anchor: str
    title: str
    contents: str
    about: str = ""


def html(page: Page) -> str:
    """The whole page."""
    run = page.run
    more = f"`runner history show {run['id']}` has all"
    states = of_results(page.results, Budget(more))
    failures = [state for state in states if state.outcome == "failed"]
    related = graph.related(states, page.requisites)
    sections = [
        Section("errors", "Errors", _errors(run)),
        Section("failed", "Failed", _failed(failures)),
        Section(
            "pending",
            "Pending reactions",
            _pending(page.pending),
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
        Section("graph", "Requisites", *graph.drawn(states, page.requisites)),
    ]
    sections = [section for section in sections if section.contents]
    script, style = _asset("page.js"), style_sheet() + _asset("page.css")
    kind = KINDS[run["kind"]]
    title = f"{page.machine}: run {run['id']} {run['outcome']}{f' ({kind})' if kind else ''}"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src'
            f" '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action"
            " 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escape(cut(title))}</title>\n<style>{style}</style>\n</head>\n<body>",
            '<a class="skip" href="#states">To the states</a>',
            *_head(page, kind, bool(failures)),
            _navigation(sections),
            "<main>",
            *map(_section, sections),
            f"</main>\n<footer>Written {escape(page.written)}.</footer>",
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _head(page: Page, kind: str, failures: bool) -> Iterator[str]:
    run = page.run
    badge = f' <span class="mark">{kind}</span>' if kind else ""
    outcome = escape(run["outcome"])
    if failures:
        outcome = f'<a href="#failed">{outcome}</a>'
    yield (
        f'<header>\n<h1>{escape(cut(page.machine))} <span class="soft">run {run["id"]}</span>'
        f' <span class="outcome {_colour(run)}">{outcome}</span>{badge}</h1>'
    )
    facts = {
        "Command": f"<code>{escape(cut(run['command'], 2000))}</code>",
        "Started": escape(_when(run["started"])),
        "Took": "" if page.took is None else seconds(page.took * 1000),
        "Tree": escape(_revision(run)),
        "Undone": escape(run["undone"] or ""),
    }
    items = (
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items() if value
    )
    yield f'<dl class="facts">{"".join(items)}</dl>\n</header>'


def _colour(run: Mapping[str, Any]) -> str:
    """The outcome of a state that has the colour of a run's."""
    return {"done": "unchanged", "failed": "failed"}.get(run["outcome"], "changed")


def _when(moment: str) -> str:
    return moment.replace("T", " ")


def _revision(run: Mapping[str, Any]) -> str:
    if not run["revision"]:
        return ""
    return f"{run['revision']}{' with uncommitted changes' if run['dirty'] else ''}"


def _navigation(sections: Sequence[Section]) -> str:
    links = (f'<li><a href="#{one.anchor}">{one.title}</a></li>' for one in sections)
    return f'<nav aria-label="Parts of this page"><ul>{"".join(links)}</ul></nav>'


def _section(section: Section) -> str:
    about = f'<p class="soft">{section.about}</p>\n' if section.about else ""
    heading = f'<h2 id="{section.anchor}-title">{section.title}</h2>'
    return (
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">\n{heading}\n'
        f"{about}{section.contents}\n</section>"
    )


def _errors(run: Mapping[str, Any]) -> str:
    return "\n".join(
        f'<pre class="error">{escape(cut(text, LONGEST_ERROR))}</pre>' for text in run["errors"]
    )


def _pending(reactions: Sequence[Mapping[str, str]]) -> str:
    items = "".join(
        f"<li><b>{escape(cut(named(one['reactor'])))}</b> ({escape(one['kind'])}) of"
        f" {escape(cut(named(one['source'])))}, since {escape(_when(one['time']))}"
        f' <span class="soft">{escape(one["place"])}</span></li>'
        for one in reactions
    )
    return items and f'<ul class="notes">{items}</ul>'


def _drift(states: Sequence[PageState], left_by: Callable[[str], Mapping[str, Any] | None]) -> str:
    items = []
    for state in states:
        if state.origin == "drift":
            run = left_by(state.tag)
            left = f": run {run['id']} of {_when(run['started'])} left it in order" if run else ""
            items.append(f"<li>{state.link}{escape(left)}</li>")
    if not items:
        return ""
    notes = f'<ul class="notes">{"".join(items)}</ul>'
    return f"<details><summary>{counted(len(items), 'state')}</summary>{notes}</details>"


def _failed(failures: Sequence[PageState]) -> str:
    items = [
        f"<li>{state.link} {escape(state.comment.partition(chr(10))[0])}"
        f' <span class="soft">{escape(state.place)}</span></li>'
        for state in failures
    ]
    return f'<ul class="notes">{"".join(items)}</ul>' if items else ""


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
    return f"{_filter(states)}\n{''.join(parts)}"


def _group(states: Sequence[PageState], rows: Sequence[str], alone: bool) -> str:
    """States of one SLS file that ran one after another. alone: there are no others."""
    first = states[0].number
    shown = "".join(rows[state.number - 1] for state in states)
    title = "" if alone else f"<h3>{escape(states[0].sls)}</h3>\n"
    return (
        f'<div class="group">\n{title}<ol class="states" start="{first}">\n{shown}</ol>\n</div>\n'
    )


def _filter(states: Sequence[PageState]) -> str:
    """Return the filter of states: by outcome with the style sheet alone, by words with scripts."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for state in states:
        counts[state.outcome] += 1
    present = [outcome for outcome in OUTCOMES if counts[outcome]]
    boxes = []
    for outcome in present:
        checked = "" if outcome == "unchanged" and len(present) > 1 else " checked"
        boxes.append(
            f'<label class="{slug(outcome)}"><input type="checkbox" id="show-{slug(outcome)}"'
            f' autocomplete="off"{checked}> {counts[outcome]} {outcome}</label>'
        )
    return (
        '<div class="tools" role="search">\n<fieldset><legend>Show</legend>'
        f"{''.join(boxes)}</fieldset>\n"
        '<p class="scripted" hidden><label for="words">Find</label> <input type="search" id="words"'
        ' placeholder="an ID, a function, a file, a word of a diff" autocomplete="off">'
        ' <button type="button" id="all">Open all</button>'
        f' <span id="shown" role="status">{counted(len(states), "state")}</span></p>\n</div>'
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
