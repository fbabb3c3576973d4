# SPDX-License-Identifier: Apache-2.0
"""Each line of the truth tables of the manual, and all pairs of a reaction and another requisite,
carried out by the program.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from command import Machine

from runner.model.requisite_kinds import KINDS
from runner.output.manual.language import truth_tables as tables
from runner.output.manual.language.truth_tables import TABLES, TruthRow

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
        "{id} makes:\n  cmd.run:\n    - name: env true\n"
        "{id}:\n  test.succeed_with_changes:\n    - onlyif: env false\n"
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


def test_what_is_due_is_as_the_tables_say(machine: Machine) -> None:
    lines = [(kind, line) for kind, line in LINES if not of_dry_runs(line)]
    text = "changes: {test.succeed_with_changes: []}\n"
    for number, (kind, line) in enumerate(lines):
        due = ", {test: changes}]\n" if kind == "watch" else "]\n    - watch: [{test: changes}]\n"
        text += states(number, kind, line).removesuffix("]\n") + due
    machine.write(a=text)
    machine("sls", "a", code=2)
    left = pending(machine)
    wrong = [
        (kind, line.outcomes, line.due)
        for number, (kind, line) in enumerate(lines)
        if ("changes" in left.get(number, ())) != (line.due == tables.STAYS)
    ]
    assert wrong == []


def of_dry_runs(line: TruthRow) -> bool:
    assert (line.real == tables.NEVER) == bool(
        {*line.outcomes} & {tables.COMMAND, tables.UNDECIDED}
    )
    return line.real == tables.NEVER


def states(number: int, kind: str, line: TruthRow) -> str:
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
    """Return what became of a state that has the requisite, in the words of the tables."""
    own = results[f"holder {number}"]
    comment = own["comment"].split("\n")[0]
    if "; decided when" in results.get(f"listener_holder {number}", own)["comment"]:
        return tables.MAY_REACT
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


# ---------------------------------------------------------------- reactions that are due

FUNCTION = "test.configurable_test_state"
OUTCOMES = {
    tables.CHANGED: f"{FUNCTION}: [changes: true, result: true]",
    tables.UNCHANGED: f"{FUNCTION}: [changes: false, result: true]",
    tables.FAILED_LATE: f"{FUNCTION}: [changes: true, result: false]",
}
OTHERS = list(itertools.product(OUTCOMES, repeat=2))


class Case(NamedTuple):
    """A state with a reaction to `source`, and a requisite of a further kind on `other`."""

    reaction: str
    kind: str
    source: str  # what becomes of the source in the first run
    other: tuple[str, str]  # what becomes of the other one in the first run, and in the second

    def requisites(self) -> str:
        lists: dict[str, list[str]] = {self.reaction: [f"source {self.source}"]}
        lists.setdefault(self.kind, []).append(self.other_id())
        return ", ".join(
            f"{{{kind}: [{', '.join(f'{{test: {name!r}}}' for name in names)}]}}"
            for kind, names in lists.items()
        )

    def other_id(self) -> str:
        """The same for many; what is prepared depends on those who prepare it, too."""
        of = self[:3] if self.kind == "prereq" else ()
        return " ".join(("other", *of, *self.other))

    def due(self) -> str:
        """Return what becomes of the reaction in the first run, by the tables of both kinds."""
        if self.reaction == "listen":
            return tables.DONE  # it asks for nothing else
        ends = {_due(self.reaction, self.source), _due(self.kind, self.other[0])}
        if KINDS[self.reaction].reaction == KINDS[self.kind].reaction == "onchanges":
            return tables.DONE if tables.DONE in ends else tables.STAYS  # one of them is enough
        return next(end for end in (tables.VOID, tables.STAYS, tables.DONE) if end in ends)


def _due(kind: str, came_to: str) -> str:
    single = KINDS[kind].family  # a list of one: `_any` and `_all` are as the plain kind
    return next(line.due for line in TABLES[single] if line.outcomes == (came_to,))


CASES = [
    Case(*case)
    for case in itertools.product(
        [kind for kind in KINDS if KINDS[kind].reaction == kind],
        KINDS,
        (tables.CHANGED, tables.FAILED_LATE),
        OTHERS,
    )
]


def tree(run: int, source: str = tables.UNCHANGED) -> str:
    """The tree of the first run (0) or the second (1). source: what becomes of the sources then."""
    states = {f"source {o}": source if run else o for o in OUTCOMES}
    states |= {case.other_id(): case.other[run] for case in CASES}
    texts = [f"{name!r}: {{{OUTCOMES[came_to]}}}" for name, came_to in states.items()]
    texts += [
        f"holder {number}: {{test.nop: [{case.requisites()}]}}" for number, case in enumerate(CASES)
    ]
    return "\n".join(texts)


def outcomes(machine: Machine, text: str) -> list[str]:
    machine.write(a=text)
    results = machine.results("sls", "a", code=2)
    return [outcome(results, number) for number in range(len(CASES))]


def pending(machine: Machine) -> dict[int, set[str]]:
    """The cases with pending reactions, and to which of `source` and `other` these are."""
    answer = machine.answer("show", "pending")
    found: dict[int, set[str]] = {}
    for reaction in answer:
        reactor, source = (reaction[key].split("_|-")[1].split() for key in ("reactor", "source"))
        found.setdefault(int(reactor[1]), set()).add(source[0])
    return found


def test_a_run_leaves_only_what_a_failure_kept_from_being_done(tmp_path: Path) -> None:
    """And the next run joins none of its conditions to those of a run without a failure."""
    machine, *others = (Machine(tmp_path / name) for name in ("both", "anew", "reacting"))
    first, left = outcomes(machine, tree(0)), pending(machine)
    wrong = [
        (case, case.due(), came_to)
        for number, (case, came_to) in enumerate(zip(CASES, first, strict=True))
        if (case.due() == tables.STAYS) != ("source" in left.get(number, ()))
    ]
    assert wrong == []
    second = outcomes(machine, tree(1))
    anew, reacting = (
        outcomes(other, tree(1, source))
        for other, source in zip(others, (tables.UNCHANGED, tables.CHANGED), strict=True)
    )
    unlike = [
        (case, first[number], second[number])
        for number, case in enumerate(CASES)
        if "other" not in left.get(number, ())
        and second[number] != (reacting if number in left else anew)[number]
    ]
    assert unlike == []
