# SPDX-License-Identifier: Apache-2.0
"""The page over all runs of a machine, with links to theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from runner.model.records import Record
from runner.output.run_page import KINDS, colour, pending
from runner.output.run_page.document import (
    Heading,
    Line,
    Section,
    listed,
    marks,
    notes,
    revision,
    when,
    whole,
)
from runner.output.run_page.escaping import cut, escape
from runner.output.text import counted, reason, seconds

HINT = "a word: of a command, a commit, dry run, drift"
LOUD = ("failed", "changed", "would change", "undecided", "skipped")


class Index(Record):
    """What the page shows. runs: those of the machine, the newest first, as the history has them,
    with their seconds (`took`) and how many of their states had drifted (`drifted`). failed: the
    states that failed in the last real run that ran any. pending: reactions that are due. pages:
    the files beside it.
    """

    machine: str
    runs: Sequence[Mapping[str, Any]]
    failed: Iterable[Mapping[str, Any]]
    pending: Iterable[Mapping[str, str]]
    pages: Collection[str]
    written: str


def page_name(run: str) -> str:
    """The file of a run's page. run: its ID."""
    return f"runner-{run}.html"


def html(index: Index) -> str:
    """The whole page."""
    last = next((run for run in index.runs if run["kind"] == "run"), None)
    failed = notes(map(_failure, index.failed))
    heading = Heading(
        name=index.machine,
        about="all runs",
        outcome=last["outcome"] if last else "",
        colour=colour(last["outcome"]) if last else "",
        leads_to="failed" if failed else "",
        mark="",
        facts={
            "Last run": escape(when(last["started"])) if last else "",
            "Tree": escape(revision(last)) if last else "",
            "Runs": f"{len(index.runs):,}",
        },
    )
    lines = [_line(run, index.pages) for run in index.runs]
    since = "What has still to react to an earlier change, as of when this page was written."
    sections = [
        Section("failed", "Failed", failed, "In the last run that ran states."),
        Section("pending", "Pending reactions", pending(index.pending), since),
        Section("states", "Runs", listed(lines, "run", HINT)),
    ]
    return whole(heading, sections, index.written)


def _failure(item: Mapping[str, Any]) -> str:
    why = reason(item["comment"], item["changes"], item["name"]).partition("\n")[0]
    return (
        f"{escape(item['function'])} <b>{escape(cut(item['id'], 80))}</b> {escape(cut(why))}"
        f' <span class="soft">{escape(cut(item["place"]))}</span>'
    )


def _line(run: Mapping[str, Any], pages: Collection[str]) -> Line:
    page, drifted = page_name(run["run"]), run["drifted"]
    undone = "undone" if run["undone"] else ""
    boxes = marks(KINDS[run["kind"]], undone, f"{drifted} drift" if drifted else "")
    took = "" if run["took"] is None else seconds(run["took"] * 1000)
    return Line(
        outcome=outcome_of(run["outcome"], run["counts"]),
        word=said(run["outcome"], run["counts"]),
        title=f"{run['id']}",
        link=page if page in pages else "",
        what=f"{escape(when(run['started'][:19]))}{boxes}"
        f' <span class="soft">{counts(run["counts"], run["total"])}'
        f"<br><code>{escape(cut(run['command']))}</code> {escape(revision(run))}</span>",
        took=took,
    )


def outcome_of(outcome: str, of_states: Mapping[str, int]) -> str:
    """Under which outcome of states a run is listed."""
    if outcome not in ("done", "done in part"):
        return "failed"
    return next((word for word in LOUD[1:3] if of_states.get(word)), "unchanged")


def said(outcome: str, of_states: Mapping[str, int]) -> str:
    """The outcome of a run in a word or two."""
    return outcome_of(outcome, of_states) if outcome == "done" else outcome


def counts(of_states: Mapping[str, int], total: int) -> str:
    """What a run did, as short as can be."""
    parts = [f"{of_states[word]} {word}" for word in LOUD if of_states.get(word)]
    return f"{', '.join(parts)} of {total}" if parts else counted(total, "state")
