# SPDX-License-Identifier: Apache-2.0
"""Earlier runs, for people."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.model.result import named
from runner.output.text import (
    change_lines,
    counted,
    is_said_elsewhere,
    is_told_by,
    labelled,
    safe,
    seconds,
    wrapped,
)


def text(answer: Any, kind: str, width: int = 0) -> str:
    """The answer of `runner history` as text. kind: list, show, file or diff. width: of a terminal,
    whose lines end between words.
    """
    if kind == "list":
        lines = _runs(answer, width)
    elif kind == "show":
        lines = _run(answer, width)
    else:
        lines = _versions(answer) if kind == "file" else _difference(answer)
    return "".join(f"{safe(line)}\n" for line in lines)


def _fitting(line: str, width: int) -> list[str]:
    return wrapped(line, width, 14) if width else [line]


_KINDS = {"run": "", "test": "dry run, ", "undo": "undo, "}


def _runs(runs: Sequence[Mapping[str, Any]], terminal: int) -> Iterator[str]:
    if not runs:
        yield "There are no runs in the history yet."
    outcomes = [_KINDS[run["kind"]] + run["outcome"] for run in runs]
    width = max(map(len, outcomes), default=0)
    for run, outcome in zip(runs, outcomes, strict=True):
        end = f"  {outcome:<{width}}  {_counts(run)}  {run['command']}"
        line = f"{run['id']:>6}  {_when(run)}{end}"
        if 0 < terminal <= len(line):
            line = f"{run['id']:>6}  {_when(run)[:-3]}  {_most_of(outcome, run)}  {run['command']}"
        yield f"{line[: terminal - 2]}…" if 0 < terminal <= len(line) else line


def _most_of(outcome: str, run: Mapping[str, Any]) -> str:
    """The outcome of a run and what it did, as short as can be."""
    loud = ("failed", "changed", "would change", "undecided")
    parts = [f"{run['counts'][word]} {word}" for word in loud if (run["counts"] or {}).get(word)]
    return f"{outcome}: {', '.join(parts)} of {run['total']}" if parts else outcome


def _counts(run: Mapping[str, Any]) -> str:
    """The count of states, and of their outcomes; nothing for a run that ran none."""
    if run["errors"] and not run["total"]:
        return counted(len(run["errors"]), "error")
    total = counted(run["total"], "part" if run["kind"] == "undo" else "state")
    if run["counts"]:  # as the summary of the run's report has them
        parts = [f"{number} {outcome}" for outcome, number in run["counts"].items()]
        return f"{total}: {', '.join(parts)}"
    changed = "would change" if run["kind"] == "test" else "changed"
    parts = [f"{run['changed'] or 0} {changed}", f"{run['failed'] or 0} failed"]
    return ", ".join([total, *parts, *([f"{run['skipped']} skipped"] if run["skipped"] else [])])


def _when(run: Mapping[str, Any]) -> str:
    return str(run["started"])[:19].replace("T", " ")


def _run(run: Mapping[str, Any], terminal: int) -> Iterator[str]:
    yield from _fitting(f"Run {run['id']}: {run['command']}", terminal)
    yield (
        f"  started {run['started']}, ended {run['finished'] or 'never'}:"
        f" {_KINDS[run['kind']]}{run['outcome']}"
    )
    if run["revision"]:
        yield f"  tree at {run['revision']}{' with uncommitted changes' if run['dirty'] else ''}"
    if run["undone"]:
        left = f", but for {counted(run['not_restored'], 'path')}" if run["not_restored"] else ""
        yield f"  undone at {run['undone']}{left}"
    for error in run["errors"]:
        yield from (f"  {line}" for line in error.splitlines())
    quiet = 0
    for item in run["results"]:
        if item["outcome"] == "unchanged":
            quiet += 1
            continue
        line = (
            f"{item['outcome']:>12}  {labelled(item)}  [{seconds(item['duration'])}] "
            f" {item['place']}"
        )
        yield from _fitting(line, terminal)
        if item["origin"] in ("drift", "repeats"):
            yield f"            {item['origin']}"
        own = ("outcome", "comment", "name", "changes", "cause", "ran")
        told = item["result"] and item["ran"] and is_told_by(item["changes"], item["name"])
        if not told and not is_said_elsewhere(*map(item.__getitem__, own)):
            yield from (f"            {line}" for line in item["comment"].splitlines())
        if item["cause"]:
            yield f"            because of {named(item['cause'])}"
        yield from (f"            {line}" for line, _ in _change_lines(item))
    for tag in run["unfinished"]:
        last = [change for change in run["changes_made"] if change["state"] == tag][-1]
        yield from _fitting(f"{'not ended':>12}  {named(tag)}", terminal)
        yield f"            its last change: {last['function']} {last['target']}"
    if quiet:
        yield f"  {quiet} unchanged"


def _change_lines(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return change_lines(item["changes"], item["before"], item["name"])


def _versions(answer: Mapping[str, Any]) -> Iterator[str]:
    """The changes of a path, each with its diff and how to restore what was before it."""
    yield answer["path"]
    for change in answer["changes"]:
        if change["run"] is None:
            yield f"since then, not by runner: {change['what']}"
        else:
            kind = _KINDS[change["kind"]]
            yield f"run {change['run']}  {change['started']}  {kind}{change['command']}"
            yield f"  {change['what']}"
        yield from (f"    {line}" for line in change["diff"].splitlines())
        if change["restore"]:
            yield f"  what was there before: {change['restore']}"


def _difference(difference: Mapping[str, Any]) -> Iterator[str]:
    """Two runs as a unified diff: what the first did and the second did not has a minus."""
    for sign, run in (("---", difference["first"]), ("+++", difference["second"])):
        yield f"{sign} run {run['id']}  {_when(run)}  {run['outcome']}  {run['command']}"
    yield (
        "  the tree said the same"
        if difference["same_tree"]
        else "  the tree was changed in between"
    )
    for side, sign in (("first", "-"), ("second", "+")):
        yield from (
            f"{sign} {line}" for error in difference[side]["errors"] for line in error.splitlines()
        )
    for key, sign in (("only_first", "-"), ("only_second", "+")):
        for tag in difference[key]:
            state = difference["states"][tag]
            yield f"{sign} {_label(tag, state)}"
            lines = [state["outcome"], *(line for line, _ in _change_lines(state))]
            yield from (f"{sign}     {line}" for line in lines if line != "unchanged")
    for tag, keys in difference["different"].items():
        yield f"  {_label(tag, difference['states'][tag])}"
        yield from _changed_lines(keys)
    if not (difference["only_first"] or difference["only_second"] or difference["different"]):
        yield "  both did the same"


def _changed_lines(keys: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    first, second = ([*_said(keys, side)] for side in ("first", "second"))
    for line in [*difflib.unified_diff(first, second, n=1, lineterm="")][2:]:
        if not line.startswith("@@"):
            yield f"{line[0]}     {line[1:]}"


def _said(keys: Mapping[str, Mapping[str, Any]], side: str) -> Iterator[str]:
    """The lines of one run on a state, as far as the other differs."""
    for key in ("outcome", "place", "comment"):
        if key in keys:
            yield from str(keys[key][side]).splitlines()
    if "changes" in keys:
        yield from (line for line, _ in change_lines(keys["changes"][side]))


def _label(tag: str, state: Mapping[str, Any]) -> str:
    """A state as the report of its run names it."""
    return labelled(state) + (", as a listener" if "_|-listener_" in tag else "")
