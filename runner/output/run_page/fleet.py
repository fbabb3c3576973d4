# SPDX-License-Identifier: Apache-2.0
"""The page over many machines, and one for each, from their collected reports.

Anybody who may deliver a report wrote what is in it: each value is taken as text, or as a number,
whatever it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from runner.model.records import Record
from runner.model.result import named
from runner.output.run_page import Page, colour, index, parts
from runner.output.run_page.document import (
    Heading,
    Line,
    Section,
    listed,
    marks,
    notes,
    revision,
    whole,
)
from runner.output.run_page.escaping import cut, escape
from runner.output.text import counted, reason, seconds

MOST = 200  # of what failed, drifted, is pending
FEW = 10  # machines that are named where many failed alike
HINT = "a word: of a name, a commit, a version, drift, pending, overdue"
NAME = re.compile(r"machine-[\w.-]*-[0-9a-f]{16}\.html")
Row = Mapping[str, Any]


class Fleet(Record):
    """What the page over all machines shows; see `Overview` of history/outbox/overview.py."""

    machines: Sequence[Row]
    failed: Sequence[Row]
    drifting: Sequence[Row]
    days: Sequence[Row]
    written: str


def page_name(machine: str) -> str:
    """The file of a machine's page: a name for people, and what no other machine has."""
    plain = re.sub(r"[^A-Za-z0-9.-]", "_", machine)[:60]
    return f"machine-{plain}-{sha256(machine.encode()).hexdigest()[:16]}.html"


def html(fleet: Fleet) -> str:
    """The page over all machines."""
    machines = fleet.machines
    failed, overdue = (sum(bool(one[key]) for one in machines) for key in ("failed", "overdue"))
    heading = Heading(
        name=counted(len(machines), "machine"),
        about=escape(f"{overdue} overdue") if overdue else "",
        outcome=f"{failed} failed" if failed else "none failed",
        colour="failed" if failed else "unchanged",
        leads_to="failed" if failed else "",
        mark="",
        facts={},
    )
    sections = [
        Section("failed", "Failed", notes(_failures(fleet.failed), MOST)),
        Section("overdue", "Overdue", notes(_overdue(machines), MOST), "Nothing came for long."),
        Section("drift", "Drift", notes(map(_drift, fleet.drifting), MOST)),
        Section("pending", "Pending reactions", notes(_pending(machines), MOST)),
        Section("states", "Machines", listed([*map(_machine, machines)], "machine", HINT)),
        Section("days", "Days", notes(map(_day, fleet.days)), "Reports of the last two weeks."),
        Section("versions", "Versions", notes(_versions(machines), MOST)),
    ]
    return whole(heading, sections, fleet.written)


def _link(machine: str) -> str:
    return f'<a href="{page_name(machine)}"><b>{escape(cut(machine, 80))}</b></a>'


def _failures(rows: Iterable[Row]) -> Iterator[str]:
    """What failed, and where: the same on many machines once, what most of them have first."""
    machines: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        machines.setdefault((_text(row["state"]), _why(row)), []).append(row["machine"])
    for (state, why), where in sorted(machines.items(), key=lambda item: -len(item[1])):
        function, name = _function_and_id(state)
        what = f"{escape(function)} <b>{escape(cut(name, 80))}</b> {escape(cut(why))}"
        links = ", ".join(map(_link, where[:FEW]))
        more = f" and {len(where) - FEW:,} more" if len(where) > FEW else ""
        yield f"{links}{more} {what}"


def _why(row: Row) -> str:
    errors = "; ".join(map(_text, row["errors"] or ()))
    why, command = _text(row["comment"]), row["command"]
    if isinstance(command, dict):
        why = reason(why, command.get("changes"), _text(command.get("name")))
    return (why or errors or "a new tree was refused").strip().partition("\n")[0]


def _overdue(machines: Iterable[Row]) -> Iterator[str]:
    late = sorted((one for one in machines if one["overdue"]), key=lambda one: one["finished"])
    for one in late:
        yield f"{_link(one['machine'])} last at {_when(one['finished'])}"


def _drift(row: Row) -> str:
    how = f"{counted(row['states'], 'state')} in {counted(row['runs'], 'run')}"
    return f"{_link(row['machine'])} {how}, last at {_when(row['last_drift'])}"


def _day(row: Row) -> str:
    counts = [f"{row[word]:,} {word}" for word in ("failed", "drifted") if row[word]]
    return f"{row['day']}: {', '.join([counted(row['runs'], 'run'), *counts])}"


def _pending(machines: Iterable[Row]) -> Iterator[str]:
    for row in machines:
        for one in _reactions(row):
            reactor, kind, sources, since = (
                escape(cut(one[key])) for key in ("reactor", "kind", "sources", "time")
            )
            what = f"<b>{named(reactor)}</b> ({kind}) of {sources}, since {since}"
            yield f"{_link(row['machine'])} {what}"


def _versions(machines: Sequence[Row]) -> Iterator[str]:
    """The commits of the tree, then the versions of runner, those of most machines first."""
    failed = Counter(revision(one) for one in machines if one["failed"])
    for commit, number in Counter(map(revision, machines)).most_common():
        bad = f", <b>{failed[commit]} failed</b>" if failed[commit] else ""
        shown = escape(cut(commit or "no commit"))
        yield f"<code>{shown}</code>: {counted(number, 'machine')}{bad}"
    for version, number in Counter(_text(one["runner"]) for one in machines).most_common():
        yield f"runner {escape(cut(version or 'unknown'))}: {counted(number, 'machine')}"


