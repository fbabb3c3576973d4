# SPDX-License-Identifier: Apache-2.0
"""Each line of the truth tables of the manual, carried out by the program."""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine

from runner.model.requisite_kinds import KINDS
from runner.output.manual.language import truth_tables as tables
from runner.output.manual.language.truth_tables import TABLES, Line

# the states that come to each outcome
TARGETS = {
    tables.CHANGED: "{id}:\n  test.succeed_with_changes: []\n",
    tables.UNCHANGED: "{id}:\n  test.succeed_without_changes: []\n",
    tables.FAILED: "{id}:\n  test.fail_without_changes: []\n",
    tables.FAILED_LATE: "{id}:\n  test.fail_with_changes: []\n",
    tables.UNMET: (
        "{id} needs:\n  test.fail_without_changes: []\n"
        "{id}:\n  test.succeed_with_changes:\n    - require: [test: {id} needs]\n"
    ),
    tables.GUARDED: "{id}:\n  test.succeed_with_changes:\n    - unless: 'true'\n",
    tables.SKIPPED: (
        "{id} same:\n  test.nop: []\n"
        "{id}:\n  test.succeed_with_changes:\n    - onchanges: [test: {id} same]\n"
    ),
    tables.NOOP: "{id}:\n  test.succeed_with_changes:\n    - noop: true\n",
    tables.COMMAND: "{id}:\n  cmd.run:\n    - name: 'true'\n",
    tables.UNDECIDED: (
        "{id} makes:\n  cmd.run:\n    - name: 'true'\n"
        "{id}:\n  test.succeed_with_changes:\n    - onlyif: 'false'\n"
        "    - require: [cmd: {id} makes]\n"
    ),
}
LINES = [(kind, line) for kind, lines in TABLES.items() for line in lines]


def test_there_is_a_table_of_each_kind() -> None:
    assert set(TABLES) == set(KINDS)
    for kind in ("require", "watch", "onchanges", "onfail", "prereq", "listen"):
        assert {outcome for line in TABLES[kind] for outcome in line.outcomes} == set(TARGETS)


@pytest.mark.parametrize("dry", [False, True])
def test_the_tables_are_what_the_program_does(machine: Machine, dry: bool) -> None:
    # a pending command leaves the guards of all that follows undecided: those lines come last
    lines = [(kind, line) for kind, line in LINES if dry or not of_dry_runs(line)]
    lines.sort(key=lambda item: of_dry_runs(item[1]))
    machine.write(a="".join(states(number, *line) for number, line in enumerate(lines)))
    results = machine.results("sls", "a", *(["--test"] if dry else []), code=2)
    wrong = [
        (kind, line.outcomes, actual)
        for number, (kind, line) in enumerate(lines)
        if (actual := outcome(results, number)) != (line.dry if dry else line.real)
    ]
    assert wrong == []


def of_dry_runs(line: Line) -> bool:
    assert (line.real == tables.NEVER) == bool({*line.outcomes} & {*tables.OF_DRY_RUNS})
    return line.real == tables.NEVER


def states(number: int, kind: str, line: Line) -> str:
    names = [f"target {number} {place}" for place in range(len(line.outcomes))]
    listed = ", ".join(
        f"{'cmd' if came_to == tables.COMMAND else 'test'}: {name}"
        for name, came_to in zip(names, line.outcomes, strict=True)
    )
    text = "".join(
        TARGETS[came_to].replace("{id}", name)
        for name, came_to in zip(names, line.outcomes, strict=True)
    )
    return f"{text}holder {number}:\n  test.nop:\n    - {kind}: [{listed}]\n"


def outcome(results: dict[str, Any], number: int) -> str:
    """What became of a state that has the requisite, in the words of the tables."""
    own = results[f"holder {number}"]
    comment = own["comment"].split("\n")[0]
    for beginning, words in {
        "Success!": tables.RUNS,
        "Watch statement fired.": tables.REACTS,
        "State was not run because": tables.DOES_NOT_RUN,
        "No changes detected": tables.DOES_NOT_RUN,
        "One or more requisite failed": tables.FAILS,
        "It would be run if": tables.OPEN,
    }.items():
        if comment.startswith(beginning):
            late = results.get(f"listener_holder {number}")
            return tables.REACTS_LATE if late and late["changes"] else words
    return comment
