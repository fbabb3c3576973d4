# SPDX-License-Identifier: Apache-2.0
"""What a rehearsal has shown: for people, as data, and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runner.engine.rehearsal import comparison
from runner.model.result import named
from runner.output import expectations
from runner.output import junit as xml
from runner.output.text import counted

if TYPE_CHECKING:
    from runner.engine.rehearsal.comparison import Difference
    from runner.engine.rehearsal.observation import FileChange, Observed, ObservedChange
    from runner.engine.rehearsal.runs import Rehearsal, RehearsedRun

Line = tuple[str, str]  # a line and its colour
# that people are shown without -v: files, lines of a diff, lines of a new file
MOST_FILES, MOST_LINES, MOST_NEW = 50, 30, 8
SIGNS = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}
OF_EVENT = ("event", "time", "state", "exact")


def lines(done: Rehearsal, outcomes: Sequence[Any], verbose: bool) -> Iterator[Line]:
    """The report that follows the results of the states."""
    yield from _observed(done.observed, verbose)
    others = list(comparison.differences(done.dry.states, done.real.states))
    open_states = comparison.undecided(done.dry.states, done.real.states)
    yield "", ""
    if others:
        yield f"The dry run said otherwise of {counted(len(others), 'state')}:", "red"
    else:
        yield "The dry run said the same.", "green"
    for item in others:
        yield from _difference(item)
    if open_states:
        yield f"It could not decide {counted(len(open_states), 'state')}:", "cyan"
        yield from ((f"  {named(key)}: {became}", "") for key, became in open_states.items())
    if done.traces.files:
        yield "Files that changed while the dry run ran (its commands or a service did that):", ""
        yield from _paths(done.traces.files, verbose, False)
    if done.again is not None:
        yield from _second_run(done.again, done.observed_again, verbose)
    if outcomes:
        yield "", ""
        yield from expectations.lines(outcomes, verbose)


def _difference(item: Difference) -> Iterator[Line]:
    yield f"  {named(item.key)}: {item.dry_run} in the dry run, {item.real} for real", ""
    yield from ((f"    {line}", "") for line in item.details.splitlines())


def _second_run(again: RehearsedRun, files: Observed, verbose: bool) -> Iterator[Line]:
    yield "", ""
    if not again.changed:
        yield "The second run changed nothing.", "green"
        return
    yield f"The second run changed or failed {counted(len(again.changed), 'state')}:", "red"
    for key in again.changed:
        state = again.states[key]
        yield f"  {named(key)}: {str(state['comment']).strip().splitlines()[0]}", ""
    yield from _paths(files.files, verbose, False)


def _observed(what: Observed, verbose: bool) -> Iterator[Line]:
    yield "", ""
    if not any((what.files, what.packages, what.units, what.ports, what.failed_units)):
        yield "Nothing changed in the copy.", "green"
        return
    yield "What changed in the copy:", "bold"
    if what.files:
        yield f"Files: {_counts(what.files)}", ""
        yield from _paths(what.files, verbose, True)
    for title, changes in (
        ("Packages", what.packages),
        ("Units", what.units),
        ("Listening ports", what.ports),
    ):
        if changes:
            yield f"{title}:", ""
            yield from _changes(changes)
    if what.failed_units:
        yield f"Failed units: {', '.join(what.failed_units)}", "red"


def _counts(files: Sequence[FileChange]) -> str:
    numbers = {name: sum(item.change == name for item in files) for name in SIGNS}
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number)


def _paths(files: Sequence[FileChange], verbose: bool, diffs: bool) -> Iterator[Line]:
    """The lines of files; those of new packages are counted."""
    packages: dict[str, int] = {}
    shown = 0
    for item in files:
        if item.package and not verbose:
            packages[item.package] = packages.get(item.package, 0) + 1
            continue
        shown += 1
        if shown > MOST_FILES and not verbose:
            continue
        sign, colour = SIGNS[item.change]
        details = f"  ({item.details})" if item.details else ""
        yield f"  {sign} {item.path}{details}", colour
        if diffs:
            most = MOST_NEW if item.change == "added" else MOST_LINES
            yield from _diff(item.diff.splitlines(), None if verbose else most)
    if shown > MOST_FILES and not verbose:
        yield f"  ... and {shown - MOST_FILES} more: -v shows all", "cyan"
    for package, number in packages.items():
        yield f"  + {counted(number, 'path')} of the package {package}", ""


def _diff(rows: Sequence[str], most: int | None) -> Iterator[Line]:
    shades = {"+": "green", "-": "red", "@": "cyan"}
    for row in rows[:most]:
        yield f"      {row}", shades.get(row[:1], "")
    if most is not None and len(rows) > most:
        yield f"      ... {len(rows) - most} more lines: -v shows all", "cyan"


def _changes(changes: Sequence[ObservedChange]) -> Iterator[Line]:
    for item in changes:
        if not item.old:
            yield f"  + {item.name}  {item.new}", "green"
        elif not item.new:
            yield f"  - {item.name}  {item.old}", "red"
        else:
            yield f"  ~ {item.name}  {item.old} -> {item.new}", "yellow"


# ---------------------------------------------------------------- as data


def data(done: Rehearsal, outcomes: Sequence[Any], warnings: Sequence[str]) -> dict[str, Any]:
    """All of it, with Salt's JSON of the states under `local`."""
    dry, real = done.dry.states, done.real.states
    return {
        "local": _states(real),
        "dry_run": _states(dry),
        "differences": [item._asdict() for item in comparison.differences(dry, real)],
        "undecided": comparison.undecided(dry, real),
        "changed": _found(done.observed),
        "changed_by_dry_run": [item.path for item in done.traces.files],
        "second_run": None
        if done.again is None
        else {
            "changed": {key: _plain(done.again.states[key]) for key in done.again.changed},
            "files": [item.path for item in done.observed_again.files],
        },
        "expectations": expectations.data(outcomes),
        "warnings": list(warnings),
    }


def _states(states: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {key: _plain(state) for key, state in states.items()}


def _plain(state: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key not in OF_EVENT}


def _found(what: Observed) -> dict[str, Any]:
    changes = {"packages": what.packages, "units": what.units, "ports": what.ports}
    return {
        "files": {
            item.path: {name: value for name, value in item._asdict().items() if name != "path"}
            for item in what.files
        },
        **{
            title: {item.name: {"old": item.old, "new": item.new} for item in items}
            for title, items in changes.items()
        },
        "failed_units": list(what.failed_units),
    }


def junit(done: Rehearsal, outcomes: Sequence[Any]) -> str:
    """The suites: the states, the second run, the expectations."""
    parts = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    parts.append(done.real.out.partition("?>")[2].strip())
    if done.again is not None:
        parts += xml.of_second_run(
            {key: str(done.again.states[key]["comment"]) for key in done.again.changed},
            list(done.again.states),
        )
    if outcomes:
        parts += xml.of_expectations(outcomes)
    return "\n".join([*parts, "</testsuites>"]) + "\n"