def _machine(row: Row) -> Line:
    of_states = _counts(row["counts"])
    boxes = marks(
        "overdue" * bool(row["overdue"]),
        "dry run" * row["test"],
        "drift" * bool(row["drifted"]),
        f"{row['pending']} pending" * bool(row["pending"]),
        _text(row["tree"]) if row["tree"] not in (None, "", "used") else "",
    )
    about = f"{escape(cut(revision(row), 60))} runner {escape(cut(_text(row['runner']), 40))}"
    return Line(
        outcome="failed" if row["failed"] else index.outcome_of("done", of_states),
        word="failed" if row["failed"] else index.said(row["outcome"], of_states),
        title=row["machine"],
        link=page_name(row["machine"]),
        what=f'{boxes} <span class="soft">{index.counts(of_states, sum(of_states.values()))}'
        f"<br>{about}</span>",
        took=_when(row["finished"]),
    )


# ---------------------------------------------------------------- one machine


def machine_html(
    row: Row, runs: Sequence[Row], states: Mapping[str, Any], written: str, stamp: str
) -> str:
    """The page of a machine: its last run in full, and what its runs did. stamp: what it is made
    of.
    """
    page = Page(
        machine=row["machine"],
        run={"id": "last", "errors": [*map(_text, row["errors"] or ())]},
        took=None,
        results=_results(states),
        requisites={},
        left_by=lambda tag: None,
        pending=_reactions(row),
        written=written,
    )
    sections = parts(page)
    heading = Heading(
        name=page.machine,
        about="last run",
        outcome=row["outcome"],
        colour="failed" if row["failed"] else colour(row["outcome"]),
        leads_to="failed" if any(part.anchor == "failed" for part in sections) else "",
        mark="dry run" if row["test"] else "",
        facts={
            "Finished": _when(row["finished"]),
            "Tree": escape(cut(revision(row))),
            "Pulled tree": escape(_text(row["tree"])),
            "Runner": escape(cut(_text(row["runner"]))),
        },
    )
    earlier = notes(map(_run, runs))
    sections.append(Section("runs", "Runs", earlier, "The newest of those that were reported."))
    return whole(heading, sections, written, above="All machines", stamp=stamp)


def _run(row: Row) -> str:
    of_states = _counts(row["counts"])
    boxes = marks("dry run" * row["test"], f"{row['drifted']} drift" * bool(row["drifted"]))
    look = index.outcome_of(row["outcome"], of_states)
    return (
        f'{_when(row["started"])} <span class="outcome {colour_of(look)}">'
        f"{escape(cut(index.said(row['outcome'], of_states)))}</span>{boxes}"
        f" {index.counts(of_states, sum(of_states.values()))} in {seconds(row['took'] * 1000)}"
        f' <span class="soft"><code>{escape(cut(row["command"]))}</code> {escape(revision(row))}'
        f" {escape(row['run'])}</span>"
    )


def colour_of(outcome: str) -> str:
    """The class whose colour an outcome has outside of a list."""
    return outcome if outcome in ("failed", "unchanged") else "changed"


def _results(states: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The states of a report as the history has results."""
    results = [_result(tag, state) for tag, state in states.items() if isinstance(state, dict)]
    return sorted(results, key=lambda result: result["number"])


def _result(tag: str, state: Row) -> dict[str, Any]:
    function, name = _function_and_id(tag)
    changes, ran = state.get("changes"), state.get("__state_ran__") is not False
    result = {
        "number": _number(state.get("__run_num__")),
        "tag": tag,
        "id": _text(state.get("__id__")) or name,
        "name": _text(state.get("name")) or name,
        "function": function,
        "sls": _text(state.get("__sls__")),
        "place": "",
        "origin": _text(state.get("__origin__")),
        "cause": _text(state.get("__cause__")),
        "comment": _text(state.get("comment")),
        "changes": changes
        if isinstance(changes, dict)
        else {"changes": changes}
        if changes
        else {},
        "before": {},
        "duration": _number(state.get("duration")),
        "started_after": None,
    }
    return result | {"outcome": _outcome(state.get("result"), ran, result)}


def _outcome(result: object, ran: bool, state: Row) -> str:
    if result is False:
        return "failed" if ran else "skipped"
    if result is None:
        return "would change" if state["changes"] else "undecided"
    return "changed" if state["changes"] else "unchanged"


def _reactions(row: Row) -> list[dict[str, str]]:
    """The pending reactions of a machine."""
    keys = ("reactor", "kind", "sources", "time", "place")
    listed = (
        {"sources": named(_text(one.get("source"))), **one}  # an older runner says only this one
        for one in row["pending_reactions"]
        if isinstance(one, dict)
    )
    return [{key: _text(one.get(key)) for key in keys} for one in listed]


def _function_and_id(tag: str) -> tuple[str, str]:
    module, *names, function = tag.split("_|-") if tag.count("_|-") >= 2 else ("", tag, "")
    return f"{module}.{function}".strip("."), names[0]


def _counts(value: object) -> dict[str, int]:
    counts = value if isinstance(value, dict) else {}
    return {str(word).replace("_", " "): int(_number(each)) for word, each in counts.items()}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _when(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
